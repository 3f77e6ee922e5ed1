"""Sums of one-hot vectors."""

import numpy as np
import pytest
import tensorflow as tf

from fusion_helpers import check, run


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.int32, tf.int64], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("index", [tf.uint8, tf.int32, tf.int64], ids=lambda dtype: dtype.name)
def test_counts(dtype, index):
    ids = tf.placeholder(index, [None, None])
    counts = tf.reduce_sum(tf.one_hot(ids, 20, dtype=dtype), axis=-2)
    fed = np.random.RandomState(0).randint(0, 24, [30, 7])
    assert check(counts, {ids: fed}, ["one_hot_sum"]).values.sum() == (fed < 20).sum()


def test_ids_that_are_not_there():
    ids = tf.placeholder(tf.int64, [None, None])
    counts = tf.reduce_sum(tf.one_hot(ids, 3, on_value=0.5), axis=[-2])
    values = check(counts, {ids: [[0, -1, 0], [9, 1 << 40, -5]]}, ["one_hot_sum"]).values
    np.testing.assert_array_equal(values, [[1, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize("shape", [(4,), (2, 3, 4), (0, 4), (4, 0)])
def test_shapes(shape):
    ids = tf.placeholder(tf.int64, [None] * len(shape))
    counts = tf.reduce_sum(tf.one_hot(ids, 5), axis=-2)
    check(counts, {ids: np.random.RandomState(0).randint(0, 5, shape)}, ["one_hot_sum"])


@pytest.mark.parametrize(
    "build",
    [
        lambda ids: tf.reduce_sum(tf.one_hot(ids, 5), axis=-1),
        lambda ids: tf.reduce_sum(tf.one_hot(ids, 5), axis=[-1, -2]),
        lambda ids: tf.reduce_sum(tf.one_hot(ids, 5), axis=-2, keepdims=True),
        lambda ids: tf.reduce_sum(tf.one_hot(ids, 5, off_value=0.1), axis=-2),
        lambda ids: tf.reduce_sum(tf.one_hot(ids, 5, axis=0), axis=-2),
        lambda ids: tf.reduce_max(tf.one_hot(ids, 5), axis=-2),
        lambda ids: tf.reduce_sum(tf.one_hot(ids, 5, dtype=tf.half), axis=-2),
    ],
)
def test_other_forms_stay(build):
    ids = tf.placeholder(tf.int64, [None, None])
    check(build(ids), {ids: [[1, 2], [3, 3]]}, [])


def test_a_negative_depth_is_still_an_error():
    ids, depth = tf.placeholder(tf.int64, [None, None]), tf.placeholder(tf.int32, [])
    counts = tf.reduce_sum(tf.one_hot(ids, depth), axis=-2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="depth must"):
        run(counts, {ids: [[1]], depth: -1})
