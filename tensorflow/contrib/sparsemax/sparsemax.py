"""Sparsemax (Martins and Astudillo 2016, arXiv:1602.02068)."""

import tensorflow as tf


def sparsemax(logits, name=None):
    """The point of the simplex that lies nearest to each row: like softmax, with zeros.

    Args:
      logits: [batch, classes] floats.
      name: name scope.

    Returns:
      [batch, classes]; NaN rows where logits have NaN or +inf.
    """
    with tf.name_scope(name, "sparsemax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        rows, classes = tf.shape(logits)[0], tf.shape(logits)[1]
        ordered, _ = tf.nn.top_k(logits, k=classes)
        sums = tf.cumsum(ordered, axis=1)
        k = tf.range(1, tf.cast(classes, logits.dtype) + 1, dtype=logits.dtype)
        support = tf.reduce_sum(tf.cast(1 + k * ordered > sums, tf.int32), axis=1)
        # Rows with NaN have support 0; their index must not be -1.
        last = tf.maximum(support, 1) - 1
        at_support = tf.gather_nd(sums, tf.stack([tf.range(0, rows), last], axis=1))
        threshold = (at_support - 1) / tf.cast(support, logits.dtype)
        p = tf.maximum(tf.cast(0, logits.dtype), logits - threshold[:, tf.newaxis])
        bad = tf.logical_or(tf.equal(support, 0), tf.is_nan(sums[:, -1]))
        return tf.where(bad, tf.fill([rows, classes], tf.cast(float("nan"), logits.dtype)), p)
