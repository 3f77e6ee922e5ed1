"""Stacks of bidirectional layers: each layer sees both directions of the one below."""

import tensorflow as tf

RNNCell = tf.nn.rnn_cell.RNNCell


def _check_stack(cells_fw, cells_bw, states_fw, states_bw) -> None:
    for name, cells in (("cells_fw", cells_fw), ("cells_bw", cells_bw)):
        if not isinstance(cells, list):
            raise ValueError(f"{name} must be a list of RNNCells (one per layer).")
        if not cells:
            raise ValueError("Must specify at least one fw cell for BidirectionalRNN.")
    if len(cells_fw) != len(cells_bw):
        raise ValueError(
            f"Forward and Backward cells must have the same depth, got {len(cells_fw)} and {len(cells_bw)}."
        )
    for name, states in (("initial_states_fw", states_fw), ("initial_states_bw", states_bw)):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(f"{name} must be a list of state tensors (one per layer).")


def _stack(run_layer, cells_fw, cells_bw, inputs, states_fw, states_bw, scope):
    """`run_layer(fw cell, bw cell, inputs, fw state, bw state)` -> (joined outputs, fw state, bw state)."""
    _check_stack(cells_fw, cells_bw, states_fw, states_bw)
    depth = len(cells_fw)
    states_fw, states_bw = states_fw or [None] * depth, states_bw or [None] * depth
    finals_fw, finals_bw = [], []
    layers = zip(cells_fw, cells_bw, states_fw, states_bw)
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for index, (cell_fw, cell_bw, state_fw, state_bw) in enumerate(layers):
            with tf.variable_scope(f"cell_{index}"):
                inputs, final_fw, final_bw = run_layer(cell_fw, cell_bw, inputs, state_fw, state_bw)
            finals_fw.append(final_fw)
            finals_bw.append(final_bw)
    return inputs, tuple(finals_fw), tuple(finals_bw)


def stack_bidirectional_rnn(
    cells_fw,
    cells_bw,
    inputs,
    initial_states_fw=None,
    initial_states_bw=None,
    dtype=None,
    sequence_length=None,
    scope=None,
):
    """A stack of `tf.nn.static_bidirectional_rnn` layers.

    Args:
      cells_fw: list of cells, one a layer, that run forward.
      cells_bw: list of as many cells that run backward.
      inputs: list of [batch, input size], one a step.
      initial_states_fw: list of states, one a layer; zeros by default.
      initial_states_bw: the same for `cells_bw`.
      dtype: of the zeros.
      sequence_length: [batch] integers.
      scope: variable scope; "stack_bidirectional_rnn" by default, with "cell_N" for each layer below it.

    Returns:
      (outputs of the top layer, a list of [batch, forward size + backward size];
       tuple of the forward layers' final states; tuple of the backward layers' final states).

    Raises:
      ValueError: cells or states are no lists, or differ in number.
    """

    def run_layer(cell_fw, cell_bw, layer_inputs, state_fw, state_bw):
        return tf.nn.static_bidirectional_rnn(
            cell_fw,
            cell_bw,
            layer_inputs,
            initial_state_fw=state_fw,
            initial_state_bw=state_bw,
            sequence_length=sequence_length,
            dtype=dtype,
        )

    return _stack(run_layer, cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope)


def stack_bidirectional_dynamic_rnn(
    cells_fw,
    cells_bw,
    inputs,
    initial_states_fw=None,
    initial_states_bw=None,
    dtype=None,
    sequence_length=None,
    parallel_iterations=None,
    time_major=False,
    scope=None,
    swap_memory=False,
):
    """A stack of `tf.nn.bidirectional_dynamic_rnn` layers.

    Args:
      cells_fw: list of cells, one a layer, that run forward.
      cells_bw: list of as many cells that run backward.
      inputs: [batch, time, input size], or [time, batch, input size] if `time_major`.
      initial_states_fw: list of states, one a layer; zeros by default.
      initial_states_bw: the same for `cells_bw`.
      dtype: of the zeros.
      sequence_length: [batch] integers.
      parallel_iterations: as in `tf.nn.dynamic_rnn`.
      time_major: whether time is the first dimension.
      scope: variable scope; "stack_bidirectional_rnn" by default, with "cell_N" for each layer below it.
      swap_memory: as in `tf.nn.dynamic_rnn`.

    Returns:
      (outputs of the top layer, both directions joined in the last dimension;
       tuple of the forward layers' final states; tuple of the backward layers' final states).

    Raises:
      ValueError: cells or states are no lists, or differ in number.
    """

    def run_layer(cell_fw, cell_bw, layer_inputs, state_fw, state_bw):
        outputs, (final_fw, final_bw) = tf.nn.bidirectional_dynamic_rnn(
            cell_fw,
            cell_bw,
            layer_inputs,
            initial_state_fw=state_fw,
            initial_state_bw=state_bw,
            sequence_length=sequence_length,
            parallel_iterations=parallel_iterations,
            dtype=dtype,
            swap_memory=swap_memory,
            time_major=time_major,
        )
        return tf.concat(outputs, 2), final_fw, final_bw

    return _stack(run_layer, cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope)
