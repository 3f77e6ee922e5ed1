"""SparseReshape chains and flattening."""

import numpy as np
import pytest
import tensorflow as tf

from fusion_helpers import check, run


def cube(seed=0, shape=(4, 3, 10), entries=17):
    """A sparse placeholder and its value."""
    places = np.sort(np.random.RandomState(seed).choice(int(np.prod(shape)), entries, replace=False))
    indices = np.stack(np.unravel_index(places, shape), 1).astype(np.int64)
    value = tf.SparseTensorValue(indices, np.arange(entries, dtype=np.float32), np.array(shape, np.int64))
    return tf.sparse_placeholder(tf.float32, [None] * len(shape)), value


def flattened(sparse, outer):
    shape = sparse.dense_shape
    return tf.sparse_reshape(sparse, [tf.reduce_prod(tf.slice(shape, [0], [outer])), tf.gather(shape, outer)])


@pytest.mark.parametrize("shape", [(4, 3, 10), (12, 10), (2, 2, 3, 10)])
def test_flattening(shape):
    sparse, value = cube(shape=shape)
    flat = flattened(sparse, len(shape) - 1)
    check([flat.indices, flat.dense_shape], {sparse: value}, ["sparse_flatten"])


def test_flattening_of_an_empty_tensor():
    sparse, value = cube(entries=0)
    flat = flattened(sparse, 2)
    check([flat.indices, flat.dense_shape], {sparse: value}, ["sparse_flatten"])


def test_flattening_to_a_size_that_is_not_the_last():
    sparse, value = cube()
    flat = flattened(sparse, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have the 120 places"):
        run(flat.indices, {sparse: value})


@pytest.mark.parametrize("shapes", [([12, 10], [-1, 4]), ([-1, 5], [2, -1], [3, 4, 10]), ([120], [4, 3, 10])])
def test_chains(shapes):
    sparse, value = cube()
    reshaped = sparse
    for shape in shapes:
        reshaped = tf.sparse_reshape(reshaped, shape)
    fused = check([reshaped.indices, reshaped.dense_shape], {sparse: value}, None)
    assert set(fused.templates()) == {"sparse_reshape"}


def test_a_chain_whose_middle_is_fetched():
    sparse, value = cube()
    middle = tf.sparse_reshape(sparse, [12, 10])
    last = tf.sparse_reshape(middle, [120, 1])
    check([middle.indices, last.indices], {sparse: value}, [])


@pytest.mark.parametrize(
    "shapes, message",
    [
        (([7, 10], [120]), "must have the 120 places"),
        (([-1, 7], [120]), "must have the 120 places"),
        (([-1, -1], [120]), "only one size"),
        (([-1, 0], [120]), "-1 where another size is 0"),
        (([-2, -60], [120]), "must not be negative"),
        (([120], [1 << 40, 1 << 40]), "2.63 - 1 places"),
    ],
)
def test_each_shape_of_a_chain_is_checked(shapes, message):
    sparse, value = cube()
    fed = [tf.placeholder(tf.int64, [None]) for _ in shapes]
    reshaped = sparse
    for shape in fed:
        reshaped = tf.sparse_reshape(reshaped, shape)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(reshaped.indices, {sparse: value, **dict(zip(fed, shapes))})
