"""Heads: predictions, loss and metrics from the logits of a model."""

import abc

from tensorflow.contrib.layers import layers
from tensorflow.contrib.lookup import lookup_ops
from tensorflow.contrib.learn import constants, metric_key, model_fn, prediction_key
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, control_flow_ops, init_ops, math_ops, nn, variable_scope
from tensorflow.python.summary import summary
from tensorflow.python.training import training
from tf_slim.metrics import metric_ops

_Metric, _Prediction, _Problem = metric_key.MetricKey, prediction_key.PredictionKey, constants.ProblemType


class Head(metaclass=abc.ABCMeta):
    """The interface of heads."""

    @property
    @abc.abstractmethod
    def logits_dimension(self):
        """Number of logits."""

    @abc.abstractmethod
    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        """Makes the ops of a model.

        Args:
          features: dict of features, for the weights.
          mode: a `ModeKeys`.
          labels: labels, or dict of labels.
          train_op_fn: function of the loss that returns a train op; for training.
          logits: tensor `[batch, logits_dimension]`.
          logits_input: tensor from which a layer makes the logits, in the place of `logits`.
          scope: variable scope.

        Returns:
          A `ModelFnOps`.
        """


def no_op_train_fn(loss):
    """A train op that does nothing."""
    del loss
    return control_flow_ops.no_op()


class _SingleHead(Head):
    """A head with one label.

    Subclasses write `_losses(labels, logits)`, `_predictions(logits)` and `_metrics(labels, predictions, weights)`.
    """

    def __init__(self, problem_type, logits_dimension, label_name, weight_column_name, enable_centered_bias, head_name):
        self._problem_type = problem_type
        self._logits_dimension = logits_dimension
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._enable_centered_bias = enable_centered_bias
        self.head_name = head_name

    @property
    def logits_dimension(self):
        return self._logits_dimension

    def _key(self, name):
        return f"{name}/{self.head_name}" if self.head_name else name

    def _labels(self, labels):
        if isinstance(labels, dict):
            key = self._label_name
            if key is None and len(labels) == 1:
                (key,) = labels
            if key not in labels:
                raise ValueError(f"label_name must be one of {sorted(labels)}, got {key!r}")
            labels = labels[key]
        if labels is None:
            raise ValueError("Expected labels for training and evaluation, got None.")
        return labels

    def _weights(self, features):
        if not self._weight_column_name:
            return None
        if not isinstance(features, dict) or self._weight_column_name not in features:
            raise ValueError(f"weight_column_name {self._weight_column_name!r} is not in the features")
        weights = math_ops.cast(features[self._weight_column_name], dtypes.float32)
        return array_ops.reshape(weights, [-1])

    def _loss(self, losses, weights):
        """(loss that is trained: mean over the batch, loss that is reported: mean over the weights)."""
        if losses.get_shape().ndims == 2:
            losses = math_ops.reduce_mean(losses, axis=1)
        if weights is None:
            mean = math_ops.reduce_mean(losses, name="loss")
            return mean, mean
        weighted = math_ops.multiply(losses, weights)
        average = math_ops.reduce_sum(weighted) / math_ops.reduce_sum(weights)
        return math_ops.reduce_mean(weighted, name="loss"), average

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        model_fn.ModeKeys.validate(mode)
        with variable_scope.variable_scope(scope, default_name=self.head_name or type(self).__name__.strip("_")):
            if (logits is None) == (logits_input is None):
                raise ValueError("Exactly one of logits and logits_input must be given.")
            if logits is None:
                logits = layers.fully_connected(logits_input, self.logits_dimension, activation_fn=None, scope="logits")
            bias = None
            if self._enable_centered_bias:
                bias = variable_scope.get_variable(
                    "centered_bias_weight",
                    [self.logits_dimension],
                    initializer=init_ops.zeros_initializer(),
                )
                logits = nn.bias_add(logits, bias)
            predictions = self._predictions(logits)
            weights = self._weights(features)
            loss = train_op = None
            metrics = {}
            if mode != model_fn.ModeKeys.INFER:
                labels = self._labels(labels)
                losses = self._losses(labels, logits)
                loss, average = self._loss(losses, weights)
                summary.scalar(self._key(_Metric.LOSS), average)
                if mode == model_fn.ModeKeys.EVAL:
                    metrics = self._metrics(labels, predictions, weights)
                    metrics[_Metric.LOSS] = metric_ops.streaming_mean(average)
                    metrics = {self._key(name): value for name, value in metrics.items()}
                else:
                    if train_op_fn is None:
                        raise ValueError("train_op_fn can not be None in TRAIN mode")
                    train_op = train_op_fn(loss)
                    if bias is not None:
                        # The bias has a step of its own, towards the mean label.
                        step = training.AdagradOptimizer(0.1).minimize(loss, var_list=[bias])
                        train_op = control_flow_ops.group(train_op, step)
        return model_fn.ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives={self.head_name: (self._problem_type, predictions)},
        )


class _RegressionHead(_SingleHead):
    """See `regression_head`."""

    def __init__(
        self, label_name, weight_column_name, label_dimension, enable_centered_bias, head_name, link_fn, loss_fn
    ):
        super().__init__(
            _Problem.LINEAR_REGRESSION,
            label_dimension,
            label_name,
            weight_column_name,
            enable_centered_bias,
            head_name,
        )
        self._link_fn = link_fn
        self._loss_fn = loss_fn

    def _losses(self, labels, logits):
        if labels.get_shape().ndims == 1:
            labels = array_ops.expand_dims(labels, axis=1)
        labels.get_shape().assert_is_compatible_with(logits.get_shape())
        return self._loss_fn(math_ops.cast(labels, dtypes.float32), logits)

    def _predictions(self, logits):
        scores = logits if self._link_fn is None else self._link_fn(logits)
        if self.logits_dimension == 1:
            scores = array_ops.squeeze(scores, axis=[1], name=_Prediction.SCORES)
        return {_Prediction.SCORES: scores}

    def _metrics(self, labels, predictions, weights):
        return {}


def _squared(labels, logits):
    return math_ops.squared_difference(logits, labels)


def _poisson(labels, logits):
    return nn.log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=True)


def regression_head(
    label_name=None,
    weight_column_name=None,
    label_dimension=1,
    enable_centered_bias=False,
    head_name=None,
    link_fn=None,
):
    """Linear regression with squared loss.

    Args:
      label_name: key of the label in a dict of labels.
      weight_column_name: feature by which an example's loss is multiplied.
      label_dimension: number of values in a label.
      enable_centered_bias: whether there is a bias with a step of its own.
      head_name: name of the head; added to the metrics' names.
      link_fn: function of the logits that gives the predictions.
    """
    return _RegressionHead(
        label_name, weight_column_name, label_dimension, enable_centered_bias, head_name, link_fn, _squared
    )


def poisson_regression_head(
    label_name=None, weight_column_name=None, label_dimension=1, enable_centered_bias=False, head_name=None
):
    """Poisson regression: the predictions are exp(logits). Arguments as for `regression_head`."""
    return _RegressionHead(
        label_name, weight_column_name, label_dimension, enable_centered_bias, head_name, math_ops.exp, _poisson
    )


class _BinaryHead(_SingleHead):
    """Two classes, one logit."""

    def __init__(self, label_name, weight_column_name, enable_centered_bias, head_name, thresholds, loss_fn=None):
        super().__init__(
            _Problem.LOGISTIC_REGRESSION, 1, label_name, weight_column_name, enable_centered_bias, head_name
        )
        self._thresholds = tuple(thresholds or (0.5,))
        self._loss_fn = loss_fn or self._logistic

    @staticmethod
    def _logistic(labels, logits):
        return nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    @staticmethod
    def _column(labels):
        labels = math_ops.cast(labels, dtypes.float32)
        return array_ops.expand_dims(labels, axis=1) if labels.get_shape().ndims == 1 else labels

    def _losses(self, labels, logits):
        return self._loss_fn(self._column(labels), logits)

    def _predictions(self, logits):
        two = array_ops.concat((array_ops.zeros_like(logits), logits), 1, name="two_class_logits")
        return {
            _Prediction.LOGITS: logits,
            _Prediction.LOGISTIC: math_ops.sigmoid(logits, name=_Prediction.LOGISTIC),
            _Prediction.PROBABILITIES: nn.softmax(two, name=_Prediction.PROBABILITIES),
            _Prediction.CLASSES: math_ops.argmax(two, 1, name=_Prediction.CLASSES),
        }

    def _metrics(self, labels, predictions, weights):
        labels = self._column(labels)
        column = None if weights is None else array_ops.expand_dims(weights, 1)
        logistic = predictions[_Prediction.LOGISTIC]
        flat = array_ops.reshape(labels, [-1])
        metrics = {
            _Metric.ACCURACY: metric_ops.streaming_accuracy(
                predictions[_Prediction.CLASSES], math_ops.cast(flat, dtypes.int64), weights
            ),
            _Metric.PREDICTION_MEAN: metric_ops.streaming_mean(logistic, column),
            _Metric.LABEL_MEAN: metric_ops.streaming_mean(labels, column),
            # What always guessing the more frequent class would reach.
            _Metric.ACCURACY_BASELINE: metric_ops.streaming_mean(labels, column),
            _Metric.AUC: metric_ops.streaming_auc(logistic, labels, column),
            _Metric.AUC_PR: metric_ops.streaming_auc(logistic, labels, column, curve="PR"),
        }
        for threshold in self._thresholds:
            above = math_ops.cast(math_ops.greater_equal(logistic, threshold), dtypes.float32)
            metrics[_Metric.ACCURACY_MEAN % threshold] = metric_ops.streaming_accuracy(above, labels, column)
            for key, metric in (
                (_Metric.PRECISION_MEAN, metric_ops.streaming_precision_at_thresholds),
                (_Metric.RECALL_MEAN, metric_ops.streaming_recall_at_thresholds),
            ):
                value, update = metric(logistic, labels, thresholds=[threshold], weights=column)
                metrics[key % threshold] = array_ops.squeeze(value), array_ops.squeeze(update)
        return metrics


class _MultiClassHead(_SingleHead):
    """More classes."""

    def __init__(self, n_classes, label_name, weight_column_name, enable_centered_bias, head_name, loss_fn, label_keys):
        super().__init__(
            _Problem.CLASSIFICATION, n_classes, label_name, weight_column_name, enable_centered_bias, head_name
        )
        self._loss_fn = loss_fn
        self._label_keys = label_keys

    def _ids(self, labels):
        if labels.get_shape().ndims == 2:
            labels = array_ops.squeeze(labels, axis=[1])
        if self._label_keys is None:
            if not labels.dtype.is_integer:
                raise ValueError(f"Labels dtype should be integer, got {labels.dtype}.")
            return labels
        return lookup_ops.index_table_from_tensor(self._label_keys, name="label_id_lookup").lookup(labels)

    def _losses(self, labels, logits):
        ids = self._ids(labels)
        if self._loss_fn is not None:
            return self._loss_fn(ids, logits)
        return nn.sparse_softmax_cross_entropy_with_logits(labels=ids, logits=logits)

    def _predictions(self, logits):
        classes = math_ops.argmax(logits, 1, name=_Prediction.CLASSES)
        if self._label_keys is not None:
            classes = array_ops.gather(ops.convert_to_tensor(self._label_keys), classes)
        return {
            _Prediction.LOGITS: logits,
            _Prediction.PROBABILITIES: nn.softmax(logits, name=_Prediction.PROBABILITIES),
            _Prediction.CLASSES: classes,
        }

    def _metrics(self, labels, predictions, weights):
        ids = math_ops.cast(self._ids(labels), dtypes.int64)
        classes = math_ops.argmax(predictions[_Prediction.LOGITS], 1)
        return {_Metric.ACCURACY: metric_ops.streaming_accuracy(classes, ids, weights)}


def multi_class_head(
    n_classes,
    label_name=None,
    weight_column_name=None,
    enable_centered_bias=False,
    head_name=None,
    thresholds=None,
    metric_class_ids=None,
    loss_fn=None,
    label_keys=None,
):
    """Classification into one of `n_classes`, with logistic or softmax loss.

    Args:
      n_classes: number of classes, 2 or more.
      label_name, weight_column_name, enable_centered_bias, head_name: as for `regression_head`.
      thresholds: list of probabilities for accuracy, precision and recall; with two classes.
      metric_class_ids: must be None: metrics of single classes are not supported.
      loss_fn: function of (labels, logits) in the place of the usual loss.
      label_keys: list of the classes' labels; ints from 0 on by default. With three classes or more.

    Raises:
      ValueError: if an argument does not fit the number of classes.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    if metric_class_ids is not None:
        raise ValueError("metric_class_ids is not supported")
    if label_keys is not None and (len(label_keys) != n_classes or n_classes == 2):
        raise ValueError(f"label_keys must have n_classes ({n_classes}) elements, three or more, got {label_keys}")
    if n_classes == 2:
        return _BinaryHead(label_name, weight_column_name, enable_centered_bias, head_name, thresholds, loss_fn)
    if thresholds:
        raise ValueError("thresholds must be None with more than two classes")
    return _MultiClassHead(
        n_classes, label_name, weight_column_name, enable_centered_bias, head_name, loss_fn, label_keys
    )


class _SvmHead(_BinaryHead):
    def _predictions(self, logits):
        all_predictions = super()._predictions(logits)
        return {key: all_predictions[key] for key in (_Prediction.LOGITS, _Prediction.CLASSES)}

    def _losses(self, labels, logits):
        signs = 2.0 * self._column(labels) - 1.0
        return nn.relu(1.0 - signs * logits)

    def _metrics(self, labels, predictions, weights):
        ids = array_ops.reshape(math_ops.cast(labels, dtypes.int64), [-1])
        return {_Metric.ACCURACY: metric_ops.streaming_accuracy(predictions[_Prediction.CLASSES], ids, weights)}


def binary_svm_head(
    label_name=None, weight_column_name=None, enable_centered_bias=False, head_name=None, thresholds=None
):
    """Classification into two classes with hinge loss. Arguments as for `regression_head`."""
    return _SvmHead(label_name, weight_column_name, enable_centered_bias, head_name, thresholds)


class _MultiLabelHead(_MultiClassHead):
    def _losses(self, labels, logits):
        labels = math_ops.cast(labels, dtypes.float32)
        if self._loss_fn is not None:
            return self._loss_fn(labels, logits)
        return nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _predictions(self, logits):
        probabilities = math_ops.sigmoid(logits, name=_Prediction.PROBABILITIES)
        classes = math_ops.cast(math_ops.greater(logits, 0), dtypes.int64, name=_Prediction.CLASSES)
        return {
            _Prediction.LOGITS: logits,
            _Prediction.PROBABILITIES: probabilities,
            _Prediction.CLASSES: classes,
        }

    def _metrics(self, labels, predictions, weights):
        column = None if weights is None else array_ops.expand_dims(weights, 1)
        labels = math_ops.cast(labels, dtypes.int64)
        probabilities = predictions[_Prediction.PROBABILITIES]
        return {
            _Metric.ACCURACY: metric_ops.streaming_accuracy(predictions[_Prediction.CLASSES], labels, column),
            _Metric.AUC: metric_ops.streaming_auc(probabilities, labels, column),
        }


def multi_label_head(
    n_classes,
    label_name=None,
    weight_column_name=None,
    enable_centered_bias=False,
    head_name=None,
    thresholds=None,
    metric_class_ids=None,
    loss_fn=None,
):
    """Any number of `n_classes` at once, with logistic loss; labels are `[batch, n_classes]` of 0 and 1.

    Arguments as for `multi_class_head`.
    """
    if n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    if metric_class_ids is not None or thresholds:
        raise ValueError("thresholds and metric_class_ids are not supported by multi_label_head")
    return _MultiLabelHead(n_classes, label_name, weight_column_name, enable_centered_bias, head_name, loss_fn, None)


class _LossOnlyHead(Head):
    def __init__(self, loss_fn, head_name):
        self._loss_fn = loss_fn
        self.head_name = head_name or "loss_only_head"

    @property
    def logits_dimension(self):
        return 0

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        model_fn.ModeKeys.validate(mode)
        loss = train_op = None
        if mode != model_fn.ModeKeys.INFER:
            with variable_scope.variable_scope(scope, default_name=self.head_name):
                loss = self._loss_fn()
                if isinstance(loss, list):
                    loss = math_ops.add_n(loss)
                if mode == model_fn.ModeKeys.TRAIN:
                    if train_op_fn is None:
                        raise ValueError("train_op_fn can not be None in TRAIN mode")
                    train_op = train_op_fn(loss)
        return model_fn.ModelFnOps(mode=mode, predictions={}, loss=loss, train_op=train_op)


def loss_only_head(loss_fn, head_name=None):
    """A head that adds a loss, such as a regularization, and predicts nothing.

    Args:
      loss_fn: function without arguments that returns a scalar, or a list of them.
      head_name: name of the head.
    """
    return _LossOnlyHead(loss_fn, head_name)


class _MultiHead(Head):
    def __init__(self, heads, loss_weights):
        self._heads = tuple(heads)
        self._loss_weights = loss_weights or [1.0] * len(self._heads)

    @property
    def logits_dimension(self):
        return sum(head.logits_dimension for head in self._heads)

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        parts = [None] * len(self._heads)
        if logits is not None:
            parts, begin = [], 0
            for head in self._heads:
                parts.append(logits[:, begin : begin + head.logits_dimension])
                begin += head.logits_dimension
        models = [
            head.create_model_fn_ops(
                features,
                mode,
                labels,
                no_op_train_fn,
                logits=part,
                logits_input=None if part is not None else logits_input,
                scope=head.head_name,
            )
            for head, part in zip(self._heads, parts)
        ]
        loss = train_op = None
        if mode != model_fn.ModeKeys.INFER:
            loss = math_ops.add_n([m.loss * weight for m, weight in zip(models, self._loss_weights)])
            if mode == model_fn.ModeKeys.TRAIN:
                if train_op_fn is None:
                    raise ValueError("train_op_fn can not be None in TRAIN mode.")
                train_op = train_op_fn(loss)
        predictions, alternatives, metrics = {}, {}, {}
        for head, model in zip(self._heads, models):
            predictions.update({(head.head_name, key): value for key, value in model.predictions.items()})
            alternatives.update(model.output_alternatives or {})
            metrics.update(model.eval_metric_ops)
        return model_fn.ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives=alternatives,
        )


def multi_head(heads, loss_weights=None):
    """Several heads over one model; their logits stand side by side.

    Args:
      heads: list of heads with names.
      loss_weights: list of the weights of their losses, 1 by default.

    Raises:
      ValueError: if a head has no name, or there are not as many weights as heads.
    """
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError(f"heads and loss_weights must have same size, got {len(heads)} and {len(loss_weights)}")
    for head in heads:
        if not getattr(head, "head_name", None):
            raise ValueError("Members of MultiHead must have names.")
    return _MultiHead(heads, loss_weights)
