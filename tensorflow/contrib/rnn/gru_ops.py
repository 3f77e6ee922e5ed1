"""GRU cells whose step is one op (`GRUBlockCell`), and that op's gradient."""

import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_rnn_ops

from tensorflow.contrib.rnn.lstm_ops import LayerRNNCell, known_width


def _gradient(op, *grads):
    """The op gives the gradients of the gates before their activation; those of the weights follow from them."""
    x, h_prev = op.inputs[:2]
    reset, update, candidate = op.outputs[:3]
    d_x, d_h_prev, d_candidate, d_gates = gen_rnn_ops.gru_block_cell_grad(
        *op.inputs, reset, update, candidate, grads[3]
    )
    gates_in = tf.concat([x, h_prev], 1)
    candidate_in = tf.concat([x, h_prev * reset], 1)
    return (
        d_x,
        d_h_prev,
        tf.matmul(gates_in, d_gates, transpose_a=True),
        tf.matmul(candidate_in, d_candidate, transpose_a=True),
        tf.reduce_sum(d_gates, 0),
        tf.reduce_sum(d_candidate, 0),
    )


if "GRUBlockCell" not in ops.gradient_registry.list():
    ops.RegisterGradient("GRUBlockCell")(_gradient)


class GRUBlockCell(LayerRNNCell):
    """A GRU (Cho et al. 2014, arXiv:1406.1078), one op a step.

    Variables: "w_ru", "b_ru" (initially 1) of the reset and update gates, "w_c", "b_c" of the candidate.

    Args:
      num_units: size of the state.
      cell_size: older name of `num_units`.
      reuse: as in `tf.variable_scope`.
      name: name of the layer.

    Raises:
      ValueError: not exactly one of `num_units` and `cell_size` is given.
    """

    _NAMES = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(self, num_units=None, cell_size=None, reuse=None, name="gru_cell"):
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size = num_units if cell_size is None else cell_size
        self.input_spec = tf.layers.InputSpec(ndim=2)

    @property
    def state_size(self):
        return self._cell_size

    @property
    def output_size(self):
        return self._cell_size

    def build(self, input_shape):
        size = self._cell_size
        rows = known_width(input_shape) + size
        gate_kernel, gate_bias, candidate_kernel, candidate_bias = self._NAMES
        self._gate_kernel = self.add_weight(gate_kernel, [rows, 2 * size])
        self._gate_bias = self.add_weight(gate_bias, [2 * size], initializer=tf.constant_initializer(1.0))
        self._candidate_kernel = self.add_weight(candidate_kernel, [rows, size])
        self._candidate_bias = self.add_weight(candidate_bias, [size], initializer=tf.constant_initializer(0.0))
        self.built = True

    def call(self, inputs, h_prev):
        *_, h = gen_rnn_ops.gru_block_cell(
            x=inputs,
            h_prev=h_prev,
            w_ru=self._gate_kernel,
            w_c=self._candidate_kernel,
            b_ru=self._gate_bias,
            b_c=self._candidate_bias,
        )
        return h, h


class GRUBlockCellV2(GRUBlockCell):
    """`GRUBlockCell` with the variable names of `tf.nn.rnn_cell.GRUCell`: gates/kernel, gates/bias, candidate/..."""

    _NAMES = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
