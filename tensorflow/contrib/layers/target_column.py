"""Target columns: loss, predictions and metrics of one head of a model."""

from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, control_flow_assert, math_ops, nn_impl, nn_ops
from tf_slim.losses import loss_ops
from tf_slim.metrics import metric_ops


def regression_target(label_name=None, weight_column_name=None, label_dimension=1):
    """A target for linear regression with squared loss.

    Args:
      label_name: key of the label in a dict of labels; None if the label is one tensor.
      weight_column_name: feature by which an example's loss is multiplied.
      label_dimension: number of values in a label.

    Returns:
      A target column.
    """
    return _RegressionTargetColumn(
        loss_fn=_mean_squared_loss,
        label_name=label_name,
        weight_column_name=weight_column_name,
        label_dimension=label_dimension,
    )


def multi_class_target(n_classes, label_name=None, weight_column_name=None):
    """A target for classification into one of `n_classes`, with logistic or softmax loss.

    Args:
      n_classes: number of classes, 2 or more.
      label_name, weight_column_name: as for `regression_target`.

    Returns:
      A target column.

    Raises:
      ValueError: if `n_classes` is below 2.
    """
    if n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification, got {n_classes}")
    return _MultiClassTargetColumn(
        loss_fn=_log_loss_with_two_classes if n_classes == 2 else _softmax_cross_entropy_loss,
        n_classes=n_classes,
        label_name=label_name,
        weight_column_name=weight_column_name,
    )


def binary_svm_target(label_name=None, weight_column_name=None):
    """A target for classification into two classes with hinge loss; arguments as for `regression_target`."""
    return _BinarySvmTargetColumn(label_name=label_name, weight_column_name=weight_column_name)


class ProblemType:
    """Kinds of targets."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class _TargetColumn:
    """One head of a model.

    Args:
      loss_fn: function of logits and target, the loss of each example.
      num_label_columns: number of logits.
      label_name: key of the label in a dict of labels, or None.
      weight_column_name: feature by which an example's loss is multiplied, or None.
      problem_type: a `ProblemType`.

    Raises:
      ValueError: if `loss_fn` or `num_label_columns` is missing.
    """

    def __init__(self, loss_fn, num_label_columns, label_name, weight_column_name, problem_type):
        if not loss_fn:
            raise ValueError("loss_fn must be provided")
        if num_label_columns is None:
            raise ValueError("num_label_columns must be provided")
        self._loss_fn = loss_fn
        self._num_label_columns = num_label_columns
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._problem_type = problem_type

    def logits_to_predictions(self, logits, proba=False):
        """Predictions `[batch, ...]`; probabilities if `proba`."""
        raise NotImplementedError()

    def get_eval_ops(self, features, logits, labels, metrics=None):
        """dict: name -> (value, update op)."""
        raise NotImplementedError()

    @property
    def label_name(self):
        """Key of the label, or None."""
        return self._label_name

    @property
    def weight_column_name(self):
        """Name of the weights' feature, or None."""
        return self._weight_column_name

    @property
    def num_label_columns(self):
        """Number of logits."""
        return self._num_label_columns

    @property
    def problem_type(self):
        """A `ProblemType`."""
        return self._problem_type

    def get_weight_tensor(self, features):
        """Weights `[batch]`, or None."""
        if not self._weight_column_name:
            return None
        return array_ops.reshape(math_ops.cast(features[self._weight_column_name], dtypes.float32), shape=(-1,))

    def _losses(self, logits, target, features):
        """(loss of each example, weights or None); weighted losses are flat."""
        target = target[self._label_name] if isinstance(target, dict) else target
        losses = self._loss_fn(logits, target)
        weights = self.get_weight_tensor(features)
        if weights is None:
            return losses, None
        return math_ops.multiply(array_ops.reshape(losses, shape=(-1,)), weights), weights

    def training_loss(self, logits, target, features, name="training_loss"):
        """The sum of weighted losses over the size of the batch: what is trained.

        Args:
          logits: float tensor `[batch, num_label_columns]`.
          target: labels, or a dict of them.
          features: dict of features, for the weights.
          name: name of the op.

        Returns:
          A scalar.
        """
        losses, _ = self._losses(logits, target, features)
        return math_ops.reduce_mean(losses, name=name)

    def loss(self, logits, target, features):
        """The sum of weighted losses over the sum of weights: what is reported. Arguments as for `training_loss`."""
        losses, weights = self._losses(logits, target, features)
        if weights is None:
            return math_ops.reduce_mean(losses, name="loss")
        return math_ops.divide(math_ops.reduce_sum(losses), math_ops.reduce_sum(weights), name="loss")


class _RegressionTargetColumn(_TargetColumn):
    """See `regression_target`."""

    def __init__(self, loss_fn, label_name, weight_column_name, label_dimension):
        super().__init__(
            loss_fn=loss_fn,
            num_label_columns=label_dimension,
            label_name=label_name,
            weight_column_name=weight_column_name,
            problem_type=ProblemType.LINEAR_REGRESSION,
        )

    def logits_to_predictions(self, logits, proba=False):
        return array_ops.squeeze(logits, axis=[1]) if self.num_label_columns == 1 else logits

    def get_eval_ops(self, features, logits, labels, metrics=None):
        result = {"loss": metric_ops.streaming_mean(self.loss(logits, labels, features))}
        if metrics:
            predictions = self.logits_to_predictions(logits, proba=False)
            result.update(_run_metrics(predictions, labels, metrics, self.get_weight_tensor(features)))
        return result


class _MultiClassTargetColumn(_TargetColumn):
    """See `multi_class_target`."""

    def __init__(self, loss_fn, n_classes, label_name, weight_column_name):
        super().__init__(
            loss_fn=loss_fn,
            num_label_columns=1 if n_classes == 2 else n_classes,
            label_name=label_name,
            weight_column_name=weight_column_name,
            problem_type=ProblemType.CLASSIFICATION,
        )

    def logits_to_predictions(self, logits, proba=False):
        if self.num_label_columns == 1:
            logits = array_ops.concat([array_ops.zeros_like(logits), logits], 1)
        return nn_ops.softmax(logits) if proba else math_ops.argmax(logits, 1)

    def _default_eval_metrics(self):
        return get_default_binary_metrics_for_eval(thresholds=[0.5]) if self._num_label_columns == 1 else {}

    def get_eval_ops(self, features, logits, labels, metrics=None):
        result = {"loss": metric_ops.streaming_mean(self.loss(logits, labels, features))}
        if metrics is None:
            metrics = {("accuracy", "classes"): metric_ops.streaming_accuracy}
        probabilities = math_ops.sigmoid(logits)
        labels_float = math_ops.cast(labels, dtypes.float32)
        for name, metric in self._default_eval_metrics().items():
            result[name] = metric(probabilities, labels_float)
        by_kind = {"classes": {}, "probabilities": {}}
        for key, metric in metrics.items():
            name, kind = (key, "classes") if isinstance(key, str) else _metric_key(key)
            by_kind[kind][name] = metric
        for kind, chosen in by_kind.items():
            if chosen:
                predictions = self.logits_to_predictions(logits, proba=kind == "probabilities")
                result.update(_run_metrics(predictions, labels, chosen, self.get_weight_tensor(features)))
        return result


def _metric_key(key):
    if not isinstance(key, tuple) or len(key) != 2 or key[1] not in ("classes", "probabilities"):
        raise ValueError(
            f"A key of metrics must be a name, or a pair of a name and 'classes' or 'probabilities', got {key!r}"
        )
    return key


class _BinarySvmTargetColumn(_MultiClassTargetColumn):
    """See `binary_svm_target`."""

    def __init__(self, label_name, weight_column_name):
        super().__init__(loss_fn=_hinge_loss, n_classes=2, label_name=label_name, weight_column_name=weight_column_name)

    def logits_to_predictions(self, logits, proba=False):
        if proba:
            raise ValueError("proba must be False: hinge loss gives no probabilities")
        return super().logits_to_predictions(logits)


def _hinge_loss(logits, target):
    check = control_flow_assert.Assert(
        math_ops.less_equal(array_ops.rank(target), 2), ["target must have shape [batch_size] or [batch_size, 1]"]
    )
    with ops.control_dependencies([check]):
        target = array_ops.reshape(target, shape=[array_ops.shape(target)[0], 1])
    return loss_ops.hinge_loss(logits, target)


def _as_column(target):
    """[batch] to [batch, 1]: subtraction would broadcast otherwise."""
    return array_ops.expand_dims(target, axis=1) if len(target.get_shape()) == 1 else target


def _mean_squared_loss(logits, target):
    target = _as_column(target)
    logits.get_shape().assert_is_compatible_with(target.get_shape())
    return math_ops.squared_difference(logits, math_ops.cast(target, dtypes.float32))


def _log_loss_with_two_classes(logits, target):
    labels = math_ops.cast(_as_column(target), dtypes.float32)
    return nn_impl.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def _softmax_cross_entropy_loss(logits, target):
    if not target.dtype.is_integer:
        raise ValueError(f"target must be of an integer type, got {target.dtype}")
    if len(target.get_shape()) == 2:
        target = array_ops.squeeze(target, axis=[1])
    return nn_ops.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)


def _run_metrics(predictions, labels, metrics, weights):
    labels = math_ops.cast(labels, predictions.dtype)
    kwargs = {} if weights is None else {"weights": weights}
    return {name: metric(predictions, labels, **kwargs) for name, metric in (metrics or {}).items()}


def get_default_binary_metrics_for_eval(thresholds):
    """Metrics of logistic regression.

    Args:
      thresholds: list of probabilities for accuracy, precision and recall.

    Returns:
      dict: name -> function of predictions, labels and weights.
    """
    metrics = {
        _MetricKeys.PREDICTION_MEAN: _predictions_streaming_mean,
        _MetricKeys.TARGET_MEAN: _labels_streaming_mean,
        # What always guessing the more frequent class would reach.
        _MetricKeys.ACCURACY_BASELINE: _labels_streaming_mean,
        _MetricKeys.AUC: _streaming_auc,
    }
    for threshold in thresholds:
        metrics[_MetricKeys.ACCURACY_MEAN % threshold] = _accuracy_at_threshold(threshold)
        metrics[_MetricKeys.PRECISION_MEAN % threshold] = _streaming_at_threshold(
            metric_ops.streaming_precision_at_thresholds, threshold
        )
        metrics[_MetricKeys.RECALL_MEAN % threshold] = _streaming_at_threshold(
            metric_ops.streaming_recall_at_thresholds, threshold
        )
    return metrics


def _float_weights_or_none(weights):
    return None if weights is None else math_ops.cast(weights, dtypes.float32)


def _labels_streaming_mean(unused_predictions, labels, weights=None):
    return metric_ops.streaming_mean(labels, weights=weights)


def _predictions_streaming_mean(predictions, unused_labels, weights=None):
    return metric_ops.streaming_mean(predictions, weights=weights)


def _streaming_auc(predictions, labels, weights=None):
    return metric_ops.streaming_auc(predictions, labels, weights=_float_weights_or_none(weights))


def _accuracy_at_threshold(threshold):
    def metric(predictions, labels, weights=None):
        above = math_ops.cast(math_ops.greater_equal(predictions, threshold), dtypes.float32)
        return metric_ops.streaming_accuracy(predictions=above, labels=labels, weights=weights)

    return metric


def _streaming_at_threshold(streaming_metrics_fn, threshold):
    def metric(predictions, labels, weights=None):
        value, update = streaming_metrics_fn(
            predictions, labels=labels, thresholds=[threshold], weights=_float_weights_or_none(weights)
        )
        return array_ops.squeeze(value), update

    return metric


class _MetricKeys:
    AUC = "auc"
    PREDICTION_MEAN = "labels/prediction_mean"
    TARGET_MEAN = "labels/actual_target_mean"
    ACCURACY_BASELINE = "accuracy/baseline_target_mean"
    ACCURACY_MEAN = "accuracy/threshold_%f_mean"
    PRECISION_MEAN = "precision/positive_threshold_%f_mean"
    RECALL_MEAN = "recall/positive_threshold_%f_mean"
