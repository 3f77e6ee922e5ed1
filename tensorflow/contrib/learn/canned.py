"""What the canned estimators share: networks and linear models over legacy feature columns, and predictions by kind."""

import math

from tensorflow.contrib.layers import feature_column_ops, layers, optimizers
from tensorflow.contrib.learn import estimator, head, model_fn, prediction_key
from tensorflow.contrib.learn.utils import export
from tensorflow.python.framework import ops
from tensorflow.python.ops import clip_ops, gradients_impl, nn, partitioned_variables, variable_scope
from tensorflow.python.summary import summary
from tensorflow.python.training import training, training_util

_DNN_RATE, _LINEAR_RATE = 0.05, 0.2


def as_dict(features):
    """Features as a dict; a single tensor has the name ""."""
    return dict(features) if isinstance(features, dict) else {"": features}


def make_optimizer(optimizer, default):
    """An optimizer, or what a function returns; by name it is made by `optimize_loss`."""
    if optimizer is None:
        return default()
    return optimizer() if callable(optimizer) and not isinstance(optimizer, type) else optimizer


def parameter_partitioner(config, minimum=None):
    ps = getattr(config, "num_ps_replicas", 0) or 0
    if not ps:
        return None
    return partitioned_variables.min_max_variable_partitioner(max_partitions=ps, min_slice_size=minimum or 64 << 10)


def dnn_logits(
    features, columns, hidden_units, activation_fn, dropout, dimension, mode, config, input_layer_partitioner=None
):
    """The logits of a network, in the scope "dnn"."""
    features, parent = as_dict(features), "dnn"
    with variable_scope.variable_scope(
        parent, values=tuple(features.values()), partitioner=parameter_partitioner(config)
    ):
        with variable_scope.variable_scope(
            "input_from_feature_columns", partitioner=input_layer_partitioner or parameter_partitioner(config)
        ) as scope:
            net = feature_column_ops.input_from_feature_columns(
                features, columns, weight_collections=[parent], scope=scope
            )
        for i, units in enumerate(hidden_units):
            with variable_scope.variable_scope(f"hiddenlayer_{i}", values=(net,)) as scope:
                net = layers.fully_connected(
                    net, units, activation_fn=activation_fn, variables_collections=[parent], scope=scope
                )
                if dropout is not None and mode == model_fn.ModeKeys.TRAIN:
                    net = layers.dropout(net, keep_prob=1.0 - dropout)
            summary.scalar(f"{scope.name}/fraction_of_zero_values", nn.zero_fraction(net))
            summary.histogram(f"{scope.name}/activation", net)
        with variable_scope.variable_scope("logits", values=(net,)) as scope:
            return layers.fully_connected(
                net, dimension, activation_fn=None, variables_collections=[parent], scope=scope
            )


def linear_logits(features, columns, dimension, joint, config):
    """The logits of a linear model, in the scope "linear"."""
    features = as_dict(features)
    with variable_scope.variable_scope(
        "linear", values=tuple(features.values()), partitioner=parameter_partitioner(config)
    ) as scope:
        build = (
            feature_column_ops.joint_weighted_sum_from_feature_columns
            if joint
            else feature_column_ops.weighted_sum_from_feature_columns
        )
        logits, _, _ = build(features, columns, dimension, weight_collections=["linear"], scope=scope)
        return logits


def train_dnn(loss, optimizer, clip, increment=True):
    """The train op of the network's variables."""
    return optimizers.optimize_loss(
        loss=loss,
        global_step=training_util.get_global_step(),
        learning_rate=_DNN_RATE,
        optimizer=make_optimizer(optimizer, lambda: training.AdagradOptimizer(_DNN_RATE)),
        clip_gradients=clip,
        variables=ops.get_collection("dnn"),
        name="dnn",
        summaries=[],
        increment_global_step=increment,
    )


def train_linear(loss, optimizer, columns, clip, increment=True):
    """The train op of the linear model's variables."""
    rate = min(_LINEAR_RATE, 1.0 / math.sqrt(len(columns)))
    optimizer = make_optimizer(optimizer, lambda: training.FtrlOptimizer(rate))
    if isinstance(optimizer, str):
        optimizer = optimizers.OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    variables = ops.get_collection("linear")
    grads = gradients_impl.gradients(loss, variables)
    if clip:
        grads, _ = clip_ops.clip_by_global_norm(grads, clip)
    step = training_util.get_global_step() if increment else None
    return optimizer.apply_gradients(list(zip(grads, variables)), global_step=step)


class HeadEstimator(estimator.Estimator):
    """An estimator with a head; subclasses write `_logits(features, mode)` and `_train(loss)`."""

    def __init__(self, a_head, model_dir, config, feature_engineering_fn):
        self._head = a_head
        super().__init__(self._head_model_fn, model_dir, config=config, feature_engineering_fn=feature_engineering_fn)

    def _all_columns(self):
        return self._columns

    def _head_model_fn(self, features, labels, mode):
        logits = self._logits(features, mode)
        return self._head.create_model_fn_ops(
            as_dict(features), mode, labels=labels, train_op_fn=self._train, logits=logits, scope=""
        )


class _ExportsOneOutput:
    """Session bundles with one prediction, whose examples are parsed by the columns of the model."""

    _EXPORTED = None

    @staticmethod
    def _default_signature(examples, features, predictions):
        raise NotImplementedError

    def export(
        self,
        export_dir,
        input_fn=None,
        input_feature_key=None,
        use_deprecated_input_fn=True,
        signature_fn=None,
        default_batch_size=1,
        exports_to_keep=None,
    ):
        """As `Estimator.export`; examples are parsed by the model's columns, and the signature is of the model's kind."""

        def parse(unused_estimator, examples):
            return feature_column_ops.parse_feature_columns_from_examples(examples, self._all_columns())

        return super().export(
            export_dir,
            input_fn=input_fn or parse,
            input_feature_key=input_feature_key,
            use_deprecated_input_fn=use_deprecated_input_fn,
            signature_fn=signature_fn or self._default_signature,
            prediction_key=self._EXPORTED,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )


class PredictsClasses(_ExportsOneOutput):
    """Predictions of classifiers: classes, unless `outputs` says otherwise."""

    _EXPORTED = prediction_key.PredictionKey.PROBABILITIES
    _default_signature = staticmethod(export.classification_signature_fn_with_prob)

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """Classes; with `outputs`, dicts of these keys. Arguments as for `Estimator.predict`."""
        if outputs:
            return super().predict(x, input_fn, batch_size, outputs, as_iterable)
        return self.predict_classes(x, input_fn, batch_size, as_iterable)

    def _one(self, key, x, input_fn, batch_size, as_iterable):
        results = super().predict(x, input_fn, batch_size, [key], as_iterable)
        return (result[key] for result in results) if as_iterable else results[key]

    def predict_classes(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The most probable class of each example."""
        return self._one(prediction_key.PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The probabilities of all classes, for each example."""
        return self._one(prediction_key.PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)


class PredictsScores(_ExportsOneOutput):
    """Predictions of regressors: scores, unless `outputs` says otherwise."""

    _EXPORTED = prediction_key.PredictionKey.SCORES
    _default_signature = staticmethod(export.regression_signature_fn)

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """Scores; with `outputs`, dicts of these keys. Arguments as for `Estimator.predict`."""
        if outputs:
            return super().predict(x, input_fn, batch_size, outputs, as_iterable)
        return self.predict_scores(x, input_fn, batch_size, as_iterable)

    def predict_scores(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The score of each example."""
        key = prediction_key.PredictionKey.SCORES
        results = super().predict(x, input_fn, batch_size, [key], as_iterable)
        return (result[key] for result in results) if as_iterable else results[key]


def classifier_head(n_classes, weight_column_name, enable_centered_bias, label_keys):
    """The head of a canned classifier."""
    return head.multi_class_head(
        n_classes, weight_column_name=weight_column_name, enable_centered_bias=enable_centered_bias,
        label_keys=label_keys,
    )  # fmt: skip


def no_embedding_multipliers(multipliers):
    """Raises ValueError if learning rates of single embeddings are asked for."""
    if multipliers:
        raise ValueError("embedding_lr_multipliers is not supported: use gradient_multipliers of optimize_loss")
