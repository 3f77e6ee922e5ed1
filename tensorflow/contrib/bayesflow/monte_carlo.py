"""Expectations by sampling."""

import tensorflow as tf


def expectation_importance_sampler(
    f, log_p, sampling_dist_q, z=None, n=None, seed=None, name="expectation_importance_sampler"
):
    """E_p[f(Z)] by samples of q: the mean of f(z) p(z) / q(z).

    Args:
      f: function of samples.
      log_p: function of samples, log density of p.
      sampling_dist_q: distribution q.
      z: samples of q; or else
      n: number of samples.
      seed: seed of the samples.
      name: name scope.

    Raises:
      ValueError: not exactly one of `z` and `n` is given.
    """
    q = sampling_dist_q
    with tf.name_scope(name, values=[z, n]):
        z = _samples(q, z, n, seed)
        log_ratio = log_p(z) - q.log_prob(z)
        # Positive and negative parts apart: each has a logarithm.
        f_z = f(z)
        greatest = tf.stop_gradient(tf.reduce_max(log_ratio, axis=0))
        return tf.exp(greatest) * tf.reduce_mean(f_z * tf.exp(log_ratio - greatest), axis=0)


def expectation_importance_sampler_logspace(
    log_f, log_p, sampling_dist_q, z=None, n=None, seed=None, name="expectation_importance_sampler_logspace"
):
    """log E_p[exp(log_f(Z))]; arguments as in `expectation_importance_sampler`."""
    q = sampling_dist_q
    with tf.name_scope(name, values=[z, n]):
        z = _samples(q, z, n, seed)
        values = log_f(z) + log_p(z) - q.log_prob(z)
        return tf.reduce_logsumexp(values, axis=0) - tf.log(tf.cast(tf.shape(values)[0], values.dtype))


def _samples(q, z, n, seed):
    if (z is None) == (n is None):
        raise ValueError("Must specify exactly one of arguments `n` and `z`.")
    return q.sample(n, seed=seed) if z is None else tf.convert_to_tensor(z, name="z")


def expectation(f, samples, log_prob=None, use_reparametrization=True, axis=0, keep_dims=False, name=None):
    """The mean of f over samples, with a gradient for the distribution's parameters.

    Args:
      f: function of samples.
      samples: draws along `axis`.
      log_prob: log density; needed without reparametrization (score function gradient).
      use_reparametrization: whether gradients go through the samples.
      axis: integer or list.
      keep_dims: whether reduced dimensions stay, of size 1.
      name: name scope.

    Raises:
      ValueError: no reparametrization and `log_prob` is no function.
    """
    with tf.name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return tf.reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        samples = tf.stop_gradient(samples)
        values, log_p = f(samples), log_prob(samples)
        # The value is f's; the gradient also f times that of log p.
        return tf.reduce_mean(
            values + tf.stop_gradient(values) * (log_p - tf.stop_gradient(log_p)), axis=axis, keepdims=keep_dims
        )
