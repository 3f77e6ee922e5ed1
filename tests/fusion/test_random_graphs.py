"""Graphs put together at random, with and without."""

import numpy as np
import pytest
import tensorflow as tf

from fusion_helpers import check


def build(random, x, c):
    """A graph of ops that templates look at, and others, on matrices of one shape."""
    tensors = [x, tf.sin(x)]

    def some():
        return tensors[random.randint(len(tensors))]

    def fill():
        like = some()
        value = float(random.choice([0.0, 1.0, -3.5, np.inf]))
        return [
            lambda: tf.zeros_like(like),
            lambda: tf.ones_like(like),
            lambda: tf.ones_like(like) * value,
            lambda: tf.fill(tf.shape(like), value),
            lambda: tf.zeros_like(tf.zeros_like(like)),
            lambda: tf.ones_like(like) * -2.0 + 1.0,
        ][random.randint(6)]()

    def condition():
        row = tf.reduce_any(c, 1)
        return [
            lambda: c,
            lambda: some() > some(),
            lambda: row,
            lambda: tf.tile(tf.reshape(row, [-1, 1]), tf.stack([1, tf.shape(x)[1]])),
        ][random.randint(4)]()

    for _ in range(12):
        kind = random.randint(5)
        if kind == 0:
            tensors.append(tf.where(condition(), some(), fill()))
        elif kind == 1:
            tensors.append(tf.where(condition(), fill(), some()))
        elif kind == 2:
            which = c if random.rand() < 0.5 else tf.reshape(tf.reduce_any(c, 1), [-1, 1])
            tensors.append(tf.where_v2(which, some(), float(random.randn())))
        elif kind == 3:
            tensors.append(some() * 0.5 + some())
        else:
            with tf.control_dependencies([some()]):
                tensors.append(tf.tanh(some()))
    # Inner tensors are read too.
    return tensors[-1] + tensors[-2], some()


@pytest.mark.parametrize("seed", range(25))
def test_a_random_graph(seed):
    random = np.random.RandomState(seed)
    x, c = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.bool, [None, None])
    outputs = build(random, x, c)
    gradients = [g for g in tf.gradients(outputs[0], x) if g is not None]
    feeds = {x: random.randn(6, 5), c: random.rand(6, 5) < 0.5}
    check([*outputs, *gradients], feeds, None)
