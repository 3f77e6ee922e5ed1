"""What the canned estimators share: networks and linear models over legacy feature columns, and predictions by kind."""

import math

from tensorflow.contrib.layers import feature_column, feature_column_ops, layers, optimizers
from tensorflow.contrib.learn import estimator, head, model_fn, prediction_key
from tensorflow.contrib.learn.utils import export
from tensorflow.python.feature_column import feature_column_lib as core_columns
from tensorflow.python.framework import ops
from tensorflow.python.ops import clip_ops, gradients_impl, nn, partitioned_variables, variable_scope
from tensorflow.python.summary import summary
from tensorflow.python.training import training, training_util

DNN_RATE, LINEAR_RATE = 0.05, 0.2


def as_dict(features):
    """Features as a dict; a single tensor has the name ""."""
    return dict(features) if isinstance(features, dict) else {"": features}


def make_optimizer(optimizer):
    """An optimizer, what a function or class of it returns, or the name of one for `optimize_loss`."""
    return optimizer() if callable(optimizer) else optimizer


def parameter_partitioner(config, minimum=None):
    """The partitioner of a model's variables: at most one part for each parameter server, of `minimum` bytes or more.

    Without parameter servers a variable is one part. It is partitioned all the same, as in 1.15: the keys of its slots in
    a checkpoint follow from that.
    """
    sizes = {} if minimum is None else {"min_slice_size": minimum}
    servers = getattr(config, "num_ps_replicas", 0) or 0
    return partitioned_variables.min_max_variable_partitioner(max_partitions=servers, **sizes)


def model_scope(name, features, config, minimum=None):
    """The variable scope of the network or of the linear model."""
    return variable_scope.variable_scope(
        name, values=tuple(as_dict(features).values()), partitioner=parameter_partitioner(config, minimum)
    )


def _are_legacy(columns):
    return all(isinstance(column, feature_column._FeatureColumn) for column in columns)


def _activation(activation):
    if not isinstance(activation, str):
        return activation
    known = {"relu": nn.relu, "tanh": nn.tanh, "sigmoid": nn.sigmoid}
    if activation not in known:
        raise ValueError(f"Activation name should be one of {sorted(known)}, got {activation!r}")
    return known[activation]


def summarize(tensor, tag, separator="/"):
    """Summaries of a layer's output."""
    summary.scalar(f"{tag}{separator}fraction_of_zero_values", nn.zero_fraction(tensor))
    summary.histogram(f"{tag}{separator}activation", tensor)


def dnn_logits(
    features, columns, hidden_units, activation_fn, dropout, dimension, mode, partitioner, separator="/", parent="dnn"
):
    """(logits of a network, name of its input's scope); to be called in `model_scope(parent, ...)`."""
    features = as_dict(features)
    with variable_scope.variable_scope(
        "input_from_feature_columns", values=tuple(features.values()), partitioner=partitioner
    ) as input_scope:
        if _are_legacy(columns):
            net = feature_column_ops.input_from_feature_columns(
                features, columns, weight_collections=[parent], scope=input_scope
            )
        else:
            net = core_columns.input_layer(features, columns, weight_collections=[parent])
    for i, units in enumerate(hidden_units):
        with variable_scope.variable_scope(f"hiddenlayer_{i}", values=(net,)) as scope:
            net = layers.fully_connected(
                net, units, activation_fn=_activation(activation_fn), variables_collections=[parent], scope=scope
            )
            if dropout is not None and mode == model_fn.ModeKeys.TRAIN:
                net = layers.dropout(net, keep_prob=1.0 - dropout)
        summarize(net, scope.name, separator)
    with variable_scope.variable_scope("logits", values=(net,)) as scope:
        logits = layers.fully_connected(net, dimension, activation_fn=None, variables_collections=[parent], scope=scope)
    summarize(logits, scope.name, separator)
    return logits, input_scope.name


def linear_logits(features, columns, dimension, joint, scope):
    """The logits of a linear model; to be called in `scope`, a `model_scope("linear", ...)`."""
    features = as_dict(features)
    if not _are_legacy(columns):
        return core_columns.linear_model(features, columns, units=dimension, weight_collections=["linear"])
    build = (
        feature_column_ops.joint_weighted_sum_from_feature_columns
        if joint
        else feature_column_ops.weighted_sum_from_feature_columns
    )
    return build(features, columns, dimension, weight_collections=["linear"], scope=scope)[0]


def embedding_multipliers(multipliers, input_scope, collection="dnn"):
    """dict: variable of an embedding -> factor of its gradient, from a dict with the embedding columns as keys.

    Raises:
      ValueError: a key is no embedding column, or one that the model does not use.
    """
    result = {}
    for column, factor in (multipliers or {}).items():
        if not isinstance(column, feature_column._EmbeddingColumn):
            raise ValueError(f"embedding_lr_multipliers may have embedding columns only, got {column}")
        variables = ops.get_collection(collection, f"{input_scope}/{column.name}")
        if not variables:
            raise ValueError(f"embedding_lr_multipliers: couldn't find a variable for column {column}")
        result.update(dict.fromkeys(variables, factor))
    return result or None


def optimize_part(loss, part, rate, optimizer, clip, multipliers=None, variables=None, increment=True):
    """The train op of the network or of the linear model (`part`), with a variable for its learning rate."""
    return optimizers.optimize_loss(
        loss=loss,
        global_step=training_util.get_global_step(),
        learning_rate=rate,
        optimizer=make_optimizer(optimizer),
        gradient_multipliers=multipliers,
        clip_gradients=clip,
        variables=variables,
        name=part,
        # The head writes the summary of the loss.
        summaries=[],
        increment_global_step=increment,
    )


def linear_rate(columns):
    """The learning rate of a linear model."""
    return min(LINEAR_RATE, 1.0 / math.sqrt(len(columns)))


def train_linear(loss, optimizer, columns, clip):
    """The train op of a linear model by itself."""
    if optimizer is None:
        optimizer = training.FtrlOptimizer(learning_rate=linear_rate(columns))
    elif isinstance(optimizer, str):
        optimizer = optimizers.OPTIMIZER_CLS_NAMES[optimizer](learning_rate=LINEAR_RATE)
    else:
        optimizer = make_optimizer(optimizer)
    variables = ops.get_collection("linear")
    grads = gradients_impl.gradients(loss, variables)
    if clip:
        grads, _ = clip_ops.clip_by_global_norm(grads, clip)
    return optimizer.apply_gradients(list(zip(grads, variables)), global_step=training_util.get_global_step())


class HeadEstimator(estimator.Estimator):
    """An estimator with a head; subclasses write `_head_model_fn(features, labels, mode)`."""

    def __init__(self, a_head, model_dir, config, feature_engineering_fn):
        self._head = a_head
        super().__init__(self._head_model_fn, model_dir, config=config, feature_engineering_fn=feature_engineering_fn)

    def _all_columns(self):
        return self._columns

    def _head_model_fn(self, features, labels, mode):
        raise NotImplementedError

    def _ops(self, features, labels, mode, logits, train):
        return self._head.create_model_fn_ops(as_dict(features), mode, labels=labels, train_op_fn=train, logits=logits)


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
