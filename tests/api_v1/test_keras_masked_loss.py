"""The loss of masked outputs, as TensorFlow 1.15.5 gave it: what is masked counts as 0 in the mean."""

import numpy as np
import pytest
import tensorflow as tf


def _evaluate(sample_weight=None, **compiled):
    with tf.Graph().as_default():
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Masking(0.0, input_shape=(4, 3)),
                tf.keras.layers.Dense(2, kernel_initializer="ones"),
            ]
        )
        model.compile("sgd", "mse", ["mae"], **compiled)
        inputs = np.arange(24.0).reshape(2, 4, 3).astype(np.float32)
        inputs[0, 2:] = 0
        return model.evaluate(inputs, np.ones([2, 4, 2], np.float32), verbose=0, sample_weight=sample_weight)


def test_loss_is_a_mean_over_all_steps():
    assert _evaluate() == pytest.approx([1392.375, 36.5])


def test_weights_are_masked():
    weights = np.array([[1, 2.0, 1, 1], [1, 1, 0.5, 1]])
    assert _evaluate(weights, sample_weight_mode="temporal") == pytest.approx([1211.5, 36.5])
