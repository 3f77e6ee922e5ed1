"""The Poisson distribution with a log-normal rate, by quadrature."""

import tensorflow as tf
from tensorflow.python.ops.distributions import categorical, util

from tensorflow.contrib.distributions import quadrature
from tensorflow.contrib.distributions.base import NOT_REPARAMETERIZED, Distribution
from tensorflow.contrib.distributions.discrete import Poisson


def _parameters(loc, scale, validate_args):
    loc = tf.convert_to_tensor(loc, name="loc")
    scale = tf.convert_to_tensor(scale, dtype=loc.dtype.base_dtype, name="scale")
    return loc, quadrature.checked_scale(scale, "scale", validate_args)


def quadrature_scheme_lognormal_gauss_hermite(loc, scale, quadrature_size, validate_args=False, name=None):
    """Gauss-Hermite points of the logarithm of a log-normal variable.

    Args:
      loc: location of the normal distribution, float.
      scale: its scale; broadcasts with `loc`.
      quadrature_size: number of points, a Python integer.
      validate_args: whether a scale that is not positive is an error when it runs.
      name: name scope.

    Returns:
      (points [batch, quadrature_size], probabilities [quadrature_size]).
    """
    with tf.name_scope(name, "quadrature_scheme_lognormal_gauss_hermite", [loc, scale]):
        return quadrature.hermite(*_parameters(loc, scale, validate_args), quadrature_size)


def quadrature_scheme_lognormal_quantiles(loc, scale, quadrature_size, validate_args=False, name=None):
    """Midpoints of the quantiles of a log-normal variable. Arguments and result as for the Gauss-Hermite scheme.

    The points are of the variable itself, and not of its logarithm, though the distribution reads them as logarithms: as 1.15
    had it.
    """
    with tf.name_scope(name, "quadrature_scheme_lognormal_quantiles", [loc, scale]):
        quantiles = quadrature.normal_quantiles(*_parameters(loc, scale, validate_args), quadrature_size)
        return quadrature.midpoints(tf.exp(quantiles))


class PoissonLogNormalQuadratureCompound(Distribution):
    """A mixture of Poisson distributions, sum_i probs_i Poisson(k | exp(grid_i)), whose points come from a log-normal prior.

    Args:
      loc: location of the prior, float.
      scale: its scale; broadcasts with `loc`.
      quadrature_size: number of points.
      quadrature_fn: (loc, scale, quadrature_size, validate_args) -> (grid [batch, n], probs [n] or [batch, n]).
      validate_args: whether bad parameters and counts are an error when it runs.
      allow_nan_stats: see `Distribution`.
      name: name scope.

    Raises:
      TypeError: grid and probabilities differ in type.
      ValueError: `quadrature_size` is no positive integer.
    """

    def __init__(
        self,
        loc,
        scale,
        quadrature_size=8,
        quadrature_fn=quadrature_scheme_lognormal_quantiles,
        validate_args=False,
        allow_nan_stats=True,
        name="PoissonLogNormalQuadratureCompound",
    ):
        arguments = dict(locals())
        with tf.name_scope(name, values=[loc, scale]) as name:
            self._loc = tf.convert_to_tensor(loc, name="loc")
            self._scale = tf.convert_to_tensor(scale, dtype=self._loc.dtype.base_dtype, name="scale")
            self._quadrature_size = quadrature.check_size(quadrature_size)
            grid, probs = quadrature_fn(self._loc, self._scale, quadrature_size, validate_args)
            if grid.dtype.base_dtype != probs.dtype.base_dtype:
                raise TypeError(
                    f"Quadrature grid dtype ({grid.dtype.name}) does not match quadrature probs dtype ({probs.dtype.name})."
                )
            options = {"validate_args": validate_args, "allow_nan_stats": allow_nan_stats}
            self._distribution = Poisson(log_rate=grid, **options)
            self._mixture_distribution = categorical.Categorical(logits=tf.log(probs), **options)
            super().__init__(
                dtype=grid.dtype.base_dtype,
                reparameterization_type=NOT_REPARAMETERIZED,
                parameters={k: v for k, v in arguments.items() if k not in ("self", "__class__")},
                graph_parents=[self._loc, self._scale],
                name=name,
                **options,
            )

    @property
    def loc(self):
        return self._loc

    @property
    def scale(self):
        return self._scale

    @property
    def quadrature_size(self):
        return self._quadrature_size

    @property
    def distribution(self):
        """The `Poisson`s of the points, [batch, n]."""
        return self._distribution

    @property
    def mixture_distribution(self):
        """The `Categorical` over the points."""
        return self._mixture_distribution

    def _batch_shape_tensor(self):
        logits = tf.shape(self._mixture_distribution.logits)
        return tf.broadcast_dynamic_shape(self._distribution.batch_shape_tensor(), logits)[:-1]

    def _batch_shape(self):
        logits = self._mixture_distribution.logits.shape
        return tf.broadcast_static_shape(self._distribution.batch_shape, logits)[:-1]

    def _event_shape_tensor(self):
        return tf.constant([], dtype=tf.int32)

    def _event_shape(self):
        return tf.TensorShape([])

    def _log_mixed(self, log_values):
        """log sum_i probs_i exp(log_values_i)."""
        return tf.reduce_logsumexp(self._mixture_distribution.logits + log_values, axis=-1)

    def _sample_n(self, n, seed=None):
        ids = quadrature.sample_points(
            self._mixture_distribution,
            n,
            self.batch_shape_tensor(),
            util.gen_new_seed(seed, "poisson_lognormal_quadrature_compound"),
        )
        rate = quadrature.pick(self._distribution.rate, ids)
        return tf.random_poisson(rate, shape=[], dtype=self.dtype, seed=seed)

    def _log_prob(self, x):
        return self._log_mixed(self._distribution.log_prob(x[..., tf.newaxis]))

    def _prob(self, x):
        return tf.exp(self._log_prob(x))

    def _mean(self):
        return tf.exp(self._log_mixed(self._distribution.log_rate))

    def _variance(self):
        # By the law of total variance, and the variance of a Poisson variable is its rate.
        mean = self._mean()
        deviation = self._distribution.rate - mean[..., tf.newaxis]
        return mean + tf.reduce_sum(self._mixture_distribution.probs * tf.square(deviation), -1)
