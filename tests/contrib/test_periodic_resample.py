"""periodic_resample against its formula in plain loops."""

import itertools
import math

import numpy as np
import pytest
import tensorflow as tf

resample = tf.contrib.periodic_resample.periodic_resample


def _reference(values, shape):
    q = shape.index(-1)
    shape = list(shape)
    shape[q] = values.size // -math.prod(shape)
    factors = [math.ceil(new / old) for new, old in zip(shape, values.shape)]
    result = np.empty(shape, values.dtype)
    for place in itertools.product(*map(range, shape)):
        source = [s // g for s, g in zip(place, factors)]
        source[q], stride = place[q], 1
        for j in range(len(shape)):
            if j != q:
                source[q] += shape[q] * stride * (place[j] % factors[j])
                stride *= factors[j]
        result[place] = values[tuple(source)]
    return result


@pytest.mark.parametrize(
    "size,shape",
    [((3, 4), (6, -1)), ((2, 2, 4), (4, 4, -1)), ((2, 2, 4), (4, 3, -1)), ((8, 3), (-1, 6)), ((2, 12, 2), (4, -1, 6))],
)
@pytest.mark.parametrize("known", [True, False])
def test_values_are_those_of_the_formula(size, shape, known):
    values = np.random.default_rng(0).normal(size=size).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, size if known else [None] * len(size))
        result = resample(x, shape)
        got = session.run(result, {x: values})
    np.testing.assert_array_equal(got, _reference(values, shape))
    assert result.shape.is_compatible_with(got.shape) and result.shape.is_fully_defined() is known


def test_gradients_go_back_to_where_values_came_from():
    values = np.random.default_rng(1).normal(size=(2, 2, 4))
    weights = np.random.default_rng(2).normal(size=(4, 3, 1))
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(values)
        got = session.run(tf.gradients(tf.reduce_sum(resample(x, [4, 3, -1]) * weights), x)[0])
    places = _reference(np.arange(16).reshape(2, 2, 4), [4, 3, -1])
    wanted = np.zeros(16)
    np.add.at(wanted, places.ravel(), weights.ravel())
    np.testing.assert_allclose(got, wanted.reshape(2, 2, 4))


def test_bad_shapes_are_named():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.zeros([3, 4])
        for shape in ([6], [6, 2], [-1, -1], [0, -1]):
            with pytest.raises(ValueError, match="shape: expected"):
                resample(x, shape)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(resample(x, [4, -1]))
