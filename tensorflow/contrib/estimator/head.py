"""Heads: what turns logits into predictions, loss, metrics and training op. They are the canned estimators' own."""

import tensorflow.compat.v1 as tf
from tensorflow_estimator.python.estimator import model_fn as model_fn_lib
from tensorflow_estimator.python.estimator.canned import head as head_lib
from tensorflow_estimator.python.estimator.canned import metric_keys, prediction_keys

_REDUCTION = tf.losses.Reduction.SUM_OVER_BATCH_SIZE
_KEYS = metric_keys.MetricKeys


def multi_class_head(
    n_classes, weight_column=None, label_vocabulary=None, loss_reduction=_REDUCTION, loss_fn=None, name=None
):
    """Softmax over `n_classes` > 2 classes with cross entropy. Labels: class ids, or strings with a vocabulary."""
    return head_lib._multi_class_head_with_softmax_cross_entropy_loss(
        n_classes=n_classes,
        weight_column=weight_column,
        label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction,
        loss_fn=loss_fn,
        name=name,
    )


def binary_classification_head(
    weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction=_REDUCTION, loss_fn=None, name=None
):
    """One logit for class 1 with sigmoid cross entropy. `thresholds`: accuracy, precision and recall at these are metrics too."""
    return head_lib._binary_logistic_head_with_sigmoid_cross_entropy_loss(
        weight_column=weight_column,
        thresholds=thresholds,
        label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction,
        loss_fn=loss_fn,
        name=name,
    )


def regression_head(
    weight_column=None, label_dimension=1, loss_reduction=_REDUCTION, loss_fn=None, inverse_link_fn=None, name=None
):
    """`label_dimension` numbers with squared error. `inverse_link_fn` turns logits into predictions."""
    return head_lib._regression_head(
        weight_column=weight_column,
        label_dimension=label_dimension,
        loss_reduction=loss_reduction,
        loss_fn=loss_fn,
        inverse_link_fn=inverse_link_fn,
        name=name,
    )


def poisson_regression_head(
    weight_column=None, label_dimension=1, loss_reduction=_REDUCTION, compute_full_loss=True, name=None
):
    """Counts with mean exp(logit) and the Poisson likelihood. `compute_full_loss`: with Stirling's approximation of log(z!)."""

    def poisson_loss(labels, logits):
        return tf.nn.log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=compute_full_loss)

    return head_lib._regression_head(
        weight_column=weight_column,
        label_dimension=label_dimension,
        loss_reduction=loss_reduction,
        loss_fn=poisson_loss,
        inverse_link_fn=tf.exp,
        name=name,
    )


def logistic_regression_head(weight_column=None, loss_reduction=_REDUCTION, name=None):
    """A probability as label, with sigmoid cross entropy; the prediction is sigmoid(logit)."""

    def logistic_loss(labels, logits):
        labels = head_lib._assert_range(labels, n_classes=2, message="Labels must be in range [0, 1]")
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    return head_lib._regression_head(
        weight_column=weight_column,
        label_dimension=1,
        loss_reduction=loss_reduction,
        loss_fn=logistic_loss,
        inverse_link_fn=tf.sigmoid,
        name=name,
    )


def multi_label_head(
    n_classes,
    weight_column=None,
    thresholds=None,
    label_vocabulary=None,
    loss_reduction=_REDUCTION,
    loss_fn=None,
    classes_for_class_based_metrics=None,
    name=None,
):
    """`n_classes` >= 2 independent classes, each with a sigmoid.

    Args:
      weight_column: name of a feature, or numeric column, with a weight for each row.
      thresholds: metrics at these, between 0 and 1.
      label_vocabulary: `n_classes` strings, if labels are a SparseTensor of strings.
      loss_fn: (labels, logits[, features, loss_reduction]) -> loss [batch, 1]; by default the mean sigmoid cross entropy.
      classes_for_class_based_metrics: ids or names of classes that get metrics of their own.

    Labels are a multi-hot integer Tensor [batch, n_classes], or a SparseTensor of class ids or names.

    Raises:
      ValueError: an argument is out of its range.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be at least 2 for multi-label classification, got {n_classes}.")
    thresholds = tuple(thresholds or ())
    for threshold in thresholds:
        if not 0 < threshold < 1:
            raise ValueError(f"thresholds must be between 0 and 1, got {threshold}.")
    if label_vocabulary is not None:
        if not isinstance(label_vocabulary, (list, tuple)) or len(label_vocabulary) != n_classes:
            raise ValueError(f"label_vocabulary must be a list of {n_classes} strings, got {label_vocabulary!r}.")
    if loss_fn is not None:
        head_lib._validate_loss_fn_args(loss_fn)
    if loss_reduction == tf.losses.Reduction.NONE or loss_reduction not in tf.losses.Reduction.all():
        raise ValueError(f"loss_reduction must be one of tf.losses.Reduction but NONE, got {loss_reduction!r}.")
    classes = []
    for chosen in classes_for_class_based_metrics or ():
        if isinstance(chosen, str):
            if label_vocabulary is None or chosen not in label_vocabulary:
                raise ValueError(f"classes_for_class_based_metrics has {chosen!r}, which is not in label_vocabulary.")
            chosen = list(label_vocabulary).index(chosen)
        if not 0 <= chosen < n_classes:
            raise ValueError(f"classes_for_class_based_metrics must be in [0, {n_classes}), got {chosen}.")
        classes.append(chosen)
    return _MultiLabelHead(
        n_classes, weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, classes, name
    )


class _MultiLabelHead(head_lib._Head):
    def __init__(self, n_classes, weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, classes, name):
        self._n_classes = n_classes
        self._weight_column = weight_column
        self._thresholds = thresholds
        self._vocabulary = label_vocabulary
        self._reduction = loss_reduction
        self._loss_fn = loss_fn
        self._classes = classes
        self._name = name

    @property
    def name(self):
        return self._name

    @property
    def logits_dimension(self):
        return self._n_classes

    def _multi_hot(self, labels):
        if labels is None:
            raise ValueError("A multi_label_head needs labels to train and evaluate, got None from the input_fn.")
        if not isinstance(labels, tf.SparseTensor):
            return head_lib._assert_range(labels, 2, message="labels must be multi-hot with values in [0, 1]")
        ids = labels.values
        if ids.dtype == tf.string:
            if self._vocabulary is None:
                raise ValueError("Labels are strings: give multi_label_head a label_vocabulary.")
            from tensorflow.python.ops import lookup_ops

            table = lookup_ops.index_table_from_tensor(tuple(self._vocabulary), name="class_id_lookup")
            ids = table.lookup(ids)
        message = f"labels must be an integer SparseTensor with values in [0, {self._n_classes})"
        checks = [
            tf.assert_less(ids, tf.cast(self._n_classes, ids.dtype), message=message),
            tf.assert_non_negative(ids, message=message),
        ]
        with tf.control_dependencies(checks):
            sparse = tf.SparseTensor(labels.indices, tf.identity(ids), labels.dense_shape)
            return tf.cast(tf.sparse_to_indicator(sparse, self._n_classes), tf.int64)

    def create_loss(self, features, mode, logits, labels):
        del mode
        logits = tf.convert_to_tensor(logits)
        labels = head_lib._check_dense_labels_match_logits_and_reshape(
            labels=self._multi_hot(labels), logits=logits, expected_labels_dimension=self._n_classes
        )
        if self._loss_fn:
            loss = head_lib._call_loss_fn(
                loss_fn=self._loss_fn, labels=labels, logits=logits, features=features, expected_loss_dim=1
            )
        else:
            each = tf.losses.sigmoid_cross_entropy(labels, logits, reduction=tf.losses.Reduction.NONE)
            loss = tf.reduce_mean(each, axis=-1, keepdims=True)
        weights = head_lib._get_weights_and_check_match_logits(
            features=features, weight_column=self._weight_column, logits=logits
        )
        total = tf.losses.compute_weighted_loss(loss, weights=weights, reduction=self._reduction)
        return head_lib.LossSpec(training_loss=total, unreduced_loss=loss, weights=weights, processed_labels=labels)

    def _create_tpu_estimator_spec(
        self,
        features,
        mode,
        logits,
        labels=None,
        optimizer=None,
        train_op_fn=None,
        regularization_losses=None,
        trainable_variables=None,
    ):
        del trainable_variables
        keys = prediction_keys.PredictionKeys
        with tf.name_scope(self._name, "head"):
            logits = head_lib._check_logits_final_dim(logits, self._n_classes)
            with tf.name_scope(None, "predictions", (logits,)):
                probabilities = tf.sigmoid(logits, name=keys.PROBABILITIES)
                predictions = {keys.LOGITS: logits, keys.PROBABILITIES: probabilities}
            if mode == tf.estimator.ModeKeys.PREDICT:
                classes = head_lib._classification_output(probabilities, self._n_classes, self._vocabulary)
                return model_fn_lib._TPUEstimatorSpec(
                    mode=mode,
                    predictions=predictions,
                    export_outputs={
                        "serving_default": classes,
                        "classification": classes,
                        "predict": tf.estimator.export.PredictOutput(predictions),
                    },
                )
            loss, unreduced, weights, labels = self.create_loss(features, mode, logits, labels)
            regularization = tf.add_n(regularization_losses) if regularization_losses else None
            total = loss if regularization is None else tf.add_n([loss, regularization])
            if mode == tf.estimator.ModeKeys.EVAL:
                arguments = {
                    "labels": labels,
                    "probabilities": probabilities,
                    "weights": weights,
                    "unreduced_loss": unreduced,
                    "regularization_loss": regularization,
                }
                return model_fn_lib._TPUEstimatorSpec(
                    mode=mode,
                    predictions=predictions,
                    loss=total,
                    eval_metrics=head_lib._create_eval_metrics_tuple(self._metrics, arguments),
                )
            if (optimizer is None) == (train_op_fn is None):
                raise ValueError("Give one of optimizer and train_op_fn to train.")
            if optimizer is not None:
                train_op = optimizer.minimize(total, global_step=tf.train.get_global_step())
            else:
                train_op = train_op_fn(total)
            train_op = head_lib._append_update_ops(train_op)
            mean = None
            if self._reduction == tf.losses.Reduction.SUM:
                mean = loss / tf.reduce_sum(weights * tf.ones_like(unreduced))
        with tf.name_scope(""):
            for key, value in (
                (_KEYS.LOSS, total),
                (_KEYS.LOSS_MEAN, mean),
                (_KEYS.LOSS_REGULARIZATION, regularization),
            ):
                if value is not None:
                    tf.summary.scalar(head_lib._summary_key(self._name, key), value)
        return model_fn_lib._TPUEstimatorSpec(mode=mode, predictions=predictions, loss=total, train_op=train_op)

    def _metrics(self, labels, probabilities, weights, unreduced_loss, regularization_loss):
        result = {}

        def add(key, function, *args, **kwargs):
            result[head_lib._summary_key(self._name, key)] = function(*args, **kwargs, name=key)

        both = {"labels": labels, "predictions": probabilities, "weights": weights}
        with tf.name_scope(None, "metrics", [labels, probabilities, weights, unreduced_loss]):
            add(_KEYS.LOSS_MEAN, tf.metrics.mean, values=unreduced_loss, weights=weights)
            add(_KEYS.AUC, tf.metrics.auc, **both)
            add(_KEYS.AUC_PR, tf.metrics.auc, **both, curve="PR")
            if regularization_loss is not None:
                add(_KEYS.LOSS_REGULARIZATION, tf.metrics.mean, values=regularization_loss)
            for threshold in self._thresholds:
                add(
                    _KEYS.ACCURACY_AT_THRESHOLD % threshold,
                    head_lib._accuracy_at_threshold,
                    **both,
                    threshold=threshold,
                )
                add(
                    _KEYS.PRECISION_AT_THRESHOLD % threshold,
                    head_lib._precision_at_threshold,
                    **both,
                    threshold=threshold,
                )
                add(_KEYS.RECALL_AT_THRESHOLD % threshold, head_lib._recall_at_threshold, **both, threshold=threshold)
            for chosen in self._classes:
                one = {
                    "labels": labels[..., chosen : chosen + 1],
                    "predictions": probabilities[..., chosen : chosen + 1],
                    "weights": weights,
                }
                which = chosen if self._vocabulary is None else self._vocabulary[chosen]
                forms = (
                    (_KEYS.PROBABILITY_MEAN_AT_CLASS, _KEYS.AUC_AT_CLASS, _KEYS.AUC_PR_AT_CLASS)
                    if self._vocabulary is None
                    else (_KEYS.PROBABILITY_MEAN_AT_NAME, _KEYS.AUC_AT_NAME, _KEYS.AUC_PR_AT_NAME)
                )
                add(forms[0] % which, head_lib._predictions_mean, predictions=one["predictions"], weights=weights)
                add(forms[1] % which, head_lib._auc, **one)
                add(forms[2] % which, head_lib._auc, **one, curve="PR")
        return result
