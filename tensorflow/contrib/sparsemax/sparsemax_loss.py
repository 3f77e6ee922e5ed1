"""The loss that goes with sparsemax (Martins and Astudillo 2016, arXiv:1602.02068)."""

import tensorflow as tf


def sparsemax_loss(logits, sparsemax, labels, name=None):
    """The loss whose gradient is sparsemax(logits) - labels.

    Args:
      logits: [batch, classes].
      sparsemax: [batch, classes], `sparsemax(logits)`.
      labels: [batch, classes], 0 or 1 or a distribution.
      name: name scope.

    Returns:
      [batch].
    """
    with tf.name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits = tf.convert_to_tensor(logits, name="logits")
        sparsemax = tf.convert_to_tensor(sparsemax, name="sparsemax")
        labels = tf.convert_to_tensor(labels, name="labels")
        # Where the output is 0, -inf logits must not make NaN.
        support = sparsemax > 0
        total = tf.where(tf.logical_or(support, tf.is_nan(sparsemax)), sparsemax * (logits - 0.5 * sparsemax),
                         tf.zeros_like(sparsemax))  # fmt: skip
        label_part = labels * (0.5 * labels - logits)
        # A label 0 has no part, whatever its logit.
        label_part = tf.where(
            tf.logical_and(tf.equal(labels, 0), tf.is_inf(logits)), tf.zeros_like(label_part), label_part
        )
        return tf.reduce_sum(total + label_part, axis=1)
