"""Heads of estimators that learn the parameters of a distribution of the labels."""

import tensorflow as tf


def estimator_head_distribution_regression(
    make_distribution_fn,
    label_dimension=1,
    logits_dimension=None,
    label_name=None,
    weight_column_name=None,
    enable_centered_bias=False,
    head_name=None,
):
    """A head of `tf.contrib.learn` whose loss is the negative log-likelihood of the labels, and whose prediction is the mean.

    Args:
      make_distribution_fn: logits `[batch, logits_dimension]` -> distribution of the labels, of batch shape `[batch]` (or
        `[batch, 1]` with scalar events).
      label_dimension: number of values in a label.
      logits_dimension: number of parameters; `label_dimension` by default.
      label_name: key of the label in a dict of labels.
      weight_column_name: feature by which an example's loss is multiplied.
      enable_centered_bias: whether there is a bias with a step of its own.
      head_name: appended to the names of metrics.

    Returns:
      A `Head`. `head.distributions` is a dict: logits -> distribution.
    """
    return _head_class()(
        make_distribution_fn,
        label_dimension,
        logits_dimension,
        label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
    )


def _head_class():
    # Here: distributions are used without estimators too.
    from tensorflow.contrib.learn import constants, head

    class DistributionRegressionHead(head._RegressionHead):
        def __init__(self, make_distribution_fn, label_dimension, logits_dimension, **names):
            super().__init__(label_dimension=label_dimension, link_fn=None, losses=None, **names)
            self._label_dimension = label_dimension
            self._logits_dimension = label_dimension if logits_dimension is None else logits_dimension
            self._make_distribution_fn = make_distribution_fn
            self._distributions = {}
            self._problem_type = constants.ProblemType.LINEAR_REGRESSION

        @property
        def distributions(self):
            return self._distributions

        def distribution(self, logits, name=None):
            """The distribution of these logits; one for each tensor."""
            with tf.name_scope(name, "distribution", [logits]):
                if logits not in self._distributions:
                    self._distributions[logits] = self._make_distribution_fn(logits)
                return self._distributions[logits]

        def _losses(self, labels, logits):
            distribution = self.distribution(logits)
            labels = tf.cast(labels, distribution.dtype)
            if labels.shape.ndims == 1:
                labels = tf.expand_dims(labels, 1)
            if not labels.shape.is_compatible_with([None, self._label_dimension]):
                raise ValueError(f"labels must have shape [batch, {self._label_dimension}], got {labels.shape}")
            whole = tf.concat([distribution.batch_shape_tensor(), distribution.event_shape_tensor()], 0)
            return -distribution.log_prob(tf.reshape(labels, whole))

        def _predictions(self, logits):
            scores = self.distribution(logits).mean()
            if scores.shape.ndims == 2 and scores.shape.dims[1].value == 1:
                scores = tf.squeeze(scores, [1])
            return {"scores": scores}

    return DistributionRegressionHead
