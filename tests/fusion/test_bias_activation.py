"""Sigmoid and tanh behind a bias."""

import numpy as np
import pytest
import tensorflow as tf

from fusion_helpers import check, run

X, BIAS = (np.random.RandomState(0).randn(*shape).astype(np.float32) for shape in ((6, 5, 37), (37,)))


def biased(x=X):
    """A tensor with a bias, and feeds."""
    place = tf.placeholder(tf.float32, [None] * x.ndim)
    return tf.nn.bias_add(place, tf.constant(BIAS)), {place: x}


@pytest.mark.parametrize("activation", [tf.sigmoid, tf.tanh])
@pytest.mark.parametrize("shape", [(6, 5, 37), (30, 37), (0, 37), (1, 1, 1, 37)])
def test_activation_of_a_bias(activation, shape):
    biases, feeds = biased(np.resize(X, shape))
    check(activation(biases), feeds, ["bias_activation"])


def test_gradients():
    biases, feeds = biased()
    y = tf.sigmoid(biases)
    check([y, *tf.gradients(tf.reduce_sum(y * y), list(feeds))], feeds, ["bias_activation"])


def test_infinity_and_not_a_number():
    x = np.resize(X, (6, 37))
    x[0, :3] = np.inf, -np.inf, np.nan
    biases, feeds = biased(x)
    check(tf.sigmoid(biases), feeds, ["bias_activation"])


def test_the_input_is_not_overwritten():
    biases, feeds = biased()
    (place,) = feeds
    doubled = place * 2
    y = tf.sigmoid(tf.nn.bias_add(doubled, tf.constant(BIAS)))
    fused = run([y, doubled + 0], feeds, on=True)
    assert fused.templates() == ["bias_activation"]
    np.testing.assert_array_equal(fused.values[1], 2 * X)


def test_a_dense_layer_on_three_dimensions():
    x = tf.placeholder(tf.float32, [None, 5, 37])
    y = tf.layers.dense(x, 8, tf.sigmoid, kernel_initializer=tf.ones_initializer())
    check(y, {x: X * 0.1}, ["bias_activation"])
