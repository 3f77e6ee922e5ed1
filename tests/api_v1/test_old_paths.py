"""Private import paths of 1.15 lead to today's objects, or say why there are none."""

import importlib
import sys

import facts
import pytest
import tensorflow as tf
from tensorflow.api_v1 import moved_names, old_paths

_GAPS = facts.known_gaps()
_NAMES = [row["path"] for row in facts.table("private_names")]
# The estimator's modules come with the estimator.
_ESTIMATOR = ("tensorflow.python.estimator", "tensorflow.python.tpu.")


def _needs_estimator(path):
    target = old_paths.MODULES.get(path, "")
    return path.startswith(_ESTIMATOR[0]) or "tensorflow_estimator" in str(target)


def _is_gone(path):
    return any(path == gone or path.startswith(f"{gone}.") for gone in old_paths.GONE)


@pytest.mark.parametrize("path", [r["module"] for r in facts.table("modules")])
def test_an_old_module_imports_or_names_the_reason(path):
    if _needs_estimator(path):
        pytest.importorskip("tensorflow_estimator")
        if "boosted_trees" in path:
            pytest.skip("a part of the estimator")
    try:
        module = importlib.import_module(path)
    except ModuleNotFoundError as error:
        assert _is_gone(path), error
        assert f"{error.name} has no successor in TensorFlow 2: " in str(error) and path.startswith(error.name)
    else:
        assert sys.modules[path] is module


@pytest.mark.parametrize("path", [p for p in _NAMES if p not in _GAPS and "python.estimator" not in p])
def test_an_old_name_is_there(path):
    facts.find(path)


@pytest.mark.parametrize(
    "row", [r for r in facts.table("keras_names") if not _is_gone(r["module"])], ids=lambda row: row["module"]
)
def test_a_keras_module_has_all_names_that_it_had(row):
    module = importlib.import_module(row["module"])
    missing = [name for name in row["names"].split() if not hasattr(module, name)]
    assert missing == [name for name in missing if f"{row['module']}.{name}" in _GAPS]


@pytest.mark.parametrize("path", [p for p in _GAPS if p.startswith("tensorflow.")])
def test_a_name_in_the_table_of_gaps_is_still_missing(path):
    with pytest.raises((AttributeError, ImportError)):
        facts.find(path)


def test_names_that_programs_use_are_not_in_the_table_of_gaps():
    used = {r["path"] for r in facts.table("private_names") if int(r["repositories"]) > 0}
    assert used & set(_GAPS) == {"tensorflow.python.training.saving.functional_saver._SingleDeviceSaver"}


@pytest.mark.parametrize("module", sorted(old_paths.NAMES))
def test_every_entry_of_the_table_of_names_leads_somewhere(module):
    if "estimator" in module:
        pytest.importorskip("tensorflow_estimator")
    imported = importlib.import_module(module)
    for name, target in old_paths.NAMES[module].items():
        assert getattr(imported, name) is moved_names.locate(target), name
        assert name in dir(imported)


@pytest.mark.parametrize(
    "path",
    [
        p
        for p, t in old_paths.MODULES.items()
        if isinstance(t, str) and p.startswith("tensorflow.") and not _needs_estimator(p)
    ],
)
def test_a_moved_module_is_the_same_object_under_both_paths(path):
    assert importlib.import_module(path) is importlib.import_module(old_paths.MODULES[path])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tensorflow.python.framework.ops.Tensor", "Tensor"),
        ("tensorflow.python.framework.ops.IndexedSlices", "IndexedSlices"),
        ("tensorflow.python.ops.control_flow_ops.cond", "cond"),
        ("tensorflow.python.ops.control_flow_ops.while_loop", "while_loop"),
        ("tensorflow.python.ops.array_ops.stack", "stack"),
        ("tensorflow.python.ops.math_ops.matmul", "matmul"),
        ("tensorflow.python.ops.array_ops.scatter_nd", "scatter_nd"),
        ("tensorflow.python.training.tracking.util.Checkpoint", "train.Checkpoint"),
        ("tensorflow.python.pywrap_tensorflow.NewCheckpointReader", "train.NewCheckpointReader"),
        ("tensorflow.python.feature_column.dense_features.DenseFeatures", "keras.layers.DenseFeatures"),
        ("tensorflow.python.feature_column.feature_column_lib.LinearModel", "keras.experimental.LinearModel"),
        ("tensorflow.python.ops.nn.dynamic_rnn", "nn.dynamic_rnn"),
        ("tensorflow.python.keras.engine.base_layer.InputSpec", "keras.layers.InputSpec"),
        ("tensorflow.python.keras.engine.base_layer.Layer", "keras.layers.Layer"),
        ("tensorflow.python.keras.layers.convolutional.Deconvolution2D", "keras.layers.Conv2DTranspose"),
        ("tensorflow.python.keras.models.Network", "keras.Model"),
        ("tensorflow.python.keras.preprocessing.image.img_to_array", "keras.preprocessing.image.img_to_array"),
        ("tensorflow.python.keras.utils.multi_gpu_utils.Model", "keras.Model"),
    ],
)
def test_an_old_name_is_the_object_of_the_api(old, new):
    assert facts.find(old) is facts.find(new, tf)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "tensorflow_estimator.python.estimator.estimator_lib.BoostedTreesClassifier",
            "estimator.BoostedTreesClassifier",
        ),
        ("tensorflow_estimator.python.estimator.model_fn.Metric", "keras.metrics.Metric"),
    ],
)
def test_an_old_name_of_the_estimator_is_the_object_of_the_api(old, new):
    pytest.importorskip("tensorflow_estimator")
    assert facts.find(old) is facts.find(new, tf)


def test_a_star_import_brings_old_names():
    names = {}
    exec("from tensorflow.python.ops.rnn_cell import *\nfrom tensorflow.python.ops.control_flow_ops import *", names)
    assert names["LSTMCell"] is tf.nn.rnn_cell.LSTMCell and names["cond"] is tf.cond


def test_tensorflow_core_is_tensorflow():
    import tensorflow_core.python.training.adam as old
    import tensorflow.python.training.adam as new

    assert old is new


def test_folders_that_share_a_name_with_the_api_are_reachable():
    import tensorflow.lite.python.lite as lite

    assert lite.TFLiteConverter is tf.lite.TFLiteConverter


def test_filters_of_hash_tables_name_what_has_them():
    with pytest.raises(ImportError, match="admit_strategy has no successor .* tf.get_embedding_variable"):
        importlib.import_module("tensorflow.python.ops.hash_table.admit_strategy")
    assert importlib.import_module("tensorflow.python.ops.hash_table.hash_table").HashTable


def test_tables_are_sorted():
    for table in (old_paths.GONE,):
        assert list(table) == sorted(table)


def test_probing_for_a_module_does_not_lose_its_old_names(check_python):
    out = check_python(
        "import tensorflow, importlib.util\n"
        "assert importlib.util.find_spec('tf_keras.src.engine.base_layer') is not None\n"
        "from tensorflow.python.keras.engine import base_layer\n"
        "print(base_layer.Layer.apply.__name__, base_layer.KerasHistory.__name__)"
    )
    assert out == "_apply KerasHistory"
