"""The packages that the wheel carries are adjusted by a table, completely or not at all."""

import importlib.metadata
import importlib.util
import os
import sys
import zipfile

import pytest

_ADJUSTED = {"tensorflow_estimator": "2.15.0", "tf_slim": "1.1.0"}


@pytest.fixture
def source_edits(repository):
    spec = importlib.util.spec_from_file_location(
        "source_edits", repository / "tools" / "pip_package" / "source_edits.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_edits_change_only_what_they_name(source_edits):
    edits = (
        source_edits.Edit("first", "p/*.py", "old", "new", 2),
        source_edits.Edit("second", "p/b.py", "new", "newer", 1),
    )
    members = {"p/a.py": b"old", "p/b.py": b"an old one", "p/c.py": b"none", "q/a.py": b"old"}
    assert source_edits.apply(edits, members) == {"p/a.py": b"new", "p/b.py": b"an newer one"}


@pytest.mark.parametrize("count", [0, 1, 3])
def test_an_edit_that_does_not_fit_is_named(source_edits, count):
    edit = source_edits.Edit("the edit", "p/*", "old", "new", count)
    with pytest.raises(source_edits.EditError, match=f"the edit.*2 times.*expected {count}"):
        source_edits.apply((edit,), {"p/a.py": b"old old"})


def test_the_packages_own_tests_are_left_alone(source_edits):
    edit = source_edits.Edit("edit", "p/*", "old", "new", 1)
    assert source_edits.apply((edit,), {"p/a.py": b"old", "p/a_test.py": b"old"}) == {"p/a.py": b"new"}


@pytest.mark.parametrize("package", _ADJUSTED)
def test_the_wheel_carries_the_package_with_its_edits(source_edits, repository, package):
    path = os.environ.get("DEEPREC_TEST_WHEEL")
    if not path:
        pytest.skip("DEEPREC_TEST_WHEEL is not set; ci/test.sh sets it")
    edits = source_edits.load(str(repository / "third_party" / package / "edits.py"))
    with zipfile.ZipFile(path) as archive:
        sources = {n: archive.read(n).decode() for n in archive.namelist() if n.startswith(f"{package}/")}
        assert not [n for n in sources if n.endswith("_test.py")]
        for edit in edits:
            if edit.new:
                assert sum(text.count(edit.new) for text in sources.values()) >= edit.count, edit.name
            else:
                assert not [n for n, text in sources.items() if edit.old in text], edit.name


@pytest.mark.parametrize("package", _ADJUSTED)
def test_installers_know_the_package(package):
    assert importlib.metadata.version(package) == _ADJUSTED[package]


_IMPORTS = """
import tensorflow as tf, tensorflow_estimator, tf_slim
import tensorflow_estimator._api.v1.estimator, tensorflow_estimator._api.v2.estimator
from tensorflow_estimator.python.estimator.tpu import tpu_estimator
assert tpu_estimator.TPUEstimator is tensorflow_estimator._api.v1.estimator.tpu.TPUEstimator
with tf.compat.v1.Graph().as_default():
    x = tf.compat.v1.placeholder(tf.float32, [2, 4, 4, 3])
    y = tf_slim.batch_norm(tf_slim.conv2d(x, 3, 3))
    assert [v.op.name for v in tf.compat.v1.global_variables()][:2] == ["Conv/weights", "Conv/biases"]
"""


@pytest.mark.parametrize("root", ["1", "2"])
def test_both_packages_work_under_either_root(check_python, root):
    check_python(_IMPORTS, python=sys.executable, TF_DEEPREC_ROOT=root)
