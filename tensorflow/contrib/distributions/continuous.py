"""Continuous distributions of numbers: Cauchy, logistic, half normal, inverse gamma, Kumaraswamy, chi squared."""

import math

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import gamma

from tensorflow.contrib.distributions import bijectors
from tensorflow.contrib.distributions.base import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    BroadcastDistribution,
    positive,
)


class _LocationScale(BroadcastDistribution):
    def __init__(self, loc, scale, validate_args, allow_nan_stats, name, arguments):
        with tf.name_scope(name, values=[loc, scale]) as name:
            with tf.control_dependencies(positive(("scale", scale)) if validate_args else []):
                loc = tf.identity(tf.convert_to_tensor(loc), name="loc")
                scale = tf.identity(tf.convert_to_tensor(scale), name="scale")
            tf.debugging.assert_same_float_dtype([loc, scale])
            self._set_up(name, validate_args, allow_nan_stats, FULLY_REPARAMETERIZED, arguments, loc=loc, scale=scale)

    @staticmethod
    def _param_shapes(sample_shape):
        shape = tf.convert_to_tensor(sample_shape, dtype=tf.int32)
        return {"loc": shape, "scale": shape}

    @property
    def loc(self):
        return self._loc

    @property
    def scale(self):
        return self._scale

    def _z(self, x):
        return (x - self.loc) / self.scale


class Cauchy(_LocationScale):
    """The Cauchy distribution: density 1 / (pi scale (1 + z^2)), z = (x - loc) / scale.

    Args:
      loc: median.
      scale: half width at half maximum.
      validate_args: whether a scale that is not positive is an error when it runs.
      allow_nan_stats: whether mean and variance, which do not exist, are NaN or an error.
      name: name scope.
    """

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Cauchy"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, dict(locals()))

    def _sample_n(self, n, seed=None):
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        return self._quantile(tf.random_uniform(shape, 0.0, 1.0, dtype=self.dtype, seed=seed))

    def _log_prob(self, x):
        return -tf.log1p(tf.square(self._z(x))) - np.log(np.pi).astype(self.dtype.as_numpy_dtype) - tf.log(self.scale)

    def _cdf(self, x):
        return tf.atan(self._z(x)) / np.pi + 0.5

    def _log_cdf(self, x):
        return tf.log1p(2 / np.pi * tf.atan(self._z(x))) - math.log(2)

    def _quantile(self, p):
        return self.loc + self.scale * tf.tan(np.pi * (p - 0.5))

    def _entropy(self):
        return self._filled(math.log(4 * math.pi) + tf.log(self.scale))

    def _mode(self):
        return self._filled(self.loc)

    def _undefined(self, what):
        if self.allow_nan_stats:
            return tf.fill(self.batch_shape_tensor(), self.dtype.as_numpy_dtype(np.nan))
        raise ValueError(f"`{what}` is undefined for Cauchy distribution.")

    def _mean(self):
        return self._undefined("mean")

    def _stddev(self):
        return self._undefined("stddev")

    def _variance(self):
        return self._undefined("variance")


class Logistic(_LocationScale):
    """The logistic distribution: its distribution function is sigmoid((x - loc) / scale).

    Args:
      loc: mean.
      scale: the deviation is scale pi / sqrt(3).
      validate_args: whether a scale that is not positive is an error when it runs.
      allow_nan_stats: see `Distribution`.
      name: name scope.
    """

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Logistic"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, dict(locals()))

    def _sample_n(self, n, seed=None):
        u = self._open_uniform(n, seed)
        return (tf.log(u) - tf.log1p(-u)) * self.scale + self.loc

    def _log_prob(self, x):
        z = self._z(x)
        return -z - 2.0 * tf.nn.softplus(-z) - tf.log(self.scale)

    def _cdf(self, x):
        return tf.sigmoid(self._z(x))

    def _log_cdf(self, x):
        return -tf.nn.softplus(-self._z(x))

    def _survival_function(self, x):
        return tf.sigmoid(-self._z(x))

    def _log_survival_function(self, x):
        return -tf.nn.softplus(self._z(x))

    def _quantile(self, p):
        return self.loc + self.scale * (tf.log(p) - tf.log1p(-p))

    def _entropy(self):
        return self._filled(2.0 + tf.log(self.scale))

    def _mean(self):
        return self._filled(self.loc)

    def _stddev(self):
        return self._filled(self.scale * math.pi / math.sqrt(3))

    def _mode(self):
        return self._mean()


class HalfNormal(BroadcastDistribution):
    """|X| of a normal X with mean 0 and deviation `scale`."""

    def __init__(self, scale, validate_args=False, allow_nan_stats=True, name="HalfNormal"):
        arguments = dict(locals())
        with tf.name_scope(name, values=[scale]) as name:
            with tf.control_dependencies(positive(("scale", scale)) if validate_args else []):
                scale = tf.identity(tf.convert_to_tensor(scale), name="scale")
            self._set_up(name, validate_args, allow_nan_stats, FULLY_REPARAMETERIZED, arguments, scale=scale)

    @staticmethod
    def _param_shapes(sample_shape):
        return {"scale": tf.convert_to_tensor(sample_shape, dtype=tf.int32)}

    @property
    def scale(self):
        return self._scale

    def _sample_n(self, n, seed=None):
        shape = tf.concat([[n], tf.shape(self.scale)], 0)
        return tf.abs(tf.random_normal(shape, dtype=self.dtype, seed=seed) * self.scale)

    def _prob(self, x):
        density = math.sqrt(2 / math.pi) / self.scale * tf.exp(-0.5 * tf.square(x / self.scale))
        return density * tf.cast(x >= 0, self.dtype)

    def _log_prob(self, x):
        log = 0.5 * math.log(2 / math.pi) - tf.log(self.scale) - 0.5 * tf.square(x / self.scale)
        return tf.where(x < 0 + tf.zeros_like(log), tf.fill(tf.shape(log), self.dtype.as_numpy_dtype(-np.inf)), log)

    def _cdf(self, x):
        return tf.erf(tf.nn.relu(x) / self.scale / math.sqrt(2.0))

    def _quantile(self, p):
        return math.sqrt(2.0) * self.scale * tf.erfinv(p)

    def _entropy(self):
        return 0.5 * math.log(math.pi / 2) + 0.5 + tf.log(self.scale)

    def _mean(self):
        return self.scale * math.sqrt(2 / math.pi)

    def _mode(self):
        return tf.zeros(self.batch_shape_tensor(), self.dtype)

    def _variance(self):
        return self.scale**2.0 * (1.0 - 2.0 / math.pi)


class InverseGamma(BroadcastDistribution):
    """1 / X of a gamma X.

    Args:
      concentration: shape of the gamma.
      rate: scale of this distribution.
      validate_args: whether parameters that are not positive are an error when it runs.
      allow_nan_stats: whether moments that do not exist are NaN or an error.
      name: name scope.
    """

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="InverseGamma"):
        arguments = dict(locals())
        with tf.name_scope(name, values=[concentration, rate]) as name:
            checks = positive(("concentration", concentration), ("rate", rate)) if validate_args else []
            with tf.control_dependencies(checks):
                concentration = tf.identity(tf.convert_to_tensor(concentration), name="concentration")
                rate = tf.identity(tf.convert_to_tensor(rate), name="rate")
            tf.debugging.assert_same_float_dtype([concentration, rate])
            self._set_up(
                name, validate_args, allow_nan_stats, NOT_REPARAMETERIZED, arguments,
                concentration=concentration, rate=rate,
            )  # fmt: skip

    @staticmethod
    def _param_shapes(sample_shape):
        shape = tf.convert_to_tensor(sample_shape, dtype=tf.int32)
        return {"concentration": shape, "rate": shape}

    @property
    def concentration(self):
        return self._concentration

    @property
    def rate(self):
        return self._rate

    def _sample_n(self, n, seed=None):
        return 1.0 / tf.random_gamma(
            shape=[n], alpha=self._filled(self.concentration), beta=self.rate, dtype=self.dtype, seed=seed
        )

    def _log_prob(self, x):
        a, b = self.concentration, self.rate
        return a * tf.log(b) - tf.lgamma(a) - (1.0 + a) * tf.log(x) - b / x

    def _cdf(self, x):
        return tf.igammac(self._filled(self.concentration), self.rate / x)

    def _entropy(self):
        a = self.concentration
        return self._filled(a + tf.log(self.rate) + tf.lgamma(a) - (1.0 + a) * tf.digamma(a))

    def _mean(self):
        return self._or_nan(
            self.concentration > 1.0, self.rate / (self.concentration - 1.0), "mean undefined for concentration <= 1"
        )

    def _variance(self):
        a = self.concentration
        value = tf.square(self.rate) / tf.square(a - 1.0) / (a - 2.0)
        return self._or_nan(a > 2.0, value, "variance undefined for concentration <= 2")

    def _mode(self):
        return self.rate / (1.0 + self.concentration)


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """`InverseGamma` with softplus of the given `concentration` and `rate`."""

    def __init__(
        self,
        concentration,
        rate,
        validate_args=False,
        allow_nan_stats=True,
        name="InverseGammaWithSoftplusConcentrationRate",
    ):
        with tf.name_scope(name, values=[concentration, rate]) as name:
            super().__init__(
                concentration=tf.nn.softplus(concentration, name="softplus_concentration"),
                rate=tf.nn.softplus(rate, name="softplus_rate"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )


class Kumaraswamy(BroadcastDistribution):
    """Density a b x^(a-1) (1 - x^a)^(b-1) on the unit interval; a, b are `concentration1`, `concentration0`."""

    def __init__(
        self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True, name="Kumaraswamy"
    ):
        arguments = dict(locals())
        with tf.name_scope(name, values=[concentration1, concentration0]) as name:
            concentration1 = tf.convert_to_tensor(concentration1, name="concentration1")
            concentration0 = tf.convert_to_tensor(concentration0, name="concentration0")
            checks = (
                positive(("concentration1", concentration1), ("concentration0", concentration0))
                if validate_args
                else []
            )
            with tf.control_dependencies(checks):
                concentration1, concentration0 = tf.identity(concentration1), tf.identity(concentration0)
            self._set_up(
                name, validate_args, allow_nan_stats, FULLY_REPARAMETERIZED, arguments,
                concentration1=concentration1, concentration0=concentration0,
            )  # fmt: skip

    @property
    def concentration1(self):
        return self._concentration1

    @property
    def concentration0(self):
        return self._concentration0

    @property
    def distribution(self):
        """The uniform one, which `bijector` makes this one of."""
        return tf.distributions.Uniform(allow_nan_stats=self.allow_nan_stats)

    @property
    def bijector(self):
        return bijectors.Kumaraswamy(self.concentration1, self.concentration0, self.validate_args)

    def _sample_n(self, n, seed=None):
        return self._quantile(self._open_uniform(n, seed))

    def _quantile(self, p):
        return tf.exp(tf.log(-tf.expm1(tf.log1p(-p) / self.concentration0)) / self.concentration1)

    def _log_prob(self, x):
        a, b = self.concentration1, self.concentration0
        return tf.log(a) + tf.log(b) + (a - 1) * tf.log(x) + (b - 1) * tf.log1p(-(x**a))

    def _cdf(self, x):
        return 1 - (1 - x**self.concentration1) ** self.concentration0

    def _log_moment(self, n):
        a, b = self.concentration1, self.concentration0
        first = 1 + n / a
        return tf.log(b) + tf.lgamma(first) + tf.lgamma(b) - tf.lgamma(first + b)

    def _entropy(self):
        a, b = self.concentration1, self.concentration0
        harmonic = tf.digamma(b + 1) + np.euler_gamma
        return (1 - 1.0 / b) + (1 - 1.0 / a) * harmonic - tf.log(a) - tf.log(b)

    def _mean(self):
        return tf.exp(self._log_moment(1))

    def _variance(self):
        return tf.exp(self._log_moment(2)) - tf.exp(2 * self._log_moment(1))

    def _mode(self):
        a, b = self.concentration1, self.concentration0
        inside = tf.logical_and(a > 1, b > 1)
        return self._or_nan(inside, ((a - 1) / (a * b - 1)) ** (1.0 / a), "mode undefined for concentrations <= 1")


class Chi2(gamma.Gamma):
    """The chi squared distribution: Gamma(df / 2, 1/2).

    Args:
      df: degrees of freedom, positive.
      validate_args: whether another `df` is an error when it runs.
      allow_nan_stats: see `Distribution`.
      name: name scope.
    """

    def __init__(self, df, validate_args=False, allow_nan_stats=True, name="Chi2"):
        parameters = dict(locals())
        with tf.name_scope(name, values=[df]) as name:
            with tf.control_dependencies(positive(("df", df)) if validate_args else []):
                self._df = tf.identity(tf.convert_to_tensor(df), name="df")
            super().__init__(
                concentration=0.5 * self._df,
                rate=tf.constant(0.5, dtype=self._df.dtype),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = {k: v for k, v in parameters.items() if k not in ("self", "__class__")}

    @staticmethod
    def _param_shapes(sample_shape):
        return {"df": tf.convert_to_tensor(sample_shape, dtype=tf.int32)}

    @property
    def df(self):
        return self._df


class Chi2WithAbsDf(Chi2):
    """`Chi2` with floor(|df|) degrees of freedom."""

    def __init__(self, df, validate_args=False, allow_nan_stats=True, name="Chi2WithAbsDf"):
        with tf.name_scope(name, values=[df]) as name:
            super().__init__(
                df=tf.floor(tf.abs(df, name="abs_df"), name="floor_abs_df"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
