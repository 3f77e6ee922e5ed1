"""An estimator whose model predicts probabilities of two classes."""

from tensorflow.contrib import metrics
from tensorflow.contrib.learn import estimator, metric_key, model_fn
from tensorflow.python.framework import tensor as tensor_lib
from tensorflow.python.ops import math_ops
from tensorflow.python.ops import metrics as core_metrics


def _evaluation(predictions, labels, thresholds):
    """Metrics of probabilities: dict: name -> (value, update op)."""
    keys = metric_key.MetricKey
    labels = math_ops.cast(labels, predictions.dtype)
    result = {
        keys.PREDICTION_MEAN: core_metrics.mean(predictions),
        keys.LABEL_MEAN: core_metrics.mean(labels),
        # What a constant prediction of the labels' mean is right about.
        keys.ACCURACY_BASELINE: core_metrics.mean(labels),
        keys.AUC: metrics.streaming_auc(predictions, labels),
    }
    for threshold in thresholds:
        above = math_ops.cast(math_ops.greater_equal(predictions, threshold), predictions.dtype)
        result[keys.ACCURACY_MEAN % threshold] = metrics.streaming_accuracy(above, labels)
        result[keys.PRECISION_MEAN % threshold] = metrics.streaming_precision(above, labels)
        result[keys.RECALL_MEAN % threshold] = metrics.streaming_recall(above, labels)
    return result


def LogisticRegressor(model_fn, thresholds=None, model_dir=None, config=None, feature_engineering_fn=None):  # noqa: N802
    """An estimator with the usual metrics of two classes.

    Args:
      model_fn: as for `Estimator`; its predictions are one tensor of probabilities `[batch]` or `[batch, 1]`.
      thresholds: list of probabilities at which accuracy, precision and recall are evaluated; [0.5] by default.
      model_dir: folder of the checkpoints; a temporary one by default.
      config: a `RunConfig`.
      feature_engineering_fn: function of (features, labels) that returns what `model_fn` gets.

    Returns:
      An `Estimator`. Evaluation fails with a ValueError unless predictions are one tensor.
    """
    return _LogisticRegressor(
        model_fn, [0.5] if thresholds is None else list(thresholds), model_dir, config, feature_engineering_fn
    )


class _LogisticRegressor(estimator.Estimator):
    def __init__(self, given_model_fn, thresholds, model_dir, config, feature_engineering_fn):
        self._thresholds = thresholds
        super().__init__(given_model_fn, model_dir, config=config, feature_engineering_fn=feature_engineering_fn)

    def _call_model_fn(self, features, labels, mode, config=None):
        ops_of_model = super()._call_model_fn(features, labels, mode, config)
        if mode != model_fn.ModeKeys.EVAL:
            return ops_of_model
        if not isinstance(ops_of_model.predictions, tensor_lib.Tensor):
            raise ValueError(f"predictions must be one tensor of probabilities, got {ops_of_model.predictions!r}")
        added = _evaluation(ops_of_model.predictions, labels, self._thresholds)
        return ops_of_model._replace(eval_metric_ops={**added, **ops_of_model.eval_metric_ops})
