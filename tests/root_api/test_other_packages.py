"""Packages of the TensorFlow world import in the same environment, and pip is content with it."""

import importlib.metadata
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "name",
    ["tf_slim", "tensorflow_hub", "tensorboard", "tensorflow_datasets", "tf_keras", "tensorboard.plugins.projector"],
)
def test_package_imports(name, check_python):
    check_python(f"import tensorflow as tf, {name}; assert tf.__version__ == '1.15.5'")
    check_python(f"import {name}; import tensorflow as tf; assert tf.__version__ == '1.15.5'")


def test_a_tf_slim_layer_trains(check_python):
    assert (
        check_python("""
import numpy as np, tensorflow as tf, tf_slim as slim
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(slim.fully_connected(x, 1, activation_fn=None) - 3))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
with tf.Session() as s:
  s.run(tf.global_variables_initializer())
  for _ in range(200):
    s.run(train, {x: np.ones((2, 4))})
  print(s.run(loss, {x: np.ones((2, 4))}) < 1e-3)
""")
        == "True"
    )


def test_pip_finds_nothing_missing_or_clashing():
    done = subprocess.run([sys.executable, "-m", "pip", "check"], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_requirement_of_tf_keras_or_of_tensorflow_1_is_satisfied():
    from packaging.requirements import Requirement

    for text in ("tensorflow<2", "tensorflow==1.15.5", "tensorflow~=1.15.0", "tensorflow>=1.13,<2", "tf_keras>=2.14.1"):
        requirement = Requirement(text)
        version = importlib.metadata.version(requirement.name)
        assert requirement.specifier.contains(version), text
