"""Discrete distributions: binomial, negative binomial, geometric, Poisson, one-hot, points; quantized ones."""

import tensorflow as tf
from tensorflow.python.ops.distributions import kullback_leibler, util

from tensorflow.contrib.distributions.base import (
    NOT_REPARAMETERIZED,
    BroadcastDistribution,
    Distribution,
    positive,
)


class _LogitsOrProbs(BroadcastDistribution):
    @property
    def logits(self):
        return self._logits

    @property
    def probs(self):
        return self._probs


class Binomial(_LogitsOrProbs):
    """The number of successes in `total_count` trials.

    Args:
      total_count: number of trials, in floats.
      logits: log odds of a success; or else
      probs: probability of a success.
      validate_args: whether counts that are no integers in 0..total_count are an error when it runs.
      allow_nan_stats: see `Distribution`.
      name: name scope.
    """

    def __init__(
        self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Binomial"
    ):
        arguments = dict(locals())
        with tf.name_scope(name, values=[total_count, logits, probs]) as name:
            total_count = tf.convert_to_tensor(total_count, name="total_count")
            checks = [tf.assert_non_negative(total_count, message="total_count must be >= 0")] if validate_args else []
            with tf.control_dependencies(checks):
                total_count = tf.identity(total_count)
            logits, probs = util.get_logits_and_probs(logits, probs, validate_args=validate_args, name=name)
            self._set_up(
                name, validate_args, allow_nan_stats, NOT_REPARAMETERIZED, arguments,
                total_count=total_count, logits=logits, probs=probs,
            )  # fmt: skip

    @property
    def total_count(self):
        return self._total_count

    def _checked(self, counts):
        if not self.validate_args:
            return counts
        counts = util.embed_check_nonnegative_integer_form(counts)
        with tf.control_dependencies(
            [tf.assert_less_equal(counts, self.total_count, message="counts are not less than or equal to n.")]
        ):
            return tf.identity(counts)

    def _sample_n(self, n, seed=None):
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        # As many uniforms as the most trials; those past a batch entry's own number do not count.
        trials = tf.cast(tf.reduce_max(self.total_count), tf.int32)
        uniform = tf.random_uniform(tf.concat([shape, [trials]], 0), dtype=self.dtype, seed=seed)
        mine = tf.cast(tf.range(trials), self.dtype) < self._filled(self.total_count)[..., tf.newaxis]
        success = tf.logical_and(uniform < self._filled(self.probs)[..., tf.newaxis], mine)
        return tf.reduce_sum(tf.cast(success, self.dtype), -1)

    def _log_prob(self, counts):
        counts = self._checked(counts)
        n = self.total_count
        combinations = tf.lgamma(1.0 + n) - tf.lgamma(1.0 + counts) - tf.lgamma(1.0 + n - counts)
        # Probabilities 0 and 1 with counts 0 and n: 0 log 0 is 0.
        return combinations - counts * tf.nn.softplus(-self.logits) - (n - counts) * tf.nn.softplus(self.logits)

    def _cdf(self, counts):
        counts = self._filled(self._checked(counts))
        n = self.total_count + tf.zeros_like(counts)
        failure = 1 - self.probs + tf.zeros_like(counts)
        below = tf.betainc(tf.maximum(n - tf.floor(counts), 1e-30), 1 + tf.floor(counts), failure)
        return tf.where(counts >= n, tf.ones_like(below), below)

    def _mean(self):
        return self.total_count * self.probs

    def _variance(self):
        return self._mean() * (1 - self.probs)

    def _mode(self):
        return tf.floor((1.0 + self.total_count) * self.probs)


class NegativeBinomial(_LogitsOrProbs):
    """The number of successes until `total_count` failures.

    Args:
      total_count: number of failures, a positive float.
      logits: log odds of a success; or else
      probs: probability of a success.
      validate_args: whether bad parameters and counts are an error when it runs.
      allow_nan_stats: see `Distribution`.
      name: name scope.
    """

    def __init__(
        self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="NegativeBinomial"
    ):
        arguments = dict(locals())
        with tf.name_scope(name, values=[total_count, logits, probs]) as name:
            logits, probs = util.get_logits_and_probs(logits, probs, validate_args=validate_args, name=name)
            total_count = tf.convert_to_tensor(total_count, dtype=logits.dtype)
            with tf.control_dependencies(positive(("total_count", total_count)) if validate_args else []):
                total_count = tf.identity(total_count)
            self._set_up(
                name, validate_args, allow_nan_stats, NOT_REPARAMETERIZED, arguments,
                total_count=total_count, logits=logits, probs=probs,
            )  # fmt: skip

    @property
    def total_count(self):
        return self._total_count

    def _sample_n(self, n, seed=None):
        # A Poisson whose rate is a gamma.
        stream = distribution_util_seeds(seed, "NegativeBinomial")
        rate = tf.random_gamma(
            shape=[n],
            alpha=self._filled(self.total_count),
            beta=tf.exp(-self.logits),
            dtype=self.dtype,
            seed=next(stream),
        )
        return tf.random_poisson(rate, shape=[], dtype=self.dtype, seed=next(stream))

    def _cdf(self, x):
        if self.validate_args:
            x = util.embed_check_nonnegative_integer_form(x)
        return tf.betainc(self._filled(self.total_count) + 0 * x, 1.0 + x, self._filled(1 - self.probs) + 0 * x)

    def _log_prob(self, x):
        if self.validate_args:
            x = util.embed_check_nonnegative_integer_form(x)
        n = self.total_count
        unnormalized = n * -tf.nn.softplus(self.logits) + x * -tf.nn.softplus(-self.logits)
        return unnormalized + tf.lgamma(n + x) - tf.lgamma(1.0 + x) - tf.lgamma(n)

    def _mean(self):
        return self.total_count * tf.exp(self.logits)

    def _mode(self):
        adjusted = tf.where(
            1.0 < self._filled(self.total_count), self._filled(self.total_count - 1.0), self._filled(0.0)
        )
        return adjusted * tf.exp(self.logits)

    def _variance(self):
        return self._mean() / tf.sigmoid(-self.logits)


def distribution_util_seeds(seed, salt):
    """An endless row of seeds made of one."""
    while True:
        seed = util.gen_new_seed(seed, salt)
        yield seed


class Geometric(_LogitsOrProbs):
    """The number of failures before the first success, 0, 1, ...

    Args:
      logits: log odds of a success; or else
      probs: probability of a success, in (0, 1].
      validate_args: whether bad parameters and counts are an error when it runs.
      allow_nan_stats: see `Distribution`.
      name: name scope.
    """

    def __init__(self, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Geometric"):
        arguments = dict(locals())
        with tf.name_scope(name, values=[logits, probs]) as name:
            logits, probs = util.get_logits_and_probs(logits, probs, validate_args=validate_args, name=name)
            with tf.control_dependencies(positive(("probs", probs)) if validate_args else []):
                probs = tf.identity(probs, name="probs")
            self._set_up(
                name, validate_args, allow_nan_stats, NOT_REPARAMETERIZED, arguments, probs=probs, logits=logits
            )

    def _sample_n(self, n, seed=None):
        return tf.floor(tf.log(self._open_uniform(n, seed)) / tf.log1p(-self.probs))

    def _cdf(self, x):
        if self.validate_args:
            x = util.embed_check_nonnegative_integer_form(x)
        else:
            x = tf.floor(x)
        value = -tf.expm1((1.0 + x) * tf.log1p(-self.probs))
        return tf.where(x < 0 + tf.zeros_like(value), tf.zeros_like(value), value)

    def _log_prob(self, x):
        if self.validate_args:
            x = util.embed_check_nonnegative_integer_form(x)
        probs = self.probs + tf.zeros_like(x)
        # 0 log 0 is 0: a success is sure, and the count 0.
        safe = tf.where(tf.equal(x, 0.0), tf.zeros_like(probs), probs)
        return x * tf.log1p(-safe) + tf.log(probs)

    def _entropy(self):
        probs = self._probs
        safe = tf.where(tf.equal(probs, 1.0), tf.zeros_like(probs), probs)
        return (-tf.log(probs) * probs - tf.log1p(-safe) * (1 - probs)) / probs

    def _mean(self):
        return tf.exp(-self.logits)

    def _variance(self):
        return self._mean() / self.probs

    def _mode(self):
        return tf.zeros(self.batch_shape_tensor(), dtype=self.dtype)


class Poisson(BroadcastDistribution):
    """The Poisson distribution.

    Args:
      rate: positive; or else
      log_rate: its logarithm.
      validate_args: whether bad parameters and counts are an error when it runs.
      allow_nan_stats: see `Distribution`.
      name: name scope.

    Raises:
      ValueError: not exactly one of `rate` and `log_rate` is given.
      TypeError: it is no float.
    """

    def __init__(self, rate=None, log_rate=None, validate_args=False, allow_nan_stats=True, name="Poisson"):
        arguments = dict(locals())
        with tf.name_scope(name, values=[rate, log_rate]) as name:
            if (rate is None) == (log_rate is None):
                raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
            given = tf.convert_to_tensor(rate if log_rate is None else log_rate)
            if not given.dtype.is_floating:
                raise TypeError(f"rate.dtype ({given.dtype.name}) is a not a float-type.")
            if log_rate is None:
                with tf.control_dependencies(positive(("rate", given)) if validate_args else []):
                    rate = tf.identity(given, name="rate")
                    log_rate = tf.log(given, name="log_rate")
            else:
                rate, log_rate = tf.exp(given, name="rate"), given
            self._set_up(name, validate_args, allow_nan_stats, NOT_REPARAMETERIZED, arguments, rate=rate)
            self._log_rate = log_rate

    @property
    def rate(self):
        return self._rate

    @property
    def log_rate(self):
        return self._log_rate

    def _log_prob(self, x):
        if self.validate_args:
            x = util.embed_check_nonnegative_integer_form(x)
        return x * self.log_rate - tf.lgamma(1.0 + x) - self.rate

    def _cdf(self, x):
        x = util.embed_check_nonnegative_integer_form(x) if self.validate_args else tf.floor(x)
        value = tf.igammac(1.0 + tf.maximum(x, -0.5) + tf.zeros_like(self.rate), self.rate + tf.zeros_like(x))
        return tf.where(x < 0 + tf.zeros_like(value), tf.zeros_like(value), value)

    def _mean(self):
        return tf.identity(self.rate)

    def _variance(self):
        return tf.identity(self.rate)

    def _mode(self):
        return tf.floor(self.rate)

    def _sample_n(self, n, seed=None):
        return tf.random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)


class OneHotCategorical(Distribution):
    """One-hot vectors; see `tf.distributions.Categorical` for the parameters.

    Args:
      logits: [..., n] unnormalized log probabilities; or else
      probs: [..., n] probabilities.
      dtype: of samples, int32 by default.
      validate_args: whether bad parameters and values are an error when it runs.
      allow_nan_stats: see `Distribution`.
      name: name scope.
    """

    def __init__(
        self,
        logits=None,
        probs=None,
        dtype=tf.int32,
        validate_args=False,
        allow_nan_stats=True,
        name="OneHotCategorical",
    ):
        parameters = dict(locals())
        with tf.name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = util.get_logits_and_probs(
                name=name, logits=logits, probs=probs, validate_args=validate_args, multidimensional=True
            )
            super().__init__(
                dtype=dtype,
                reparameterization_type=NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters={k: v for k, v in parameters.items() if k not in ("self", "__class__")},
                graph_parents=[self._logits, self._probs],
                name=name,
            )

    @property
    def event_size(self):
        return tf.shape(self._logits)[-1]

    @property
    def logits(self):
        return self._logits

    @property
    def probs(self):
        return self._probs

    def _batch_shape_tensor(self):
        return tf.shape(self.logits)[:-1]

    def _batch_shape(self):
        return self.logits.shape[:-1]

    def _event_shape_tensor(self):
        return tf.shape(self.logits)[-1:]

    def _event_shape(self):
        return self.logits.shape.with_rank_at_least(1)[-1:]

    def _sample_n(self, n, seed=None):
        size = self.event_size
        flat = tf.reshape(self.logits, [-1, size])
        drawn = tf.transpose(tf.multinomial(flat, n, seed=seed))
        shape = tf.concat([[n], self.batch_shape_tensor(), [size]], 0)
        return tf.cast(tf.reshape(tf.one_hot(drawn, size), shape), self.dtype)

    def _log_prob(self, x):
        x = tf.cast(x, self.logits.dtype)
        if self.validate_args:
            check = tf.assert_near(tf.reduce_sum(x, -1), tf.ones([], x.dtype), message="value must be one-hot")
            with tf.control_dependencies([check]):
                x = tf.identity(x)
        log_p = tf.nn.log_softmax(self.logits + tf.zeros_like(x))
        # -inf logits of other classes must not make NaN.
        return tf.reduce_sum(tf.where(tf.equal(x, 0), tf.zeros_like(log_p), x * log_p), -1)

    def _entropy(self):
        log_p = tf.nn.log_softmax(self.logits)
        return -tf.reduce_sum(tf.where(tf.equal(self.probs, 0), tf.zeros_like(log_p), log_p * self.probs), axis=-1)

    def _mode(self):
        return tf.one_hot(tf.argmax(self.logits, axis=-1), self.event_size, dtype=self.dtype)

    def _mean(self):
        return self.probs

    def _covariance(self):
        p = self.probs
        return tf.matrix_set_diag(-tf.matmul(p[..., tf.newaxis], p[..., tf.newaxis, :]), self._variance())

    def _variance(self):
        return self.probs * (1.0 - self.probs)


@kullback_leibler.RegisterKL(OneHotCategorical, OneHotCategorical)
def _kl_one_hot(a, b, name=None):
    with tf.name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        difference = tf.nn.log_softmax(a.logits) - tf.nn.log_softmax(b.logits)
        return tf.reduce_sum(tf.nn.softmax(a.logits) * difference, -1)


class _Points(Distribution):
    """All the mass at `loc`; a value within atol + rtol |loc| counts as it."""

    def __init__(self, loc, atol, rtol, is_vector, validate_args, allow_nan_stats, parameters, name):
        with tf.name_scope(name, values=[loc, atol, rtol]) as name:
            loc = tf.convert_to_tensor(loc, name="loc")
            if is_vector and validate_args:
                with tf.control_dependencies([tf.assert_rank_at_least(loc, 1)]):
                    loc = tf.identity(loc)
            self._loc = loc
            super().__init__(
                dtype=loc.dtype.base_dtype,
                reparameterization_type=NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters={k: v for k, v in parameters.items() if k not in ("self", "__class__")},
                graph_parents=[loc],
                name=name,
            )
            zero = tf.zeros([], loc.dtype)
            self._atol = zero if atol is None else tf.convert_to_tensor(atol, dtype=loc.dtype)
            self._rtol = zero if rtol is None else tf.convert_to_tensor(rtol, dtype=loc.dtype)

    @property
    def loc(self):
        return self._loc

    @property
    def atol(self):
        return self._atol

    @property
    def rtol(self):
        return self._rtol

    @property
    def _slack(self):
        return self.atol + self.rtol * tf.abs(self.loc)

    def _entropy(self):
        return tf.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self):
        return tf.identity(self.loc)

    def _variance(self):
        return tf.zeros_like(self.loc)

    def _mode(self):
        return self.mean()

    def _sample_n(self, n, seed=None):
        return tf.tile(self.loc[tf.newaxis], tf.concat([[n], tf.ones([tf.rank(self.loc)], tf.int32)], 0))


class Deterministic(_Points):
    """The number `loc`, for sure.

    Args:
      loc: tensor.
      atol: absolute slack of equality, 0 by default.
      rtol: slack relative to `loc`, 0 by default.
      validate_args: see `Distribution`.
      allow_nan_stats: see `Distribution`.
      name: name scope.
    """

    def __init__(self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True, name="Deterministic"):
        super().__init__(loc, atol, rtol, False, validate_args, allow_nan_stats, dict(locals()), name)

    def _batch_shape_tensor(self):
        return tf.shape(self.loc)

    def _batch_shape(self):
        return self.loc.shape

    def _event_shape_tensor(self):
        return tf.constant([], dtype=tf.int32)

    def _event_shape(self):
        return tf.TensorShape([])

    def _prob(self, x):
        return tf.cast(tf.abs(x - self.loc) <= self._slack, dtype=self.dtype)

    def _cdf(self, x):
        return tf.cast(x >= self.loc - self._slack, dtype=self.dtype)


class VectorDeterministic(_Points):
    """The vector `loc`, for sure; arguments as in `Deterministic`, the last dimension is the event."""

    def __init__(
        self, loc, atol=None, rtol=None, validate_args=False, allow_nan_stats=True, name="VectorDeterministic"
    ):
        super().__init__(loc, atol, rtol, True, validate_args, allow_nan_stats, dict(locals()), name)

    def _batch_shape_tensor(self):
        return tf.shape(self.loc)[:-1]

    def _batch_shape(self):
        return self.loc.shape[:-1]

    def _event_shape_tensor(self):
        return tf.shape(self.loc)[-1:]

    def _event_shape(self):
        return self.loc.shape[-1:]

    def _prob(self, x):
        return tf.cast(tf.reduce_all(tf.abs(x - self.loc) <= self._slack, axis=-1), dtype=self.dtype)


class QuantizedDistribution(Distribution):
    """ceil(X) of a distribution of numbers, cut to low..high.

    Args:
      distribution: of X; it must have a distribution function.
      low: the least value, none by default.
      high: the greatest value, none by default.
      validate_args: whether cutoffs and values that are no integers are an error when it runs.
      name: name scope.

    Raises:
      TypeError: the distribution has no `cdf` or no `survival_function`.
    """

    def __init__(self, distribution, low=None, high=None, validate_args=False, name="QuantizedDistribution"):
        parameters = dict(locals())
        with tf.name_scope(name, values=[low, high]) as name:
            self._dist = distribution
            self._low = None if low is None else tf.convert_to_tensor(low, name="low", dtype=distribution.dtype)
            self._high = None if high is None else tf.convert_to_tensor(high, name="high", dtype=distribution.dtype)
            if validate_args and low is not None and high is not None:
                check = tf.assert_greater(self._high, self._low, message="low must be strictly less than high.")
                with tf.control_dependencies([check]):
                    self._low = tf.identity(self._low)
            super().__init__(
                dtype=distribution.dtype,
                reparameterization_type=NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=distribution.allow_nan_stats,
                parameters={k: v for k, v in parameters.items() if k not in ("self", "__class__")},
                graph_parents=[t for t in (self._low, self._high) if t is not None] + distribution._graph_parents,
                name=name,
            )

    @property
    def distribution(self):
        return self._dist

    @property
    def low(self):
        return self._low

    @property
    def high(self):
        return self._high

    def _batch_shape_tensor(self):
        return self.distribution.batch_shape_tensor()

    def _batch_shape(self):
        return self.distribution.batch_shape

    def _event_shape_tensor(self):
        return self.distribution.event_shape_tensor()

    def _event_shape(self):
        return self.distribution.event_shape

    def _sample_n(self, n, seed=None):
        x = tf.ceil(self.distribution.sample(sample_shape=n, seed=seed))
        if self._low is not None:
            x = tf.maximum(x, self._low)
        return x if self._high is None else tf.minimum(x, self._high)

    def _prob(self, y):
        y = util.embed_check_integer_casting_closed(y, target_dtype=self.dtype) if self.validate_args else y
        # Of the two ends, the pair that lies in the smaller tail keeps its digits.
        left = self._cdf(y) - self._cdf(y - 1)
        right = self._survival(y - 1) - self._survival(y)
        return tf.where(self._survival(y) < self._cdf(y - 1), right, left)

    def _log_prob(self, y):
        return tf.log(self._prob(y))

    def _cdf(self, y):
        j = tf.floor(y)
        value = self.distribution.cdf(j)
        if self._low is not None:
            value = tf.where(j < self._low + tf.zeros_like(value), tf.zeros_like(value), value)
        if self._high is not None:
            value = tf.where(j >= self._high + tf.zeros_like(value), tf.ones_like(value), value)
        return value

    def _survival(self, y):
        j = tf.floor(y)
        value = self.distribution.survival_function(j)
        if self._low is not None:
            value = tf.where(j < self._low + tf.zeros_like(value), tf.ones_like(value), value)
        if self._high is not None:
            value = tf.where(j >= self._high + tf.zeros_like(value), tf.zeros_like(value), value)
        return value

    def _survival_function(self, y):
        return self._survival(y)

    def _log_cdf(self, y):
        return tf.log(self._cdf(y))

    def _log_survival_function(self, y):
        return tf.log(self._survival(y))
