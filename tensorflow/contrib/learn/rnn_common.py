"""What estimators of recurrent networks share: cells, activations of sequences, predictions, metrics."""

import tensorflow as tf
from tensorflow.contrib.learn import constants, prediction_key
from tf_slim.metrics import metric_ops

_CELLS = {
    "basic_rnn": lambda units: tf.nn.rnn_cell.BasicRNNCell(units),
    "lstm": lambda units: tf.nn.rnn_cell.LSTMCell(units),
    "gru": lambda units: tf.nn.rnn_cell.GRUCell(units),
}


class PredictionType:
    """Whether there is one prediction for a sequence, or one for each of its steps."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


class RNNKeys:
    """Keys of features and predictions."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"


def _single_cell(cell_type, num_units):
    if isinstance(cell_type, tf.nn.rnn_cell.RNNCell):
        return cell_type
    if isinstance(cell_type, str):
        if cell_type not in _CELLS:
            raise ValueError(f"The supported cell types are {sorted(_CELLS)}; got {cell_type!r}")
        return _CELLS[cell_type](num_units)
    if not isinstance(cell_type, type) or not issubclass(cell_type, tf.nn.rnn_cell.RNNCell):
        raise TypeError(f"cell_type must be an RNNCell, a subclass or one of {sorted(_CELLS)}; got {cell_type!r}")
    return cell_type(num_units=num_units)


def construct_rnn_cell(num_units, cell_type="basic_rnn", dropout_keep_probabilities=None):
    """A cell, or a stack of them.

    Args:
      num_units: size of the cell, or list of the sizes of the stack.
      cell_type: "basic_rnn", "lstm", "gru", a class of cells, or a cell.
      dropout_keep_probabilities: list, one longer than the stack: probabilities with which what goes in between the cells is
        kept.

    Raises:
      ValueError: `cell_type` is unknown, or `dropout_keep_probabilities` has another length.
      TypeError: `cell_type` is something else.
    """
    sizes = num_units if isinstance(num_units, (list, tuple)) else (num_units,)
    cells = [_single_cell(cell_type, size) for size in sizes]
    if dropout_keep_probabilities:
        cells = apply_dropout(cells, dropout_keep_probabilities)
    return cells[0] if len(cells) == 1 else tf.nn.rnn_cell.MultiRNNCell(cells)


def apply_dropout(cells, dropout_keep_probabilities, random_seed=None):
    """Cells with dropout of their inputs, and of the outputs of the last.

    Args:
      cells: list of cells.
      dropout_keep_probabilities: list of probabilities, one longer than `cells`.
      random_seed: seed of the dropout.

    Raises:
      ValueError: there is another number of probabilities.
    """
    if len(dropout_keep_probabilities) != len(cells) + 1:
        raise ValueError(
            "The number of dropout probabilities must be one greater than the number of cells. Got "
            f"{len(cells)} cells and {len(dropout_keep_probabilities)} dropout probabilities."
        )
    *inputs, output = dropout_keep_probabilities
    outputs = [1.0] * (len(cells) - 1) + [output]
    return [
        tf.nn.rnn_cell.DropoutWrapper(cell, keep_input, keep_output, seed=random_seed)
        for cell, keep_input, keep_output in zip(cells, inputs, outputs)
    ]


def select_last_activations(activations, sequence_lengths):
    """The activations `[batch, k]` of each sequence's last step.

    Args:
      activations: `[batch, time, k]`.
      sequence_lengths: `[batch]`, or None for sequences without padding.
    """
    with tf.name_scope("select_last_activations", values=[activations, sequence_lengths]):
        if sequence_lengths is None:
            return activations[:, -1]
        last = tf.stack([tf.range(tf.shape(activations)[0]), tf.cast(sequence_lengths, tf.int32) - 1], axis=1)
        return tf.gather_nd(activations, last)


def mask_activations_and_labels(activations, labels, sequence_lengths):
    """Activations and labels of all steps that are no padding, one after the other.

    Args:
      activations: `[batch, time, k]`.
      labels: `[batch, time]`.
      sequence_lengths: `[batch]`, or None for sequences without padding.

    Returns:
      (`[steps, k]`, `[steps]`).
    """
    with tf.name_scope("mask_activations_and_labels", values=[activations, labels, sequence_lengths]):
        shape = tf.shape(labels)
        if sequence_lengths is None:
            return tf.reshape(activations, [shape[0] * shape[1], -1]), tf.reshape(labels, [-1])
        mask = tf.sequence_mask(sequence_lengths, shape[1])
        return tf.boolean_mask(activations, mask), tf.boolean_mask(labels, mask)


def _predictions_name(problem_type):
    keys = prediction_key.PredictionKey
    return keys.CLASSES if problem_type == constants.ProblemType.CLASSIFICATION else keys.SCORES


def flat_predictions(activations, target_column, problem_type, predict_probabilities):
    """dict of predictions of activations `[n, k]`: classes or scores `[n]`, and probabilities `[n, classes]` if wanted."""
    name = _predictions_name(problem_type)
    if not predict_probabilities:
        return {name: target_column.logits_to_predictions(activations, proba=False)}
    probabilities = target_column.logits_to_predictions(activations, proba=True)
    return {prediction_key.PredictionKey.PROBABILITIES: probabilities, name: tf.argmax(probabilities, 1)}


def multi_value_predictions(activations, target_column, problem_type, predict_probabilities):
    """dict of predictions of all steps, those of the padding too.

    Args:
      activations: `[batch, time, k]`.
      target_column: a target of `tf.contrib.layers`.
      problem_type: a `ProblemType`.
      predict_probabilities: whether there are "probabilities" `[batch, time, classes]` too.
    """
    with tf.name_scope("MultiValuePrediction"):
        shape = tf.shape(activations)
        flat = tf.reshape(activations, [-1, target_column.num_label_columns])
        predictions = flat_predictions(flat, target_column, problem_type, predict_probabilities)
        return {
            name: tf.reshape(value, tf.concat([shape[:2], tf.shape(value)[1:]], 0), name=name)
            for name, value in predictions.items()
        }


def get_eval_metric_ops(problem_type, prediction_type, sequence_length, prediction_dict, labels):
    """dict of metrics: the accuracy of classes, over the steps that are no padding; nothing for scores."""
    if problem_type != constants.ProblemType.CLASSIFICATION:
        return {}
    classes = prediction_dict[prediction_key.PredictionKey.CLASSES]
    if prediction_type == PredictionType.MULTIPLE_VALUE:
        # With a dimension of activations.
        classes, labels = mask_activations_and_labels(tf.expand_dims(classes, 2), labels, sequence_length)
        classes = tf.squeeze(classes, [1])
    return {"accuracy": metric_ops.streaming_accuracy(predictions=classes, labels=labels)}
