"""An estimator of recurrent networks over legacy feature columns."""

import tensorflow as tf
from tensorflow.contrib.layers import feature_column_ops, layers, optimizers, target_column
from tensorflow.contrib.learn import constants, estimator, model_fn, rnn_common
from tensorflow.python.util import nest

PredictionType = rnn_common.PredictionType
_ProblemType = constants.ProblemType


def _state_name(i):
    return f"{rnn_common.RNNKeys.STATE_PREFIX}_{i}"


def state_tuple_to_dict(state):
    """The tensors of a state, by the names "rnn_cell_state_0" and so on, depth first."""
    with tf.name_scope("state_tuple_to_dict"):
        return {
            _state_name(i): None if tensor is None else tf.identity(tensor, name=_state_name(i))
            for i, tensor in enumerate(nest.flatten(state))
        }


def dict_to_state_tuple(input_dict, cell):
    """The state that is in features under the names of `state_tuple_to_dict`; None if there is none.

    Raises:
      ValueError: a part of the state is missing.
      tf.errors.InvalidArgumentError: when run, a tensor has not the shape [batch, size of the state].
    """
    sizes = nest.flatten(cell.state_size)
    tensors = []
    with tf.name_scope("dict_to_state_tuple"):
        for i, size in enumerate(sizes):
            tensor = input_dict.get(_state_name(i))
            if tensor is not None:
                rank = tf.assert_rank(tensor, 2, name=f"check_state_{i}_rank")
                shape = tf.assert_equal(tf.shape(tensor)[1], size, name=f"check_state_{i}_shape")
                with tf.control_dependencies([rank, shape]):
                    tensors.append(tf.identity(tensor, name=_state_name(i)))
        if not tensors:
            return None
        if len(tensors) != len(sizes):
            raise ValueError(
                f"RNN state was partially specified. Expected zero or {len(sizes)} state Tensors; got {len(tensors)}"
            )
        return nest.pack_sequence_as(cell.state_size, tensors)


def _concatenate_context_input(sequence_input, context_input):
    """`[batch, time, a]` beside `[batch, b]` at each step: `[batch, time, a + b]`.

    Raises:
      ValueError: another rank.
      TypeError: another type than float32.
    """
    for name, tensor, rank in (("sequence_input", sequence_input, 3), ("context_input", context_input, 2)):
        tf.assert_rank(tensor, rank, message=f"{name} must have rank {rank}")
        tf.assert_type(tensor, tf.float32, message=f"{name} must have dtype float32; got {tensor.dtype}.")
    time = tf.shape(sequence_input)[1]
    return tf.concat([sequence_input, tf.tile(tf.expand_dims(context_input, 1), [1, time, 1])], 2)


def build_sequence_input(
    features, sequence_feature_columns, context_feature_columns, weight_collections=None, scope=None
):
    """The input `[batch, time, width]` of a recurrent network.

    Args:
      features: dict of features.
      sequence_feature_columns: columns of features that change from step to step.
      context_feature_columns: columns of features of a whole sequence, or None.
      weight_collections: collections to which weights are added.
      scope: variable scope.
    """
    columns = list(sequence_feature_columns) + list(context_feature_columns or [])
    features = {**features, **feature_column_ops.transform_features(features, columns)}
    arguments = {"columns_to_tensors": features, "weight_collections": weight_collections, "scope": scope}
    sequence_input = feature_column_ops.sequence_input_from_feature_columns(
        feature_columns=sequence_feature_columns, **arguments
    )
    if context_feature_columns is None:
        return sequence_input
    context_input = feature_column_ops.input_from_feature_columns(feature_columns=context_feature_columns, **arguments)
    return _concatenate_context_input(sequence_input, context_input)


def construct_rnn(
    initial_state,
    sequence_input,
    cell,
    num_label_columns,
    dtype=tf.float32,
    parallel_iterations=32,
    swap_memory=True,
):
    """A recurrent network and a linear layer over its outputs.

    Args:
      initial_state: of the cell; None for zeros.
      sequence_input: `[batch, time, width]`.
      cell: an RNN cell.
      num_label_columns: size of the layer.
      dtype: of the state.
      parallel_iterations: see `tf.nn.dynamic_rnn`.
      swap_memory: see `tf.nn.dynamic_rnn`.

    Returns:
      (activations `[batch, time, num_label_columns]`, final state).
    """
    with tf.name_scope("RNN"):
        outputs, final_state = tf.nn.dynamic_rnn(
            cell=cell,
            inputs=sequence_input,
            initial_state=initial_state,
            dtype=dtype,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
            time_major=False,
        )
        return layers.fully_connected(outputs, num_label_columns, activation_fn=None, trainable=True), final_state


class DynamicRnnEstimator(estimator.Estimator):
    """A recurrent network that predicts a class or a number, for a sequence or for each of its steps.

    The feature "sequence_length" `[batch]`, if there, tells the lengths of padded sequences. The features
    "rnn_cell_state_0" and so on, if there, are the initial state; predictions have the final one under these names.

    Args:
      problem_type: `ProblemType.CLASSIFICATION` or `LINEAR_REGRESSION`.
      prediction_type: `PredictionType.SINGLE_VALUE` or `MULTIPLE_VALUE`.
      sequence_feature_columns: columns of features that change from step to step.
      context_feature_columns: columns of features of a whole sequence.
      num_classes: number of classes.
      num_units: list of the sizes of stacked cells, or the size of one.
      cell_type: "basic_rnn", "lstm", "gru", a class of cells, or a cell.
      optimizer: optimizer, class, function, or name.
      learning_rate: of an optimizer that is no object.
      predict_probabilities: whether "probabilities" are predicted too.
      momentum: of the optimizer "Momentum".
      gradient_clipping_norm: global norm to which gradients are clipped.
      dropout_keep_probabilities: list, one longer than `num_units`; see `rnn_common.construct_rnn_cell`.
      model_dir: folder of the checkpoints; a temporary one by default.
      feature_engineering_fn: function of (features, labels) that returns what the model gets.
      config: a `RunConfig`.

    Raises:
      ValueError: `problem_type` or `prediction_type` is unknown, `num_classes` is missing, or probabilities of numbers are
        asked for.
    """

    def __init__(
        self,
        problem_type,
        prediction_type,
        sequence_feature_columns,
        context_feature_columns=None,
        num_classes=None,
        num_units=None,
        cell_type="basic_rnn",
        optimizer="SGD",
        learning_rate=0.1,
        predict_probabilities=False,
        momentum=None,
        gradient_clipping_norm=5.0,
        dropout_keep_probabilities=None,
        model_dir=None,
        feature_engineering_fn=None,
        config=None,
    ):
        kinds = {PredictionType.SINGLE_VALUE: "SingleValue", PredictionType.MULTIPLE_VALUE: "MultiValue"}
        if prediction_type not in kinds:
            raise ValueError(
                "prediction_type must be one of PredictionType.MULTIPLE_VALUE or PredictionType.SINGLE_VALUE; got "
                f"{prediction_type!r}"
            )
        if problem_type == _ProblemType.LINEAR_REGRESSION:
            if predict_probabilities:
                raise ValueError("predict_probabilities can only be set to True for ProblemType.CLASSIFICATION")
            self._target, name = target_column.regression_target(), "Regressor"
        elif problem_type == _ProblemType.CLASSIFICATION:
            if not num_classes:
                raise ValueError("For CLASSIFICATION problem_type, num_classes must be specified.")
            self._target, name = target_column.multi_class_target(n_classes=num_classes), "Classifier"
        else:
            raise ValueError(
                "problem_type must be either ProblemType.LINEAR_REGRESSION or ProblemType.CLASSIFICATION; got "
                f"{problem_type!r}"
            )
        self._name = f"{kinds[prediction_type]}DynamicRNN{name}"
        self._problem_type = problem_type
        self._prediction_type = prediction_type
        self._sequence_columns = sequence_feature_columns
        self._context_columns = context_feature_columns
        self._cell = (num_units, cell_type)
        self._dropout = dropout_keep_probabilities
        self._probabilities = predict_probabilities
        if optimizer == "Momentum":
            optimizer = tf.train.MomentumOptimizer(learning_rate, momentum)
        self._optimization = {
            "optimizer": optimizer,
            "learning_rate": learning_rate,
            "clip_gradients": gradient_clipping_norm,
        }
        super().__init__(
            self._rnn_model_fn, model_dir=model_dir, config=config, feature_engineering_fn=feature_engineering_fn
        )

    def _rnn_model_fn(self, features, labels, mode):
        single = self._prediction_type == PredictionType.SINGLE_VALUE
        with tf.name_scope(self._name):
            lengths = features.get(rnn_common.RNNKeys.SEQUENCE_LENGTH_KEY)
            sequence_input = build_sequence_input(features, self._sequence_columns, self._context_columns)
            cell = rnn_common.construct_rnn_cell(
                *self._cell, self._dropout if mode == model_fn.ModeKeys.TRAIN else None
            )
            activations, final_state = construct_rnn(
                dict_to_state_tuple(features, cell), sequence_input, cell, self._target.num_label_columns
            )
            describe = (self._target, self._problem_type, self._probabilities)
            if single:
                activations = rnn_common.select_last_activations(activations, lengths)
                activations.set_shape([None, self._target.num_label_columns])
                predictions = rnn_common.flat_predictions(activations, *describe)
            else:
                predictions = rnn_common.multi_value_predictions(activations, *describe)
            alternatives = {"dynamic_rnn_output": (self._problem_type, dict(predictions))} if single else None
            predictions.update(state_tuple_to_dict(final_state))
            loss = metrics = train_op = None
            if mode != model_fn.ModeKeys.INFER:
                kept = (activations, labels)
                if not single:
                    kept = rnn_common.mask_activations_and_labels(activations, labels, lengths)
                loss = self._target.loss(*kept, features)
                metrics = rnn_common.get_eval_metric_ops(
                    self._problem_type, self._prediction_type, lengths, predictions, labels
                )
            if mode == model_fn.ModeKeys.TRAIN:
                train_op = optimizers.optimize_loss(
                    loss=loss, global_step=None, summaries=optimizers.OPTIMIZER_SUMMARIES, **self._optimization
                )
        return model_fn.ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives=alternatives,
        )
