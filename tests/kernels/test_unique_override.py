"""Unique and UniqueWithCounts of integers: every key once, in the order in which they come."""

import numpy as np
import pytest
import tensorflow as tf


def expected(keys):
    different, first, index, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(order.size)
    return different[order], number[index.reshape(-1)], counts[order]


def run(*fetches):
    with tf.Session() as session:
        return session.run(list(fetches))


@pytest.mark.parametrize("index", [tf.int32, tf.int64])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("n", [0, 1, 17, 5000, 100000])
@pytest.mark.parametrize("values", [3, 4000, 2**31 - 1])
def test_random_keys(dtype, index, n, values):
    random = np.random.RandomState(n)
    keys = random.randint(-values, values, n).astype(dtype)
    y, idx, counted_y, counted_idx, counts = run(
        *tf.unique(keys, out_idx=index), *tf.unique_with_counts(keys, out_idx=index)
    )
    assert y.dtype == dtype and idx.dtype == counts.dtype == index.as_numpy_dtype
    for got, want in zip((y, idx, counts), expected(keys)):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(counted_y, y)
    np.testing.assert_array_equal(counted_idx, idx)


def test_extreme_keys():
    least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    y, idx = run(*tf.unique(np.array([most, least, 0, -1, least, most])))
    assert y.tolist() == [most, least, 0, -1] and idx.tolist() == [0, 1, 2, 3, 1, 0]


def test_keys_that_are_no_vector_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="unique expects a 1D vector"):
        keys = tf.placeholder_with_default(np.zeros([2, 2], np.int64), None)
        run(*tf.unique(keys))


def test_other_dtypes_keep_the_stock_kernel():
    y, idx = run(*tf.unique(tf.constant(["b", "a", "b"])))
    assert y.tolist() == [b"b", b"a"] and idx.tolist() == [0, 1, 0]
