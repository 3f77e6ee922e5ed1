"""tf.estimator and the old paths to it are one set of classes, loaded when they are used."""

import importlib

import pytest
import tensorflow as tf

_SAME = {
    "tensorflow.estimator": "tf.estimator",
    "tensorflow.compat.v1.estimator": "tf.compat.v1.estimator",
    "tensorflow.python.estimator.estimator_lib": "",
    "tensorflow_estimator.python.estimator.estimator_lib": "",
}


def test_v1_classes_are_the_same_everywhere():
    modules = [importlib.import_module(name) for name in _SAME]
    assert {module.DNNClassifier for module in modules} == {tf.estimator.DNNClassifier}
    assert tf.compat.v1.estimator.Estimator is tf.estimator.Estimator


@pytest.mark.parametrize("part", ["experimental", "export", "inputs", "tpu"])
def test_submodules_import_under_both_names(part):
    assert importlib.import_module(f"tensorflow.estimator.{part}") is getattr(tf.estimator, part)
    assert importlib.import_module(f"tensorflow.compat.v1.estimator.{part}") is getattr(tf.estimator, part)


def test_v2_classes_are_those_of_2x():
    import tensorflow.compat.v2.estimator as v2
    from tensorflow_estimator.python.estimator.canned import dnn

    assert v2.DNNClassifier is tf.compat.v2.estimator.DNNClassifier is dnn.DNNClassifierV2
    assert tf.estimator.DNNClassifier is dnn.DNNClassifier is not dnn.DNNClassifierV2
    from tensorflow.compat.v2.estimator.export import ServingInputReceiver

    assert ServingInputReceiver is tf.estimator.export.ServingInputReceiver


@pytest.mark.parametrize(
    "path",
    [
        "canned.boosted_trees:BoostedTreesClassifier",
        "canned.dnn:DNNClassifier",
        "canned.head:_Head",
        "export.export:ServingInputReceiver",
        "inputs.numpy_io:numpy_input_fn",
        "keras:model_to_estimator",
        "model_fn:ModeKeys",
        "run_config:RunConfig",
        "training:train_and_evaluate",
    ],
)
def test_old_private_paths(path):
    module, name = path.split(":")
    new = "keras_lib" if module == "keras" else module
    old = getattr(importlib.import_module(f"tensorflow.python.estimator.{module}"), name)
    assert old is getattr(importlib.import_module(f"tensorflow_estimator.python.estimator.{new}"), name)


def test_import_tensorflow_does_not_load_estimator(check_python):
    check_python(
        "import sys, tensorflow\n"
        "assert not [m for m in sys.modules if m.startswith(('tensorflow_estimator', 'tensorflow.estimator', 'tf_slim'))]"
    )


def test_positional_order_of_combined_estimator():
    import inspect

    names = list(inspect.signature(tf.estimator.DNNLinearCombinedEstimator).parameters)
    assert names[10:13] == ["config", "linear_sparse_combiner", "batch_norm"]


def test_symbols_do_not_warn_that_they_are_deprecated(check_python):
    assert "deprecated" not in check_python(
        "import tensorflow as tf\n"
        "tf.estimator.Estimator(lambda features, labels, mode: None, model_dir='m')\n"
        "tf.estimator.RunConfig()"
    )
