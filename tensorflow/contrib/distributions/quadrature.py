"""Quadrature compounds (Dillon and Langmore 2018, arXiv:1801.03080): what the two distributions of that kind share."""

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import special_math


def check_size(quadrature_size):
    """The number of points, which must be known.

    Raises:
      ValueError: it is no positive integer.
    """
    if not isinstance(quadrature_size, (int, np.integer)) or quadrature_size < 1:
        raise ValueError(f"quadrature_size must be a positive Python integer, got {quadrature_size!r}")
    return int(quadrature_size)


def checked_scale(scale, name, validate_args):
    """The scale; with `validate_args` an error when it runs if it is not positive."""
    if not validate_args:
        return scale
    with tf.control_dependencies([tf.assert_positive(scale, message=f"{name} must be positive")]):
        return tf.identity(scale)


def hermite(loc, scale, quadrature_size):
    """Gauss-Hermite points of Normal(loc, scale), [..., n], and their probabilities, [n]."""
    points, weights = np.polynomial.hermite.hermgauss(check_size(quadrature_size))
    dtype = loc.dtype.base_dtype
    points = tf.constant(np.sqrt(2.0) * points, dtype)
    return loc[..., tf.newaxis] + scale[..., tf.newaxis] * points, tf.constant(weights / weights.sum(), dtype)


def normal_quantiles(loc, scale, quadrature_size):
    """n + 1 quantiles of Normal(loc, scale), [..., n + 1], evenly spaced in probability, without the infinite ones."""
    dtype = loc.dtype.base_dtype
    edges = tf.constant(np.linspace(0.0, 1.0, check_size(quadrature_size) + 3)[1:-1], dtype)
    return loc[..., tf.newaxis] + scale[..., tf.newaxis] * special_math.ndtri(edges)


def midpoints(quantiles):
    """The points between quantiles [..., n + 1], [..., n], and their probabilities, [n], which are equal."""
    size = quantiles.shape.dims[-1].value - 1
    # Constant probabilities: samples depend on parameters by the points alone.
    return (quantiles[..., :-1] + quantiles[..., 1:]) / 2.0, tf.fill([size], tf.constant(1.0 / size, quantiles.dtype))


def sample_points(mixture, n, batch_shape, seed):
    """Indices of points, [n] + batch: drawn from one `Categorical` for all of the batch, or from one for each."""
    if mixture.batch_shape.ndims == 0:
        return mixture.sample(tf.concat([[n], batch_shape], 0), seed=seed)
    logits = mixture.logits
    logits += tf.zeros(tf.concat([batch_shape, tf.shape(logits)[-1:]], 0), logits.dtype)
    return type(mixture)(logits=logits).sample(n, seed=seed)


def pick(values, ids):
    """values [..., n] at ids [...]; broadcast against each other."""
    chosen = tf.one_hot(ids, tf.shape(values)[-1], dtype=values.dtype)
    return tf.reduce_sum(chosen * values, -1)
