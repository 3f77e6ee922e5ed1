"""Continuous relaxations of discrete distributions (Maddison et al. 2016, arXiv:1611.00712; Jang et al., arXiv:1611.01144)."""

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import util

from tensorflow.contrib.distributions.base import FULLY_REPARAMETERIZED, Distribution
from tensorflow.contrib.distributions.bijectors import Exp, Sigmoid
from tensorflow.contrib.distributions.continuous import Logistic
from tensorflow.contrib.distributions.transformed_distribution import TransformedDistribution


class ExpRelaxedOneHotCategorical(Distribution):
    """The logarithm of a `RelaxedOneHotCategorical`; densities near corners of the simplex keep their digits.

    Args:
      temperature: scalar, or one for each batch entry; near 0 samples are near corners.
      logits: [..., n] unnormalized log probabilities; or else
      probs: [..., n] probabilities.
      dtype: of samples, that of the parameters by default.
      validate_args: whether bad parameters are an error when it runs.
      allow_nan_stats: see `Distribution`.
      name: name scope.
    """

    def __init__(
        self,
        temperature,
        logits=None,
        probs=None,
        dtype=None,
        validate_args=False,
        allow_nan_stats=True,
        name="ExpRelaxedOneHotCategorical",
    ):
        parameters = dict(locals())
        with tf.name_scope(name, values=[logits, probs, temperature]) as name:
            self._logits, self._probs = util.get_logits_and_probs(
                name=name, logits=logits, probs=probs, validate_args=validate_args, multidimensional=True
            )
            dtype = dtype or self._logits.dtype
            temperature = tf.convert_to_tensor(temperature, dtype=self._logits.dtype, name="temperature")
            checks = [tf.assert_positive(temperature, message="temperature must be > 0")] if validate_args else []
            with tf.control_dependencies(checks):
                self._temperature = tf.identity(temperature)
            self._temperature_2d = tf.reshape(self._temperature, [-1, 1])
            super().__init__(
                dtype=dtype,
                reparameterization_type=FULLY_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters={k: v for k, v in parameters.items() if k not in ("self", "__class__")},
                graph_parents=[self._logits, self._probs, self._temperature],
                name=name,
            )

    @property
    def event_size(self):
        return tf.shape(self._logits)[-1]

    @property
    def temperature(self):
        return self._temperature

    @property
    def logits(self):
        return self._logits

    @property
    def probs(self):
        return self._probs

    def _batch_shape_tensor(self):
        return tf.shape(self._logits)[:-1]

    def _batch_shape(self):
        return self._logits.shape[:-1]

    def _event_shape_tensor(self):
        return tf.shape(self._logits)[-1:]

    def _event_shape(self):
        return self._logits.shape.with_rank_at_least(1)[-1:]

    def _per_batch(self, temperature):
        return temperature if temperature.shape.ndims == 0 else temperature[..., tf.newaxis]

    def _sample_n(self, n, seed=None):
        shape = tf.concat([[n], tf.shape(self._logits)], 0)
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = tf.random_uniform(shape, minval=tiny, maxval=1.0, dtype=self.dtype, seed=seed)
        gumbel = -tf.log(-tf.log(uniform))
        return tf.nn.log_softmax((gumbel + self._logits) / self._per_batch(self._temperature))

    def _log_prob(self, x):
        k = tf.cast(self.event_size, x.dtype)
        t = self._temperature
        normalization = tf.lgamma(k) + (k - 1.0) * tf.log(t)
        unnormalized = tf.reduce_sum(tf.nn.log_softmax(self._logits - x * self._per_batch(t)), axis=-1)
        return normalization + unnormalized


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of the simplex near its corners; arguments as in `ExpRelaxedOneHotCategorical`."""

    def __init__(
        self,
        temperature,
        logits=None,
        probs=None,
        dtype=None,
        validate_args=False,
        allow_nan_stats=True,
        name="RelaxedOneHotCategorical",
    ):
        base = ExpRelaxedOneHotCategorical(
            temperature,
            logits=logits,
            probs=probs,
            dtype=dtype,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
        )
        super().__init__(base, Exp(validate_args=validate_args), validate_args=validate_args, name=name)

    @property
    def temperature(self):
        return self.distribution.temperature

    @property
    def event_size(self):
        return self.distribution.event_size

    @property
    def probs(self):
        return self.distribution.probs

    @property
    def logits(self):
        return self.distribution.logits


class RelaxedBernoulli(TransformedDistribution):
    """Numbers in (0, 1) near 0 and 1: the sigmoid of a logistic with location logits / T and scale 1 / T.

    Args:
      temperature: T, positive.
      logits: log odds of 1; or else
      probs: probability of 1.
      validate_args: whether bad parameters are an error when it runs.
      allow_nan_stats: see `Distribution`.
      name: name scope.
    """

    def __init__(
        self,
        temperature,
        logits=None,
        probs=None,
        validate_args=False,
        allow_nan_stats=True,
        name="RelaxedBernoulli",
    ):
        parameters = dict(locals())
        with tf.name_scope(name, values=[logits, probs, temperature]) as name:
            self._logits, self._probs = util.get_logits_and_probs(
                logits=logits, probs=probs, validate_args=validate_args
            )
            temperature = tf.convert_to_tensor(temperature, dtype=self._logits.dtype)
            checks = [tf.assert_positive(temperature, message="temperature must be > 0")] if validate_args else []
            with tf.control_dependencies(checks):
                self._temperature = tf.identity(temperature)
            base = Logistic(
                self._logits / self._temperature,
                1.0 / self._temperature,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name + "/Logistic",
            )
            super().__init__(base, Sigmoid(validate_args=validate_args), validate_args=validate_args, name=name)
        self._parameters = {k: v for k, v in parameters.items() if k not in ("self", "__class__")}

    @property
    def temperature(self):
        return self._temperature

    @property
    def logits(self):
        return self._logits

    @property
    def probs(self):
        return self._probs
