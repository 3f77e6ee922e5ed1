"""Statistics of samples and of streams of values; posteriors of conjugate normals; streams of seeds."""

import hashlib

import tensorflow as tf
from tensorflow.python.ops.distributions import normal


class SeedStream:
    """Seeds made of one: `stream()` gives the next.

    Args:
      seed: integer, another stream, or None (then all seeds are None).
      salt: string that makes streams of one seed differ.
    """

    def __init__(self, seed, salt):
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._counter = 0

    def __call__(self):
        self._counter += 1
        if self._seed is None:
            return None
        text = f"{self._seed}{self._counter}{self._salt}".encode()
        return int(hashlib.md5(text).hexdigest()[:8], 16) & 0x7FFFFFFF

    @property
    def original_seed(self):
        return self._seed

    @property
    def salt(self):
        return self._salt


def assign_moving_mean_variance(mean_var, variance_var, value, decay, name=None):
    """Updates a moving mean and variance: variance <- decay (variance + (1 - decay) (value - mean)^2), and the mean.

    Args:
      mean_var: variable.
      variance_var: variable.
      value: the new value.
      decay: number in (0, 1).
      name: name scope.

    Returns:
      (new mean, new variance).
    """
    with tf.name_scope(name, "assign_moving_mean_variance", [variance_var, mean_var, value, decay]):
        dtype = mean_var.dtype.base_dtype
        value = tf.convert_to_tensor(value, dtype=dtype, name="value")
        decay = tf.convert_to_tensor(decay, dtype=dtype, name="decay")
        delta = value - mean_var
        with tf.control_dependencies([delta]):
            mean = tf.assign_add(mean_var, (1.0 - decay) * delta)
            variance = tf.assign_sub(variance_var, (1.0 - decay) * (variance_var - decay * tf.square(delta)))
        return mean, variance


def assign_log_moving_mean_exp(log_mean_exp_var, log_value, decay, name=None):
    """Updates log of the moving mean of exp(`log_value`), without leaving the logarithms.

    Args:
      log_mean_exp_var: variable.
      log_value: logarithm of the new value.
      decay: number in (0, 1).
      name: name scope.

    Returns:
      The new value.
    """
    with tf.name_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay]):
        dtype = log_mean_exp_var.dtype.base_dtype
        log_value = tf.convert_to_tensor(log_value, dtype=dtype, name="log_value")
        decay = tf.convert_to_tensor(decay, dtype=dtype, name="decay")
        parts = tf.stack([log_mean_exp_var + tf.log(decay), log_value + tf.log1p(-decay)])
        return tf.assign(log_mean_exp_var, tf.reduce_logsumexp(parts, axis=0))


def moving_mean_variance(value, decay, collections=None, name=None):
    """New variables with the moving mean and variance of `value`, updated each time that the results are read.

    Args:
      value: tensor.
      decay: number in (0, 1).
      collections: of the variables, global ones by default.
      name: variable scope.

    Returns:
      (mean, variance).
    """
    if collections is None:
        collections = [tf.GraphKeys.GLOBAL_VARIABLES]
    with tf.variable_scope(name, "moving_mean_variance", [value, decay]):
        value = tf.convert_to_tensor(value, name="value")
        dtype = value.dtype.base_dtype
        mean, variance = (
            tf.get_variable(
                which,
                shape=value.shape,
                dtype=dtype,
                initializer=tf.zeros_initializer(),
                trainable=False,
                collections=collections,
            )
            for which in ("moving_mean", "moving_variance")
        )
        return assign_moving_mean_variance(mean, variance, value, decay)


def percentile(x, q, axis=None, interpolation=None, keep_dims=False, validate_args=False, name=None):
    """The `q`-th percentile: the value at q / 100 of the way from the least to the greatest, in sorted order.

    Args:
      x: tensor of floats or integers.
      q: scalar in 0..100.
      axis: integer or list of known integers; all by default.
      interpolation: "nearest" (the default), "lower" or "higher", between two values.
      keep_dims: whether reduced dimensions stay, of size 1.
      validate_args: whether another `q` is an error when it runs.
      name: name scope.

    Raises:
      ValueError: another `interpolation`, or an `axis` that is not known.
    """
    name = name or "percentile"
    if interpolation is None:
        interpolation = "nearest"
    elif interpolation not in ("lower", "higher", "nearest"):
        raise ValueError(f"Argument 'interpolation' must be in ('lower', 'higher', 'nearest'). Found {interpolation}")
    with tf.name_scope(name, values=[x, q]):
        x = tf.convert_to_tensor(x, name="x")
        q = tf.cast(q, tf.float64)
        if q.shape.ndims not in (0, None):
            raise ValueError(f"q must be a scalar, got shape {q.shape}")
        if validate_args:
            checks = [tf.assert_greater_equal(q, tf.cast(0, q.dtype)), tf.assert_less_equal(q, tf.cast(100, q.dtype))]
            with tf.control_dependencies(checks):
                q = tf.identity(q)
        rank = x.shape.ndims
        if axis is None:
            axes = list(range(rank))
        else:
            static = tf.get_static_value(tf.convert_to_tensor(axis))
            if static is None:
                raise ValueError("Expected argument 'axis' to be statically available.")
            axes = sorted({int(a) % rank for a in static.ravel()})
        kept = [a for a in range(rank) if a not in axes]
        y = tf.transpose(x, kept + axes)
        y = tf.reshape(y, tf.concat([tf.gather(tf.shape(x), tf.constant(kept, tf.int32)), [-1]], 0))
        count = tf.shape(y)[-1]
        ordered = tf.sort(y, axis=-1)
        position = q / 100.0 * tf.cast(count - 1, tf.float64)
        rounded = {"lower": tf.floor, "higher": tf.ceil, "nearest": tf.round}[interpolation](position)
        index = tf.clip_by_value(tf.cast(rounded, tf.int32), 0, count - 1)
        result = tf.gather(ordered, index, axis=-1)
        if keep_dims:
            for a in axes:
                result = tf.expand_dims(result, a)
        return result


def auto_correlation(x, axis=-1, max_lags=None, center=True, normalize=True, name="auto_correlation"):
    """E[(X[0] - EX) conj(X[m] - EX)] of lags m = 0, 1, ..., estimated along an axis.

    Args:
      x: floats or complex numbers.
      axis: the axis of time.
      max_lags: the last lag; all by default.
      center: whether the mean is taken off.
      normalize: whether it is divided by the value of lag 0.
      name: name scope.

    Returns:
      A tensor like `x`, of length `max_lags` + 1 along `axis`.
    """
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        rank = x.shape.ndims
        axis %= rank
        moved = tf.transpose(x, [a for a in range(rank) if a != axis] + [axis])
        if center:
            moved -= tf.reduce_mean(moved, axis=-1, keepdims=True)
        count = tf.shape(moved)[-1]
        # Zeros behind keep the ends from meeting in the circular product.
        spectrum_of = tf.pad(moved, [[0, 0]] * (rank - 1) + [[0, count]])
        complex_type = x.dtype if x.dtype.is_complex else (tf.complex128 if x.dtype == tf.float64 else tf.complex64)
        spectrum = tf.fft(tf.cast(spectrum_of, complex_type))
        product = tf.ifft(spectrum * tf.conj(spectrum))
        product = tf.cast(product, x.dtype) if x.dtype.is_complex else tf.cast(tf.real(product), x.dtype)
        lags = count if max_lags is None else tf.minimum(count, tf.cast(max_lags, tf.int32) + 1)
        terms = tf.cast(count - tf.range(lags), x.dtype)
        result = product[..., :lags] / terms
        if normalize:
            result /= result[..., :1]
        inverse = list(range(rank - 1))
        inverse.insert(axis, rank - 1)
        return tf.transpose(result, inverse)


def normal_conjugates_known_scale_posterior(prior, scale, s, n):
    """The posterior of a normal's mean under a normal prior.

    Args:
      prior: `Normal`.
      scale: known deviation of the observations.
      s: their sum.
      n: their number.

    Returns:
      `Normal`.

    Raises:
      TypeError: `prior` is of another type or dtype.
    """
    _check_prior(prior, s)
    n = tf.cast(n, prior.dtype)
    prior_precision, precision = tf.reciprocal(tf.square(prior.scale)), tf.reciprocal(tf.square(scale))
    variance = tf.reciprocal(prior_precision + n * precision)
    return normal.Normal(loc=(prior.loc * prior_precision + s * precision) * variance, scale=tf.sqrt(variance))


def normal_conjugates_known_scale_predictive(prior, scale, s, n):
    """The distribution of the next observation; arguments as in `normal_conjugates_known_scale_posterior`."""
    posterior = normal_conjugates_known_scale_posterior(prior, scale, s, n)
    return normal.Normal(loc=posterior.loc, scale=tf.sqrt(tf.square(posterior.scale) + tf.square(scale)))


def _check_prior(prior, s):
    if not isinstance(prior, normal.Normal):
        raise TypeError(f"Expected prior to be an instance of type Normal, got {type(prior)}")
    if s.dtype != prior.dtype:
        raise TypeError(f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. {prior.dtype}")
