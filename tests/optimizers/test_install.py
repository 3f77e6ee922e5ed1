"""Where the optimizers are found."""

import importlib

import pytest

CLASSES = {
    "adagrad": "AdagradOptimizer",
    "adam": "AdamOptimizer",
    "ftrl": "FtrlOptimizer",
    "gradient_descent": "GradientDescentOptimizer",
    "momentum": "MomentumOptimizer",
    "rmsprop": "RMSPropOptimizer",
}


@pytest.mark.parametrize("module, name", CLASSES.items())
def test_every_path_leads_to_the_same_class(module, name, tf):
    ours = getattr(importlib.import_module(f"tensorflow.deeprec.optimizers.{module}"), name)
    assert getattr(tf.train, name) is ours
    assert getattr(tf.compat.v1.train, name) is ours
    for path in (
        f"tensorflow.python.training.{module}",
        "tensorflow.python.training.training",
        "tensorflow._api.v2.compat.v1.train",
    ):
        assert getattr(importlib.import_module(path), name) is ours


@pytest.mark.parametrize("name", CLASSES.values())
def test_ours_is_a_released_optimizer(name, tf):
    cls = getattr(tf.train, name)
    assert cls.__name__ == name and issubclass(cls, tf.train.Optimizer)
    assert cls.released_class.__name__ == name and cls.released_class is not cls


def test_installing_again_changes_nothing(tf):
    from tensorflow.deeprec import optimizers

    before = {name: getattr(tf.train, name) for name in CLASSES.values()}
    optimizers.install()
    assert before == {name: getattr(tf.train, name) for name in CLASSES.values()}
    tf.train.AdagradOptimizer(0.1)


def test_super_with_the_class_name_works_in_user_classes(tf):
    class Mine(tf.train.GradientDescentOptimizer):
        def __init__(self, rate):
            super(Mine, self).__init__(rate, name="Mine")

    assert Mine(0.5).get_name() == "Mine"
