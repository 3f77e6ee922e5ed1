"""Losses and metrics of Keras that build, or count, the ops of 1.15's: the op seeds count them (`op_seeds`)."""

import functools

from tensorflow.api_v1 import import_hooks
from tensorflow.api_v1.keras_op_counts import counting
from tensorflow.api_v1.restored import op_counts


def install() -> None:
    import_hooks.after_import("tf_keras.src.utils.losses_utils", _losses)
    import_hooks.after_import("tf_keras.src.utils.metrics_utils", _metrics)
    import_hooks.after_import("tf_keras.src.metrics.accuracy_metrics", _accuracy)
    import_hooks.after_import("tf_keras.src.metrics.confusion_metrics", _sensitivity)
    import_hooks.after_import("tf_keras.src.metrics.iou_metrics", _iou)


def _losses(module) -> None:
    released = module.compute_weighted_loss

    @functools.wraps(released)
    def compute_weighted_loss(losses, sample_weight=None, reduction="sum_over_batch_size", name=None):
        """Weights are broadcast to the losses, and checked, before the product; then the losses are reduced.

        Args:
          losses: tensor [batch, ...], computed with in float32.
          sample_weight: scalar, or of the rank of `losses`, broadcastable to them; 1 by default.
          reduction: one of `tf.keras.losses.Reduction`.
          name: of the scope, "weighted_loss" by default.
        """
        import tensorflow as tf
        from tensorflow.python.ops import weights_broadcast_ops
        from tensorflow.python.ops.losses import util

        plain = all(value is None or tf.contrib.framework.is_tensor(value) for value in (losses, sample_weight))
        composite = any(isinstance(value, (tf.RaggedTensor, tf.SparseTensor)) for value in (losses, sample_weight))
        if tf.executing_eagerly() or composite or not plain:
            return released(losses, sample_weight, reduction, name)
        module.ReductionV2.validate(reduction)
        if reduction == module.ReductionV2.AUTO:
            reduction = module.ReductionV2.SUM_OVER_BATCH_SIZE
        with tf.keras.backend.name_scope(name or "weighted_loss"):
            # Read by the optimizers of 1.x when there are several replicas.
            tf.get_default_graph()._last_loss_reduction = reduction
            values = tf.cast(losses, tf.float32)
            weights = tf.cast(1.0 if sample_weight is None else sample_weight, tf.float32)
            values, _, weights = util.squeeze_or_expand_dimensions(values, None, weights)
            weighted = tf.multiply(values, weights_broadcast_ops.broadcast_weights(weights, values))
            return tf.cast(module.reduce_weighted_loss(weighted, reduction), losses.dtype)

    module.compute_weighted_loss = compute_weighted_loss

    def apply_valid_mask(losses, sw, mask, reduction):
        """The weights of masked losses: what is masked counts in the mean, as 0. The runtime means over what is not masked.

        Args:
          losses: what the weights are for.
          sw: weights, or the mask itself.
          mask: of the outputs, as numbers where a model applies it, or None. Losses called directly leave a mask of bools alone.
          reduction: str of a loss, enum of a metric.
        """
        if not isinstance(reduction, str):
            return module.apply_mask(losses, sw, mask)
        return sw if mask is None or mask is sw or mask.dtype.is_bool else sw * mask

    module.apply_valid_mask = apply_valid_mask


def _metrics(module) -> None:
    released = module.update_confusion_matrix_variables

    @functools.wraps(released)
    def update_confusion_matrix_variables(variables_to_update, y_true, y_pred, *args, **kwargs):
        import tensorflow as tf

        if not tf.executing_eagerly():
            # Both bounds of the predictions were checked, and every threshold was compared.
            evenly = kwargs.get("thresholds_distributed_evenly", False)
            count = 43 if evenly else 38 if getattr(y_pred, "shape", tf.TensorShape([0])).rank == 1 else 34
            op_counts.add_missing(tf.get_default_graph(), count)
        return released(variables_to_update, y_true, y_pred, *args, **kwargs)

    module.update_confusion_matrix_variables = update_confusion_matrix_variables
    matches = module.sparse_categorical_matches

    @functools.wraps(matches)
    def sparse_categorical_matches(y_true, y_pred):
        import tensorflow as tf

        if not tf.executing_eagerly():
            # The shape of the labels was not kept, and the result did not get it back.
            ranks = [tf.convert_to_tensor(value).shape.rank for value in (y_true, y_pred)]
            op_counts.add_missing(tf.get_default_graph(), -2 if ranks[0] and ranks[0] == ranks[1] else -1)
        return matches(y_true, y_pred)

    module.sparse_categorical_matches = sparse_categorical_matches
    top_k = module.sparse_top_k_categorical_matches

    @functools.wraps(top_k)
    def sparse_top_k_categorical_matches(y_true, y_pred, k=5):
        import tensorflow as tf

        if not tf.executing_eagerly():
            # Of one-hot labels the position was not cast.
            from_one_hot = getattr(getattr(y_true, "op", None), "type", "") == "ArgMax"
            op_counts.add_missing(tf.get_default_graph(), -2 if from_one_hot else -1)
        return top_k(y_true, y_pred, k)

    module.sparse_top_k_categorical_matches = sparse_top_k_categorical_matches


def _accuracy(module) -> None:
    released = module.BinaryAccuracy.__init__

    @functools.wraps(released)
    def binary(self, *args, **kwargs):
        released(self, *args, **kwargs)
        # The mean over the last axis is what is averaged, as in the function of that name.
        self._fn = module.binary_accuracy

    module.BinaryAccuracy.__init__ = binary


def _sensitivity(module) -> None:
    # The threshold was the one nearest to the value asked for.
    for name in ("SensitivityAtSpecificity", "SpecificityAtSensitivity"):
        cls = getattr(module, name)
        cls.result = counting(cls.result, 13)


def _iou(module) -> None:
    # Three casts, where the classes are picked by two gathers.
    module.MeanIoU.result = counting(module.MeanIoU.result, -3)
