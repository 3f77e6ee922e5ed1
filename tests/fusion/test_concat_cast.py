"""Casts of concatenations and concatenations of casts."""

import numpy as np
import pytest
import tensorflow as tf

from fusion_helpers import check, run

PAIRS = [
    (tf.float32, tf.bfloat16),
    (tf.bfloat16, tf.float32),
    (tf.float32, tf.float64),
    (tf.float64, tf.float32),
    (tf.int32, tf.float32),
    (tf.int64, tf.float32),
]


def operands(dtype, shapes):
    random = np.random.RandomState(0)
    placeholders = [tf.placeholder(dtype, [None] * len(shape)) for shape in shapes]
    return placeholders, {
        x: np.asarray(random.randn(*shape) * 1e3).astype(dtype.as_numpy_dtype) for x, shape in zip(placeholders, shapes)
    }


@pytest.mark.parametrize("source, target", PAIRS, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("cast_first", [True, False])
def test_both_orders(source, target, cast_first):
    xs, feeds = operands(source, [(5, 3), (5, 40), (5, 0)])
    if cast_first:
        y = tf.concat([tf.cast(x, target) for x in xs], 1)
    else:
        y = tf.cast(tf.concat(xs, 1), target)
    check(y, feeds, ["concat_cast"])


@pytest.mark.parametrize("axis, shapes", [(0, [(2, 3), (4, 3)]), (-1, [(2, 3, 4), (2, 3, 1)]), (1, [(0, 3), (0, 2)])])
def test_axes(axis, shapes):
    xs, feeds = operands(tf.float32, shapes)
    check(tf.cast(tf.concat(xs, axis), tf.bfloat16), feeds, ["concat_cast"])


def test_rounding_infinity_and_not_a_number():
    bits = np.array([0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF, 0x7F800000, 0xFF800001, 0x7FC00001, 1], np.uint32)
    x = tf.placeholder(tf.float32, [None])
    y = tf.cast(tf.concat([x, x], 0), tf.bfloat16)
    plain, fused = (run(y, {x: bits.view(np.float32)}, on=on) for on in (False, True))
    assert fused.templates() == ["concat_cast"]
    # The sign of a NaN is that of the vector form or the scalar one of the stock kernel, as it lies.
    there, ours = plain.values.astype(np.float32), fused.values.astype(np.float32)
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(there))
    assert ours[~np.isnan(ours)].tobytes() == there[~np.isnan(there)].tobytes()


def test_gradients():
    xs, feeds = operands(tf.float32, [(5, 3), (5, 4)])
    y = tf.cast(tf.concat(xs, 1), tf.bfloat16)
    check(tf.gradients(tf.reduce_sum(tf.cast(y * y, tf.float32)), xs), feeds, ["concat_cast"])


def test_shapes_that_do_not_fit_are_still_an_error():
    xs, feeds = operands(tf.float32, [(5, 3), (4, 3)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="values must have the dimensions of the first"):
        run(tf.cast(tf.concat(xs, 1), tf.bfloat16), feeds)


def test_an_axis_that_is_not_there_is_still_an_error():
    xs, feeds = operands(tf.float32, [(5, 3), (5, 3)])
    axis = tf.placeholder(tf.int32, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="axis must be in"):
        run(tf.cast(tf.concat(xs, axis), tf.bfloat16), {**feeds, axis: 2})
