"""RNN layers over time, with the interface of 1.15's functional ones; they run as `tf.nn.dynamic_rnn`."""

import tensorflow as tf


def _reversed(values, lengths, time_major):
    time, batch = (0, 1) if time_major else (1, 0)

    def reverse(t):
        if lengths is None:
            return tf.reverse(t, [time])
        return tf.reverse_sequence(t, lengths, seq_axis=time, batch_axis=batch)

    return tf.nest.map_structure(reverse, values)


def functional_rnn(
    cell,
    inputs,
    sequence_length=None,
    initial_state=None,
    dtype=None,
    time_major=False,
    scope=None,
    use_tpu=False,
    reverse=False,
):
    """Runs a cell over sequences.

    Args:
      cell: an RNN cell.
      inputs: [batch, time, size], or [time, batch, size] if `time_major`.
      sequence_length: [batch] integers, all of full length by default.
      initial_state: zeros by default.
      dtype: of the zeros.
      time_major: whether time is the first dimension.
      scope: variable scope, "rnn" by default.
      use_tpu: must be off.
      reverse: whether the cell runs from the end to the start; outputs lie where their inputs are.

    Returns:
      (outputs, final state).

    Raises:
      NotImplementedError: `use_tpu`.
    """
    if use_tpu:
        raise NotImplementedError("functional_rnn: use_tpu=True needs a TPU, which this build does not support")
    with tf.variable_scope(scope or "rnn") as scope:
        fed = _reversed(inputs, sequence_length, time_major) if reverse else inputs
        outputs, state = tf.nn.dynamic_rnn(
            cell,
            fed,
            sequence_length=sequence_length,
            initial_state=initial_state,
            dtype=dtype,
            time_major=time_major,
            scope=scope,
        )
        if reverse:
            outputs = _reversed(outputs, sequence_length, time_major)
    return outputs, state


def bidirectional_functional_rnn(
    cell_fw,
    cell_bw,
    inputs,
    initial_state_fw=None,
    initial_state_bw=None,
    dtype=None,
    sequence_length=None,
    time_major=False,
    use_tpu=False,
    fast_reverse=False,
    scope=None,
):
    """Runs two cells over sequences, one each way.

    Args:
      cell_fw: cell that runs forward.
      cell_bw: cell that runs backward.
      inputs: [batch, time, size], or [time, batch, size] if `time_major`.
      initial_state_fw: zeros by default.
      initial_state_bw: zeros by default.
      dtype: of the zeros.
      sequence_length: [batch] integers.
      time_major: whether time is the first dimension.
      use_tpu: must be off.
      fast_reverse: whether the backward cell starts at the end of the padding; lengths must then be None.
      scope: variable scope, "bidirectional_rnn" by default, with "fw" and "bw" below it.

    Returns:
      ((outputs forward, outputs backward), (final state forward, final state backward)).

    Raises:
      NotImplementedError: `use_tpu`.
      ValueError: `fast_reverse` with `sequence_length`.
    """
    if fast_reverse and sequence_length is not None:
        raise ValueError("sequence_length is not supported with fast_reverse.")
    arguments = dict(sequence_length=sequence_length, dtype=dtype, time_major=time_major, use_tpu=use_tpu)
    with tf.variable_scope(scope or "bidirectional_rnn"):
        with tf.variable_scope("fw") as fw:
            forward, state_fw = functional_rnn(cell_fw, inputs, initial_state=initial_state_fw, scope=fw, **arguments)
        with tf.variable_scope("bw") as bw:
            backward, state_bw = functional_rnn(
                cell_bw, inputs, initial_state=initial_state_bw, scope=bw, reverse=True, **arguments
            )
    return (forward, backward), (state_fw, state_bw)
