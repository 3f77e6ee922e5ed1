"""Estimators over sequences: a recurrent network on sequence feature columns, and a dense layer for the logits."""

import tensorflow.compat.v1 as tf
from tensorflow.contrib.estimator import extenders
from tensorflow.contrib.feature_column import sequence_feature_column
from tensorflow_estimator.python.estimator import estimator
from tensorflow_estimator.python.estimator.canned import head as head_lib
from tensorflow_estimator.python.estimator.canned import optimizers
from tensorflow_estimator.python.estimator.head import sequential_head

_LEARNING_RATE = 0.05
_CLIP_NORM = 5.0
# The default of `cell_type`, told apart from a given one.
USE_DEFAULT = object()


def _cell_fn(rnn_cell_fn, num_units, cell_type):
    if rnn_cell_fn:
        if num_units or cell_type is not USE_DEFAULT:
            raise ValueError("With rnn_cell_fn, num_units and cell_type must not be given.")
        return rnn_cell_fn
    known = {
        "basic_rnn": tf.nn.rnn_cell.BasicRNNCell,
        "lstm": tf.nn.rnn_cell.BasicLSTMCell,
        "gru": tf.nn.rnn_cell.GRUCell,
    }
    cell_type = "basic_rnn" if cell_type is USE_DEFAULT else cell_type
    cell_class = known.get(cell_type) if isinstance(cell_type, str) else cell_type
    if not (isinstance(cell_class, type) and issubclass(cell_class, tf.nn.rnn_cell.RNNCell)):
        raise ValueError(f"cell_type must be one of {sorted(known)} or a subclass of RNNCell, got {cell_type!r}.")

    def make(mode):
        del mode
        cells = [cell_class(num_units=units) for units in num_units]
        return cells[0] if len(cells) == 1 else tf.nn.rnn_cell.MultiRNNCell(cells)

    return make


def _last_outputs(outputs, lengths):
    with tf.name_scope("select_last_activations", values=[outputs, lengths]):
        # Each size once: default seeds count ops.
        shape = tf.shape(outputs)
        batch, time, units = shape[0], shape[1], shape[2]
        last = tf.cast(tf.range(batch) * time, tf.int64) + tf.cast(lengths, tf.int64) - 1
        result = tf.gather(tf.reshape(outputs, [batch * time, units]), last)
        result.set_shape([outputs.shape[0], outputs.shape[2]])
        return result


def _model_fn(
    features,
    labels,
    mode,
    head,
    rnn_cell_fn,
    sequence_columns,
    context_columns,
    return_sequences,
    optimizer,
    input_layer_partitioner,
    config,
):
    from tensorflow.contrib.feature_column import sequence_input_layer

    if not isinstance(features, dict):
        raise ValueError(f"features must be a dict of tensors, got {type(features)}.")
    if not isinstance(optimizer, tf.train.Optimizer):
        optimizer = optimizers.get_optimizer_instance(optimizer, learning_rate=_LEARNING_RATE)
        optimizer = extenders.clip_gradients_by_norm(optimizer, _CLIP_NORM)
    shards = config.num_ps_replicas if config else 0
    with tf.variable_scope(
        "rnn",
        values=tuple(features.values()),
        partitioner=tf.min_max_variable_partitioner(max_partitions=shards),
    ):
        partitioner = input_layer_partitioner or tf.min_max_variable_partitioner(
            max_partitions=shards, min_slice_size=64 << 20
        )
        with tf.variable_scope("sequence_input_layer", values=tuple(features.values()), partitioner=partitioner):
            sequence, lengths = sequence_input_layer(features=features, feature_columns=sequence_columns)
            tf.summary.histogram("sequence_length", lengths)
            if context_columns:
                context = tf.feature_column.input_layer(features, context_columns)
                sequence = sequence_feature_column.concatenate_context_input(context, sequence)
        outputs, _ = tf.nn.dynamic_rnn(
            rnn_cell_fn(mode), sequence, sequence_length=lengths, dtype=tf.float32, time_major=False
        )
        if not return_sequences:
            outputs = _last_outputs(outputs, lengths)
        with tf.variable_scope("logits", values=(outputs,)):
            logits = tf.layers.dense(outputs, head.logits_dimension, kernel_initializer=tf.glorot_uniform_initializer())
        if return_sequences and head.input_sequence_mask_key not in features:
            features[head.input_sequence_mask_key] = tf.sequence_mask(lengths)
        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            train_op_fn=lambda loss: optimizer.minimize(loss, global_step=tf.train.get_global_step()),
            logits=logits,
        )


class _RNNBase(estimator.Estimator):
    def __init__(
        self,
        head,
        sequence_feature_columns,
        context_feature_columns,
        num_units,
        cell_type,
        rnn_cell_fn,
        return_sequences,
        model_dir,
        optimizer,
        input_layer_partitioner,
        config,
    ):
        cell_fn = _cell_fn(rnn_cell_fn, num_units, cell_type)
        sequence_columns = tuple(sequence_feature_columns or ())
        context_columns = tuple(context_feature_columns or ())

        def model_fn(features, labels, mode, config):
            return _model_fn(
                features,
                labels,
                mode,
                head,
                cell_fn,
                sequence_columns,
                context_columns,
                return_sequences,
                optimizer,
                input_layer_partitioner,
                config,
            )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)


_ARGUMENTS = """
    Args:
      sequence_feature_columns: columns of sequences: sequence_numeric_column, or embedding or indicator columns over
        sequence_categorical_column_with_*.
      context_feature_columns: dense columns of the whole sequence; their values are put beside each step.
      num_units: number of units of each layer.
      cell_type: 'basic_rnn' (default), 'lstm', 'gru', or a subclass of tf.nn.rnn_cell.RNNCell.
      rnn_cell_fn: function of the mode that returns the cell, in place of num_units and cell_type.
      model_dir: folder of checkpoints and summaries.
      optimizer: name, Optimizer, or function that makes one. A name means a learning rate of 0.05 and gradients clipped to norm 5.
      input_layer_partitioner: partitioner of the input columns' variables.
      config: RunConfig.

    Raises:
      ValueError: rnn_cell_fn together with num_units or cell_type, or an unknown cell_type.
"""


class RNNClassifier(_RNNBase):
    """Classifies sequences by the output at their last step."""

    def __init__(
        self,
        sequence_feature_columns,
        context_feature_columns=None,
        num_units=None,
        cell_type=USE_DEFAULT,
        rnn_cell_fn=None,
        model_dir=None,
        n_classes=2,
        weight_column=None,
        label_vocabulary=None,
        optimizer="Adagrad",
        loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE,
        input_layer_partitioner=None,
        config=None,
    ):
        head = head_lib._binary_logistic_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(
            head,
            sequence_feature_columns,
            context_feature_columns,
            num_units,
            cell_type,
            rnn_cell_fn,
            False,
            model_dir,
            optimizer,
            input_layer_partitioner,
            config,
        )


class RNNEstimator(_RNNBase):
    """The same with any head. With `return_sequences` there are logits for each step, for a sequential head."""

    def __init__(
        self,
        head,
        sequence_feature_columns,
        context_feature_columns=None,
        num_units=None,
        cell_type=USE_DEFAULT,
        rnn_cell_fn=None,
        return_sequences=False,
        model_dir=None,
        optimizer="Adagrad",
        input_layer_partitioner=None,
        config=None,
    ):
        if return_sequences and not isinstance(head, sequential_head._SequentialHead):
            raise ValueError(f"return_sequences=True needs a sequential head, got {head}.")
        super().__init__(
            head,
            sequence_feature_columns,
            context_feature_columns,
            num_units,
            cell_type,
            rnn_cell_fn,
            return_sequences,
            model_dir,
            optimizer,
            input_layer_partitioner,
            config,
        )


for _class in (RNNClassifier, RNNEstimator):
    _class.__doc__ += "\n" + _ARGUMENTS
