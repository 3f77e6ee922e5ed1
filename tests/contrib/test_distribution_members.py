"""Members of contrib.distributions that tell what a distribution is made of."""

import numpy as np
import pytest
import tensorflow as tf

tfd = tf.contrib.distributions


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def evaluate(tensors):
    with tf.Session() as session:
        return session.run(tensors)


def test_kumaraswamy_is_its_bijector_of_its_distribution():
    whole = tfd.Kumaraswamy([1.0, 2.0], 3.0)
    x = tf.constant([0.2, 0.7])
    uniform = whole.bijector.inverse(x)
    made = whole.distribution.log_prob(uniform) + whole.bijector.inverse_log_det_jacobian(x, event_ndims=0)
    assert isinstance(whole.distribution, tf.distributions.Uniform) and whole.distribution.batch_shape == ()
    np.testing.assert_allclose(*evaluate([made, whole.log_prob(x)]), rtol=1e-5)


@pytest.mark.parametrize("kind", ["WishartCholesky", "WishartFull"])
def test_the_scale_operator_of_a_wishart_distribution_is_the_cholesky_factor(kind):
    factor = np.array([[1.0, 0.0], [0.5, 2.0]], np.float32)
    scale = factor if kind == "WishartCholesky" else factor @ factor.T
    operator = getattr(tfd, kind)(3.0, scale).scale_operator
    assert isinstance(operator, tf.linalg.LinearOperatorLowerTriangular)
    np.testing.assert_allclose(evaluate(operator.to_dense()), factor, rtol=1e-5)
