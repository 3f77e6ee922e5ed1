"""The arithmetic of cuDNN's layer stacks, as loops over time on the CPU."""

import tensorflow as tf


def _lstm(x, h, state):
    i, f, new, o = (a + b for a, b in zip(x, h))
    c = tf.sigmoid(f) * state[1] + tf.sigmoid(i) * tf.tanh(new)
    return tf.sigmoid(o) * tf.tanh(c), c


def _gru(x, h, state):
    reset, update = tf.sigmoid(x[0] + h[0]), tf.sigmoid(x[1] + h[1])
    candidate = tf.tanh(x[2] + reset * h[2])
    return ((1 - update) * candidate + update * state[0],)


def _tanh(x, h, state):
    del state
    return (tf.tanh(x[0] + h[0]),)


def _relu(x, h, state):
    del state
    return (tf.nn.relu(x[0] + h[0]),)


_STEPS = {"lstm": _lstm, "gru": _gru, "rnn_tanh": _tanh, "rnn_relu": _relu}


def run(rnn_mode, converter, params, inputs, states, sequence_lengths=None, time_major=True, dropout=0.0, seed=None):
    """Runs a stack.

    Args:
      rnn_mode: "lstm", "gru", "rnn_tanh" or "rnn_relu".
      converter: a `CudnnParamsFormatConverter` of the stack.
      params: its flat vector.
      inputs: [time, batch, size], or [batch, time, size] if not `time_major`.
      states: tuple of [layers * directions, batch, units]: (h, c) of LSTMs, (h,) of others. Its first two dimensions are swapped
        if not `time_major`.
      sequence_lengths: [batch] integers, all by default.
      time_major: see `inputs`.
      dropout: part of the outputs between layers that is dropped.
      seed: seed of the dropout.

    Returns:
      (outputs [time, batch, units * directions], tuple of final states), laid out like the inputs and `states`.
    """
    if not time_major:
        inputs, *states = (tf.transpose(t, [1, 0, 2]) for t in (inputs, *states))
    cells = list(converter.cells(*converter.opaque_to_canonical(params)))
    num_dirs = converter.num_dirs
    finals = []
    for first in range(0, len(cells), num_dirs):
        if first and dropout:
            inputs = tf.nn.dropout(inputs, rate=dropout, seed=seed)
        ways = []
        for index in range(first, first + num_dirs):
            cell = _Step(rnn_mode, cells[index], len(states))
            state = tuple(s[index] for s in states)
            outputs, final = _one_way(cell, inputs, state, sequence_lengths, backward=index != first)
            ways.append(outputs)
            finals.append(final)
        inputs = ways[0] if len(ways) == 1 else tf.concat(ways, axis=2)
    states = tuple(tf.stack(parts) for parts in zip(*finals))
    if not time_major:
        inputs, *states = (tf.transpose(t, [1, 0, 2]) for t in (inputs, *states))
    return inputs, tuple(states)


def _one_way(cell, inputs, state, lengths, backward):
    def reversed_(t):
        if not backward:
            return t
        if lengths is None:
            return tf.reverse(t, [0])
        return tf.reverse_sequence(t, lengths, seq_axis=0, batch_axis=1)

    outputs, final = tf.nn.dynamic_rnn(
        cell, reversed_(inputs), initial_state=state, sequence_length=lengths, time_major=True, scope="run"
    )
    return reversed_(outputs), final


class _Step(tf.nn.rnn_cell.RNNCell):
    """One step with given (matrices, biases); states are tuples."""

    def __init__(self, rnn_mode, parts, num_states):
        super().__init__()
        self._step = _STEPS[rnn_mode]
        self._weights, self._biases = parts
        self._num_units = int(self._biases[0].shape[0])
        self._num_states = num_states

    @property
    def state_size(self):
        return (self._num_units,) * self._num_states

    @property
    def output_size(self):
        return self._num_units

    def __call__(self, inputs, state, scope=None):
        weights, biases = self._weights, self._biases
        half = len(weights) // 2
        x = tf.matmul(inputs, tf.concat(weights[:half], 0), transpose_b=True) + tf.concat(biases[:half], 0)
        h = tf.matmul(state[0], tf.concat(weights[half:], 0), transpose_b=True) + tf.concat(biases[half:], 0)
        new_state = self._step(tf.split(x, half, 1), tf.split(h, half, 1), state)
        return new_state[0], new_state
