"""The self-contained wheel needs nothing else, and uses what is good enough in the environment."""

import os
import shutil
import subprocess
import sys
import zipfile

import pytest

_TRAIN = """
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - 3))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as s:
  s.run(tf.global_variables_initializer())
  for _ in range(300):
    s.run(train, {x: np.ones((2, 4))})
  assert s.run(loss, {x: np.ones((2, 4))}) < 1e-2
"""


@pytest.fixture(scope="module")
def venv(tmp_path_factory):
    """The Python of an empty environment with the wheel installed by `pip install --no-deps`, and its site-packages."""
    wheel = os.environ.get("DEEPREC_TEST_SELF_CONTAINED_WHEEL")
    if not wheel:
        pytest.skip("DEEPREC_TEST_SELF_CONTAINED_WHEEL is not set; ci/test.sh sets it")
    folder = tmp_path_factory.mktemp("self_contained") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        text=True,
        capture_output=True,
    ).stdout.strip()
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel],
        check=True,
    )
    yield python, site
    # More than a gigabyte, which the tests after this one have better use for.
    shutil.rmtree(folder)


def _put(site, name, version, body):
    """Writes a tiny distribution into an environment; returns the paths to remove."""
    with open(os.path.join(site, f"{name}.py"), "w", encoding="utf-8") as f:
        f.write(body)
    info = os.path.join(site, f"{name}-{version}.dist-info")
    os.makedirs(info)
    with open(os.path.join(info, "METADATA"), "w", encoding="utf-8") as f:
        f.write(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return [os.path.join(site, f"{name}.py"), os.path.join(info, "METADATA"), info]


@pytest.fixture
def put(venv):
    """Puts a small distribution into the environment for the length of a test."""
    made = []
    yield lambda *args: made.extend(_put(venv[1], *args))
    for path in made:
        os.rmdir(path) if os.path.isdir(path) else os.remove(path)


def test_trains_in_an_empty_environment(venv, check_python):
    check_python(_TRAIN, python=venv[0])


def test_numpy_can_be_imported_before_tensorflow(venv, check_python):
    assert "tensorflow/bundled/numpy" in check_python("import numpy; print(numpy.__file__)", python=venv[0])


def test_a_namespace_package_is_found(venv, check_python):
    assert "tensorflow/bundled/protobuf" in check_python(
        "import google.protobuf; print(google.protobuf.__file__)", python=venv[0]
    )


def test_keras_saves_h5_with_the_bundled_h5py(venv, check_python, tmp_path):
    check_python(
        """
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.save("m.h5")
assert (tf.keras.models.load_model("m.h5").get_weights()[0] == model.get_weights()[0]).all()
""",
        python=venv[0],
    )


def test_metadata_of_bundled_distributions_is_found(venv, check_python):
    assert check_python("import importlib.metadata as m; print(m.version('numpy'))", python=venv[0])[0].isdigit()


def test_pkg_resources_names_the_version(venv, check_python):
    assert "deeprec" in check_python(
        "import pkg_resources; print(pkg_resources.get_distribution('Tensorflow').version)", python=venv[0]
    )


def test_the_environments_own_copy_is_used_if_it_is_new_enough(venv, put, check_python):
    put("termcolor", "99.0", "colored = None\n")
    assert check_python("import tensorflow, termcolor; print(termcolor.__file__)", python=venv[0]) == os.path.join(
        venv[1], "termcolor.py"
    )


def test_the_bundled_copy_takes_the_place_of_one_too_old(venv, put, check_python):
    put("termcolor", "0.9", "raise SystemError('the old one')\n")
    assert "bundled" in check_python("import tensorflow, termcolor; print(termcolor.__file__)", python=venv[0])


def test_one_too_old_and_loaded_already_is_an_error_with_the_cure(venv, put, run_python):
    put("termcolor", "0.9", "")
    done = run_python("import termcolor, tensorflow", python=venv[0])
    assert done.returncode != 0
    assert "termcolor 0.9 was imported before tensorflow" in done.stderr and "import tensorflow first" in done.stderr


def test_other_programs_see_their_own_old_copy(venv, put, check_python):
    put("termcolor", "0.9", "mine = True\n")
    assert check_python("import termcolor; print(termcolor.mine)", python=venv[0]) == "True"


def test_the_plain_wheel_carries_no_dependencies():
    path = os.environ.get("DEEPREC_TEST_WHEEL")
    if not path:
        pytest.skip("DEEPREC_TEST_WHEEL is not set; ci/test.sh sets it")
    with zipfile.ZipFile(path) as archive:
        found = [n for n in archive.namelist() if n.startswith("tensorflow/bundled") or n.endswith(".pth")]
    # The line that makes `import keras` work before `import tensorflow`, if asked to.
    assert found == ["deeprec_keras.pth"]
