"""Sequences to sequences with an RNN that is unrolled over lists of tensors."""

from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, math_ops, nn, variable_scope
from tensorflow.python.ops import rnn as rnn_ops


def sequence_classifier(decoding, labels, sampling_decoding=None, name=None):
    """Predictions and loss of a decoded sequence of logits.

    Args:
      decoding: list of tensors `[batch, classes]`, one for each step.
      labels: list of one-hot tensors `[batch, classes]`.
      sampling_decoding: list of tensors `[batch, classes]` that are predicted in the place of `decoding`.
      name: name of the ops.

    Returns:
      `(predictions [batch, steps, classes], loss)`; the loss is the sum of the cross entropies over steps and batch.

    Raises:
      ValueError: if there are more or fewer labels than steps.
    """
    if len(decoding) != len(labels):
        raise ValueError(f"labels must have as many steps as decoding, {len(decoding)}, got {len(labels)}")
    with ops.name_scope(name, "sequence_classifier", [*decoding, *labels]):
        losses = [
            nn.softmax_cross_entropy_with_logits(labels=label, logits=logits, name=f"sequence_loss/xent_raw{i}")
            for i, (logits, label) in enumerate(zip(decoding, labels))
        ]
        loss = math_ops.reduce_sum(math_ops.add_n(losses, name="sequence_loss/xent"), name="sequence_loss")
        return array_ops.stack(sampling_decoding or decoding, axis=1), loss


def seq2seq_inputs(x, y, input_length, output_length, sentinel=None, name=None):
    """Inputs of a sequence-to-sequence model as lists of steps.

    Args:
      x: tensor `[batch, input_length, depth]`.
      y: tensor `[batch, output_length, depth]`.
      input_length: number of steps of `x`.
      output_length: number of steps of `y`.
      sentinel: tensor `[batch, depth]` before the first and after the last step of `y`; zeros by default.
      name: name of the ops.

    Returns:
      `(encoder inputs, decoder inputs, decoder outputs)`: lists of tensors; the second is the third, one step later.
    """
    with ops.name_scope(name, "seq2seq_inputs", [x, y]):
        in_x = array_ops.unstack(x, num=input_length, axis=1)
        steps = array_ops.unstack(y, num=output_length, axis=1)
        if sentinel is None:
            depth = y.get_shape()[2]
            sentinel = array_ops.zeros(array_ops.stack([array_ops.shape(x)[0], depth]), dtype=y.dtype)
            sentinel.set_shape([x.get_shape()[0], depth])
        return in_x, [sentinel, *steps], [*steps, sentinel]


def rnn_decoder(decoder_inputs, initial_state, cell, scope=None):
    """Decodes with the given inputs, and, with the same weights, with its own outputs as inputs.

    Args:
      decoder_inputs: list of tensors `[batch, depth]`.
      initial_state: state of `cell`.
      cell: `RNNCell`.
      scope: variable scope, "dnn" by default.

    Returns:
      `(outputs, states, sampling_outputs, sampling_states)`: lists; states begin with the initial one, sampling's first output is that of the first input.
    """
    with variable_scope.variable_scope(scope or "dnn"):
        states, sampling_states, outputs, sampling_outputs = [initial_state], [initial_state], [], []
        with ops.name_scope("training", values=[*decoder_inputs]):
            for i, inputs in enumerate(decoder_inputs):
                if i > 0:
                    variable_scope.get_variable_scope().reuse_variables()
                output, state = cell(inputs, states[-1])
                outputs.append(output)
                states.append(state)
        with ops.name_scope("sampling"):
            for i in range(len(decoder_inputs)):
                if i == 0:
                    sampling_outputs.append(outputs[0])
                    sampling_states.append(states[1])
                else:
                    output, state = cell(sampling_outputs[-1], sampling_states[-1])
                    sampling_outputs.append(output)
                    sampling_states.append(state)
    return outputs, states, sampling_outputs, sampling_states


def rnn_seq2seq(encoder_inputs, decoder_inputs, encoder_cell, decoder_cell=None, dtype=dtypes.float32, scope=None):
    """Encodes a sequence into a state, from which another one is decoded.

    Args:
      encoder_inputs: list of tensors `[batch, depth]`.
      decoder_inputs: list of tensors `[batch, depth]`.
      encoder_cell: `RNNCell`.
      decoder_cell: `RNNCell`; `encoder_cell` by default.
      dtype: type of the initial state.
      scope: variable scope, "rnn_seq2seq" by default.

    Returns:
      As `rnn_decoder`.
    """
    with variable_scope.variable_scope(scope or "rnn_seq2seq"):
        _, state = rnn_ops.static_rnn(encoder_cell, encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, decoder_cell or encoder_cell)
