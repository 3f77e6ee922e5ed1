"""L2 normalization without gradients."""

import numpy as np
import pytest
import tensorflow as tf

from fusion_helpers import check


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_along_an_axis(dtype, axis):
    x = tf.placeholder(dtype, [None, None])
    fed = np.random.RandomState(0).randn(9, 37)
    fed[4] = 0
    check(tf.nn.l2_normalize(x, axis, epsilon=2.0**-40), {x: fed}, ["l2_normalize"])


def test_rows_with_infinity_and_not_a_number():
    x = tf.placeholder(tf.float32, [None, None])
    check(tf.nn.l2_normalize(x, 1), {x: [[1, np.inf], [np.nan, 2], [3, 4]]}, ["l2_normalize"])


def test_with_a_gradient_it_stays():
    x = tf.placeholder(tf.float32, [None, None])
    y = tf.nn.l2_normalize(x, 1)
    fused = check([y, tf.gradients(tf.reduce_sum(y**3), x)], {x: np.random.RandomState(0).randn(4, 5)}, None)
    assert "l2_normalize" not in fused.templates()
