"""Draws from categorical and Bernoulli distributions, as helpers need them."""

import tensorflow as tf


def call_sampler(draw, sample_shape, name=None):
    """Calls `draw(n)`, n the product of `sample_shape`, and gives the result that shape in front."""
    with tf.name_scope(name, "call_sampler", values=[sample_shape]):
        sample_shape = tf.convert_to_tensor(sample_shape, dtype=tf.int32, name="sample_shape")
        # A scalar shape means a vector of one; as ops, whatever the rank, because default seeds count ops.
        is_scalar = tf.cast(tf.equal(tf.rank(sample_shape), 0), tf.int32)
        sample_shape = tf.reshape(sample_shape, tf.pad(tf.shape(sample_shape), [[is_scalar, 0]], constant_values=1))
        samples = draw(tf.reduce_prod(sample_shape))
        return tf.reshape(samples, tf.concat([sample_shape, tf.shape(samples)[1:]], 0))


def bernoulli_sample(probs=None, logits=None, dtype=tf.int32, sample_shape=(), seed=None):
    """Draws 1 (or True) with probability `probs`, or sigmoid(`logits`).

    Raises:
      ValueError: not exactly one of `probs` and `logits` is given.
    """
    if (probs is None) == (logits is None):
        raise ValueError("bernoulli_sample: pass probs or logits, not both")
    probs = tf.sigmoid(logits, name="probs") if probs is None else tf.convert_to_tensor(probs, name="probs")

    def draw(n):
        uniform = tf.random_uniform(tf.concat([[n], tf.shape(probs)], 0), seed=seed, dtype=probs.dtype)
        return tf.cast(tf.less(uniform, probs), dtype)

    return call_sampler(draw, sample_shape)


def categorical_sample(logits, dtype=tf.int32, sample_shape=(), seed=None):
    """Draws class numbers from softmax(`logits`), [..., classes]."""
    logits = tf.convert_to_tensor(logits, name="logits")
    classes = tf.shape(logits)[-1]
    batch = tf.shape(logits)[:-1]
    flat = logits if logits.shape.ndims == 2 else tf.reshape(logits, [-1, classes])

    def draw(n):
        # The op's own name scope: in 1.15 this is tf.multinomial.
        drawn = tf.multinomial(flat, n, seed=seed, output_dtype=tf.int64 if logits.dtype.size > 4 else tf.int32)
        return tf.cast(tf.reshape(tf.transpose(drawn), tf.concat([[n], batch], 0)), dtype)

    return call_sampler(draw, sample_shape)
