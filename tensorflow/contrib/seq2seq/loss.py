"""Cross entropy of sequences."""

import tensorflow as tf


def sequence_loss(
    logits,
    targets,
    weights,
    average_across_timesteps=True,
    average_across_batch=True,
    sum_over_timesteps=False,
    sum_over_batch=False,
    softmax_loss_function=None,
    name=None,
):
    """Weighted cross entropy, averaged over time, batch or both.

    An average divides by the sum of the weights; a sum divides by the number of weights that are not zero.

    Args:
      logits: [batch, time, classes].
      targets: [batch, time] class numbers.
      weights: [batch, time].
      average_across_timesteps: average over time.
      average_across_batch: average over the batch.
      sum_over_timesteps: sum over time.
      sum_over_batch: sum over the batch.
      softmax_loss_function: function of keywords (labels, logits) in place of sparse softmax cross entropy.
      name: name scope, "sequence_loss" by default.

    Returns:
      [batch, time], [batch], [time] or a scalar, as the arguments say.

    Raises:
      ValueError: wrong ranks, or average and sum over one dimension, or average over one and sum over the other.
    """
    for what, tensor, rank in (("Logits", logits, 3), ("Targets", targets, 2), ("Weights", weights, 2)):
        if len(tensor.shape) != rank:
            raise ValueError(f"{what} must be a {rank}-D tensor, got shape {tensor.shape}")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError("average_across_timesteps and sum_over_timesteps cannot be set to True at same time.")
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch cannot be set to True at same time.")
    if (average_across_batch or average_across_timesteps) and (sum_over_timesteps or sum_over_batch):
        if (average_across_batch and sum_over_timesteps) or (average_across_timesteps and sum_over_batch):
            raise ValueError("An average over one dimension and a sum over the other cannot be set at the same time.")
    with tf.name_scope(name, "sequence_loss", [logits, targets, weights]):
        flat = tf.reshape(logits, [-1, tf.shape(logits)[2]])
        targets = tf.reshape(targets, [-1])
        cross_entropy = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
        losses = cross_entropy(labels=targets, logits=flat)
        losses *= tf.reshape(weights, [-1])
        over_time = average_across_timesteps or sum_over_timesteps
        over_batch = average_across_batch or sum_over_batch
        axis = None
        if not (over_time and over_batch):
            losses = tf.reshape(losses, tf.shape(logits)[0:2])
            if not (over_time or over_batch):
                return losses
            axis = [0] if over_batch else [1]
        losses = tf.reduce_sum(losses, axis=axis)
        if average_across_timesteps or average_across_batch:
            total = tf.reduce_sum(weights, axis=axis)
        else:
            total = tf.cast(tf.count_nonzero(weights, axis=axis), losses.dtype)
        return tf.div_no_nan(losses, total)
