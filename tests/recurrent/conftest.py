"""Cells, and loops of them as TensorFlow has them."""

import contextlib

import tensorflow as tf
from tensorflow.deeprec.marks.mark import is_mark
from tensorflow.python.ops import rnn


class AttentionGRU(tf.nn.rnn_cell.RNNCell):
    """As users write it: the last column of the inputs scales the gate to keep the state."""

    def __init__(self, units):
        super().__init__()
        self._units = units

    state_size = output_size = property(lambda self: self._units)

    def call(self, inputs, state):
        x, attention = inputs[:, :-1], inputs[:, -1:]
        gates = tf.layers.dense(tf.concat([x, state], 1), 2 * self._units, tf.sigmoid, name="gates")
        reset, keep = tf.split(gates, 2, 1)
        candidate = tf.layers.dense(tf.concat([x, reset * state], 1), self._units, tf.tanh, name="candidate")
        keep *= 1 - attention
        state = keep * state + (1 - keep) * candidate
        return state, state


class Arithmetic(tf.nn.rnn_cell.RNNCell):
    """All other ops that a program has."""

    state_size = property(lambda self: (4, 3))
    output_size = property(lambda self: 4)

    def call(self, inputs, state):
        a, b = state
        weights = tf.get_variable("w", [inputs.shape[1].value, 7])
        scale = tf.get_variable("s", [7], initializer=tf.ones_initializer())
        net = tf.matmul(inputs, weights) * scale + tf.get_variable("b", [7])
        left, right = tf.split(net, [4, 3], 1)
        left = tf.nn.relu(left) - 0.5 * a / 3.0 + (2.0 - tf.slice(right, [0, 1], [-1, 1]))
        right = tf.identity(-right) * b[..., 1:2] - b
        return left + 1.0, (tf.tanh(left), tf.sigmoid(right - 1.0))


CELLS = {
    "gru": lambda: tf.nn.rnn_cell.GRUCell(12),
    "gru_of_two_vectors": lambda: tf.nn.rnn_cell.GRUCell(33),
    "basic": lambda: tf.nn.rnn_cell.BasicRNNCell(5),
    "basic_lstm": lambda: tf.nn.rnn_cell.BasicLSTMCell(12),
    "lstm_with_peepholes_and_projection": lambda: tf.nn.rnn_cell.LSTMCell(12, use_peepholes=True, num_proj=7),
    "attention": lambda: AttentionGRU(9),
    "arithmetic": Arithmetic,
    "several": lambda: tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(8), tf.nn.rnn_cell.LSTMCell(5)]),
    "residual": lambda: tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(9)),
}


@contextlib.contextmanager
def loops_as_they_are():
    """Within, loops are not marked."""
    marking = rnn._dynamic_rnn_loop
    rnn._dynamic_rnn_loop = marking.__wrapped__
    try:
        yield
    finally:
        rnn._dynamic_rnn_loop = marking


def marks(graph):
    return [op for op in graph.get_operations() if is_mark(op)]
