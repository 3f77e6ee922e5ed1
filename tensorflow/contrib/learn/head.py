"""Heads: predictions, loss and metrics from the logits of a model."""

import abc
import inspect

from tensorflow.contrib.layers import layers
from tensorflow.contrib.lookup import lookup_ops
from tensorflow.contrib.learn import constants, metric_key, model_fn, prediction_key
from tensorflow.python.framework import dtypes, ops, sparse_tensor
from tensorflow.python.ops import (
    array_ops,
    control_flow_ops,
    math_ops,
    metrics_impl,
    nn,
    sparse_ops,
    string_ops,
    variable_scope,
    weights_broadcast_ops,
)
from tensorflow.python.summary import summary
from tensorflow.python.training import training

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


def _weighted(losses, weights):
    """(loss that is trained: mean of the weighted losses, loss that is reported: their sum over that of the weights)."""
    if weights is None:
        mean = math_ops.reduce_mean(losses, name="loss")
        return mean, mean
    if losses.get_shape().ndims == 1:
        weights = array_ops.reshape(weights, [-1])
    weights = weights_broadcast_ops.broadcast_weights(weights, losses)
    weighted = math_ops.multiply(losses, weights, name="weighted_loss")
    average = math_ops.divide(math_ops.reduce_sum(weighted), math_ops.reduce_sum(weights), name="weighted_average_loss")
    return math_ops.reduce_mean(weighted, name="loss"), average


def _check_loss_fn(loss_fn):
    """Raises ValueError if a loss function does not take labels, logits and weights by name."""
    if loss_fn is None:
        return
    names = inspect.signature(loss_fn).parameters
    missing = [name for name in ("labels", "logits", "weights") if name not in names]
    if missing:
        raise ValueError(f"loss_fn must have the arguments labels, logits and weights, {', '.join(missing)} not found")


def _column(tensor):
    """`[batch]` as `[batch, 1]`."""
    return array_ops.expand_dims(tensor, axis=1) if tensor.get_shape().ndims == 1 else tensor


def _mean(values, weights, class_id=None):
    """Streaming mean; with `class_id`, of this column of `values`."""
    values = math_ops.cast(values, dtypes.float32)
    if weights is not None:
        weights = weights_broadcast_ops.broadcast_weights(weights, values)
    if class_id is not None:
        weights = None if weights is None else weights[:, class_id]
        values = values[:, class_id]
    return metrics_impl.mean(values, weights)


def _auc(predictions, labels, weights, curve, class_id=None):
    labels = math_ops.cast(labels, dtypes.bool)
    if weights is not None:
        weights = weights_broadcast_ops.broadcast_weights(weights, predictions)
    if class_id is not None:
        weights = None if weights is None else weights[:, class_id]
        predictions, labels = predictions[:, class_id], labels[:, class_id]
    return metrics_impl.auc(labels, predictions, weights, curve=curve)


class _SingleHead(Head):
    """A head with one label.

    Subclasses write `_losses(labels, logits)`, `_predictions(logits)` and `_metrics(labels, predictions, weights)`, and
    give the name of their variable scope.
    """

    _SCOPE = None

    def __init__(
        self,
        problem_type,
        logits_dimension,
        label_name,
        weight_column_name,
        enable_centered_bias,
        head_name,
        loss_fn=None,
    ):
        _check_loss_fn(loss_fn)
        self._problem_type = problem_type
        self._logits_dimension = logits_dimension
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._enable_centered_bias = enable_centered_bias
        self.head_name = head_name
        self._loss_fn = loss_fn

    @property
    def logits_dimension(self):
        return self._logits_dimension

    @property
    def label_name(self):
        """Key of the label in a dict of labels."""
        return self._label_name

    @property
    def weight_column_name(self):
        """The feature with the weights."""
        return self._weight_column_name

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
        if isinstance(labels, sparse_tensor.SparseTensor):
            return self._dense(labels)
        return ops.convert_to_tensor(labels)

    def _dense(self, labels):
        raise ValueError("SparseTensor is not supported.")

    def _loss_labels(self, labels):
        """Labels as loss functions get them."""
        return labels

    def _weights(self, features):
        if not self._weight_column_name:
            return None
        if not isinstance(features, dict) or self._weight_column_name not in features:
            raise ValueError(f"weight_column_name {self._weight_column_name!r} is not in the features")
        with ops.name_scope(None, "weight_tensor", tuple(features.values())):
            return _column(math_ops.cast(features[self._weight_column_name], dtypes.float32))

    def _loss(self, labels, logits, weights):
        """(loss that is trained, loss that is reported)."""
        labels = self._loss_labels(labels)
        if self._loss_fn is None:
            return _weighted(self._losses(labels, logits), weights)
        given = {} if weights is None else {"weights": weights}
        loss = self._loss_fn(labels=labels, logits=logits, **given)
        return loss, loss

    def _bias(self):
        # Not of the scope's partitioner: a bias is one part.
        zeros = array_ops.zeros([self.logits_dimension])
        bias = variable_scope.variable(zeros, name="centered_bias_weight", trainable=True)
        for i in range(self.logits_dimension):
            summary.scalar(self._key(f"centered_bias/bias_{i}"), bias[i])
        return bias

    def _bias_step(self, bias, labels, logits, weights):
        """The step of the bias, which alone shall explain the labels as well as it can."""
        with ops.name_scope(None, "centered_bias_step") as name:
            batch_size = array_ops.shape(logits)[0]
            tiled = array_ops.reshape(array_ops.tile(bias, [batch_size]), [batch_size, self.logits_dimension])
            loss = math_ops.reduce_mean(self._loss(labels, tiled, weights), name="training_loss")
        return training.AdagradOptimizer(0.1).minimize(loss, var_list=[bias], name=name)

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        model_fn.ModeKeys.validate(mode)
        with variable_scope.variable_scope(scope, default_name=self.head_name or self._SCOPE):
            if (logits is None) == (logits_input is None):
                raise ValueError("Exactly one of logits and logits_input must be given.")
            if logits is None:
                logits = layers.fully_connected(logits_input, self.logits_dimension, activation_fn=None, scope="logits")
            bias = None
            if self._enable_centered_bias:
                bias = self._bias()
                logits = nn.bias_add(logits, bias)
            with ops.name_scope(None, "predictions", (logits,)):
                predictions = self._predictions(logits)
            loss = train_op = None
            metrics = {}
            if mode != model_fn.ModeKeys.INFER:
                weights = self._weights(features)
                labels = self._labels(labels)
                loss, average = self._loss(labels, logits, weights)
                with ops.name_scope(""):
                    summary.scalar(self._key(_Metric.LOSS), array_ops.identity(average))
                if mode == model_fn.ModeKeys.EVAL:
                    with ops.name_scope("metrics"):
                        metrics = self._metrics(labels, predictions, weights)
                        metrics[_Metric.LOSS] = metrics_impl.mean(average)
                    metrics = {self._key(name): value for name, value in metrics.items()}
                else:
                    if train_op_fn is None:
                        raise ValueError("train_op_fn can not be None in TRAIN mode")
                    bias_step = None if bias is None else self._bias_step(bias, labels, logits, weights)
                    with ops.name_scope(None, "train_op"):
                        train_op = train_op_fn(loss)
                        if bias_step is not None:
                            train_op = control_flow_ops.group(train_op, bias_step)
            served = self._served(predictions)
        return model_fn.ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives={self.head_name: (self._problem_type, served)},
        )

    def _served(self, predictions):
        """What of the predictions an export serves."""
        return predictions


class _RegressionHead(_SingleHead):
    """See `regression_head`."""

    _SCOPE = "regression_head"

    def __init__(
        self, label_name, weight_column_name, label_dimension, enable_centered_bias, head_name, link_fn, losses
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
        self._losses_of = losses

    def _losses(self, labels, logits):
        labels = _column(labels)
        labels.get_shape().assert_is_compatible_with(logits.get_shape())
        return self._losses_of(math_ops.cast(labels, dtypes.float32), logits)

    def _predictions(self, logits):
        if self.logits_dimension == 1:
            logits = array_ops.squeeze(logits, axis=[1], name=_Prediction.SCORES)
        return {_Prediction.SCORES: array_ops.identity(logits) if self._link_fn is None else self._link_fn(logits)}

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


class _ServesClasses:
    """Exports of classifiers: the probabilities, and beside each the name of its class."""

    _label_keys = None

    def _served(self, predictions):
        probabilities = predictions[_Prediction.PROBABILITIES]
        with ops.name_scope(None, "_classification_output_alternatives", (probabilities,)):
            if self._label_keys is not None:
                names = ops.convert_to_tensor(self._label_keys)
            else:
                names = string_ops.as_string(math_ops.range(array_ops.shape(probabilities)[1]))
            classes = array_ops.tile(
                array_ops.expand_dims(names, 0), [array_ops.shape(probabilities)[0], 1], name="classes_tensor"
            )
        return {_Prediction.PROBABILITIES: probabilities, _Prediction.CLASSES: classes}


class _BinaryHead(_ServesClasses, _SingleHead):
    """Two classes, one logit."""

    _SCOPE = "binary_logistic_head"

    def __init__(self, label_name, weight_column_name, enable_centered_bias, head_name, thresholds, loss_fn=None):
        super().__init__(
            _Problem.LOGISTIC_REGRESSION, 1, label_name, weight_column_name, enable_centered_bias, head_name, loss_fn
        )
        self._thresholds = tuple(thresholds or (0.5,))

    def _losses(self, labels, logits):
        labels = _column(math_ops.cast(labels, dtypes.float32))
        return nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _predictions(self, logits):
        two = array_ops.concat((array_ops.zeros_like(logits), logits), 1, name="two_class_logits")
        return {
            _Prediction.LOGITS: logits,
            _Prediction.LOGISTIC: math_ops.sigmoid(logits, name=_Prediction.LOGISTIC),
            _Prediction.PROBABILITIES: nn.softmax(two, name=_Prediction.PROBABILITIES),
            _Prediction.CLASSES: math_ops.argmax(two, 1, name=_Prediction.CLASSES),
        }

    def _metrics(self, labels, predictions, weights):
        labels = _column(labels)
        logistic = predictions[_Prediction.LOGISTIC]
        metrics = {
            _Metric.ACCURACY: metrics_impl.accuracy(labels, _column(predictions[_Prediction.CLASSES]), weights),
            _Metric.PREDICTION_MEAN: _mean(logistic, weights),
            _Metric.LABEL_MEAN: _mean(labels, weights),
            # What always guessing the more frequent class would reach.
            _Metric.ACCURACY_BASELINE: _mean(labels, weights),
            _Metric.AUC: _auc(logistic, labels, weights, "ROC"),
            _Metric.AUC_PR: _auc(logistic, labels, weights, "PR"),
        }
        for threshold in self._thresholds:
            above = math_ops.cast(math_ops.greater_equal(logistic, threshold), dtypes.float32)
            metrics[_Metric.ACCURACY_MEAN % threshold] = metrics_impl.accuracy(labels, above, weights)
            for key, metric in (
                (_Metric.PRECISION_MEAN, metrics_impl.precision_at_thresholds),
                (_Metric.RECALL_MEAN, metrics_impl.recall_at_thresholds),
            ):
                value, update = metric(labels, logistic, [threshold], weights)
                metrics[key % threshold] = array_ops.squeeze(value), array_ops.squeeze(update)
        return metrics


class _MultiClassHead(_ServesClasses, _SingleHead):
    """More classes."""

    _SCOPE = "multi_class_head"

    def __init__(
        self,
        n_classes,
        label_name,
        weight_column_name,
        enable_centered_bias,
        head_name,
        loss_fn,
        label_keys,
        metric_class_ids,
    ):
        super().__init__(
            _Problem.CLASSIFICATION, n_classes, label_name, weight_column_name, enable_centered_bias, head_name, loss_fn
        )
        self._label_keys = label_keys
        self._metric_class_ids = tuple(metric_class_ids or ())
        for class_id in self._metric_class_ids:
            if not 0 <= class_id < n_classes:
                raise ValueError(f"metric_class_ids must be in [0, {n_classes}), got {class_id}")

    def _loss_labels(self, labels):
        if self._label_keys is None:
            return labels
        return lookup_ops.index_table_from_tensor(self._label_keys, name="label_id_lookup").lookup(labels)

    def _losses(self, labels, logits):
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer, got {labels.dtype}.")
        flat = array_ops.squeeze(labels, axis=[1]) if labels.get_shape().ndims == 2 else labels
        losses = nn.sparse_softmax_cross_entropy_with_logits(labels=flat, logits=logits)
        return losses if flat is labels else array_ops.expand_dims(losses, 1)

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
        classes = _column(predictions[_Prediction.CLASSES])
        metrics = {_Metric.ACCURACY: metrics_impl.accuracy(_column(labels), classes, weights)}
        for i in () if self._label_keys is not None else self._metric_class_ids:
            of_class = math_ops.equal(math_ops.cast(classes, dtypes.int64), i)
            labelled = math_ops.equal(math_ops.cast(_column(labels), dtypes.int64), i)
            metrics[_Metric.CLASS_PREDICTION_MEAN % i] = _mean(of_class, weights)
            metrics[_Metric.CLASS_LABEL_MEAN % i] = _mean(labelled, weights)
            metrics[_Metric.CLASS_PROBABILITY_MEAN % i] = _mean(predictions[_Prediction.PROBABILITIES], weights, i)
            metrics[_Metric.CLASS_LOGITS_MEAN % i] = _mean(predictions[_Prediction.LOGITS], weights, i)
        return metrics


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
      thresholds: list of probabilities for accuracy, precision and recall; used with two classes.
      metric_class_ids: list of classes that get metrics of their own; with three classes or more.
      loss_fn: function of labels, logits and (optional) weights that returns the loss, in the place of the usual one.
      label_keys: list of the classes' labels; ints from 0 on by default. With three classes or more.

    Raises:
      ValueError: if an argument does not fit the number of classes, or `loss_fn` misses an argument.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    if metric_class_ids and n_classes == 2:
        raise ValueError("metric_class_ids invalid for n_classes==2.")
    if label_keys is not None and (len(label_keys) != n_classes or n_classes == 2):
        raise ValueError(f"label_keys must have n_classes ({n_classes}) elements, three or more, got {label_keys}")
    if n_classes == 2:
        return _BinaryHead(label_name, weight_column_name, enable_centered_bias, head_name, thresholds, loss_fn)
    return _MultiClassHead(
        n_classes,
        label_name,
        weight_column_name,
        enable_centered_bias,
        head_name,
        loss_fn,
        label_keys,
        metric_class_ids,
    )


class _SvmHead(_BinaryHead):
    _SCOPE = "binary_svm_head"

    def _served(self, predictions):
        return predictions

    def _predictions(self, logits):
        all_predictions = super()._predictions(logits)
        return {key: all_predictions[key] for key in (_Prediction.LOGITS, _Prediction.CLASSES)}

    def _losses(self, labels, logits):
        signs = 2.0 * _column(math_ops.cast(labels, dtypes.float32)) - 1.0
        return nn.relu(1.0 - signs * logits)

    def _metrics(self, labels, predictions, weights):
        classes = _column(predictions[_Prediction.CLASSES])
        return {_Metric.ACCURACY: metrics_impl.accuracy(_column(labels), classes, weights)}


def binary_svm_head(
    label_name=None, weight_column_name=None, enable_centered_bias=False, head_name=None, thresholds=None
):
    """Classification into two classes with hinge loss. Arguments as for `regression_head`."""
    return _SvmHead(label_name, weight_column_name, enable_centered_bias, head_name, thresholds)


class _MultiLabelHead(_MultiClassHead):
    _SCOPE = "multi_label_head"

    def _dense(self, labels):
        return math_ops.cast(sparse_ops.sparse_to_indicator(labels, self.logits_dimension), dtypes.int64)

    def _losses(self, labels, logits):
        return nn.sigmoid_cross_entropy_with_logits(labels=math_ops.cast(labels, dtypes.float32), logits=logits)

    def _predictions(self, logits):
        probabilities = math_ops.sigmoid(logits, name=_Prediction.PROBABILITIES)
        classes = math_ops.cast(math_ops.greater(logits, 0), dtypes.int64, name=_Prediction.CLASSES)
        return {
            _Prediction.LOGITS: logits,
            _Prediction.PROBABILITIES: probabilities,
            _Prediction.CLASSES: classes,
        }

    def _metrics(self, labels, predictions, weights):
        probabilities, classes = predictions[_Prediction.PROBABILITIES], predictions[_Prediction.CLASSES]
        metrics = {
            _Metric.ACCURACY: metrics_impl.accuracy(labels, classes, weights),
            _Metric.AUC: _auc(probabilities, labels, weights, "ROC"),
            _Metric.AUC_PR: _auc(probabilities, labels, weights, "PR"),
        }
        for i in self._metric_class_ids:
            metrics[_Metric.CLASS_PREDICTION_MEAN % i] = _mean(classes, weights, i)
            metrics[_Metric.CLASS_LABEL_MEAN % i] = _mean(labels, weights, i)
            metrics[_Metric.CLASS_PROBABILITY_MEAN % i] = _mean(probabilities, weights, i)
            metrics[_Metric.CLASS_LOGITS_MEAN % i] = _mean(predictions[_Prediction.LOGITS], weights, i)
            metrics[_Metric.CLASS_AUC % i] = _auc(probabilities, labels, weights, "ROC", i)
            metrics[_Metric.CLASS_AUC_PR % i] = _auc(probabilities, labels, weights, "PR", i)
        return metrics


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
    """Any number of `n_classes` at once, with logistic loss; labels are `[batch, n_classes]` of 0 and 1, or sparse class ids.

    Arguments as for `multi_class_head`; as in 1.15, `thresholds` makes no metrics here.
    """
    del thresholds
    if n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    return _MultiLabelHead(
        n_classes, label_name, weight_column_name, enable_centered_bias, head_name, loss_fn, None, metric_class_ids
    )


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
                with ops.name_scope(""):
                    summary.scalar(f"{_Metric.LOSS}/{self.head_name}", array_ops.identity(loss))
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

    def _parts(self, logits):
        """The logits of each head: given in a dict by the heads' names, or side by side in one tensor."""
        if logits is None:
            return [None] * len(self._heads)
        if isinstance(logits, dict):
            return [None if isinstance(head, _LossOnlyHead) else logits[head.head_name] for head in self._heads]
        parts, begin = [], 0
        for head in self._heads:
            parts.append(logits[:, begin : begin + head.logits_dimension])
            begin += head.logits_dimension
        return parts

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        parts = self._parts(logits)
        models = [
            head.create_model_fn_ops(
                features,
                mode,
                labels,
                no_op_train_fn,
                logits=part,
                logits_input=None if part is not None or isinstance(head, _LossOnlyHead) else logits_input,
                scope=scope,
            )
            for head, part in zip(self._heads, parts)
        ]
        loss = train_op = None
        if mode != model_fn.ModeKeys.INFER:
            loss = math_ops.add_n([m.loss * weight for m, weight in zip(models, self._loss_weights)])
            if mode == model_fn.ModeKeys.TRAIN:
                if train_op_fn is None:
                    raise ValueError("train_op_fn can not be None in TRAIN mode.")
                # Heads have steps of their own for their biases.
                train_op = control_flow_ops.group(train_op_fn(loss), *[model.train_op for model in models])
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
