"""Cells whose recurrent weights are diagonal: each unit sees its own past only (Li et al. 2018, arXiv:1803.04831)."""

import tensorflow as tf
from tensorflow.python.ops.rnn_cell_impl import LayerRNNCell

from tensorflow.contrib.rnn.lstm_ops import known_width

LSTMStateTuple = tf.nn.rnn_cell.LSTMStateTuple


class _IndependentCell(LayerRNNCell):
    def __init__(self, num_units, activation, reuse, name, dtype, kernel_initializer=None, bias_initializer=None):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self.input_spec = tf.layers.InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = tf.keras.activations.get(activation) if activation else tf.tanh
        self._kernel_initializer = tf.keras.initializers.get(kernel_initializer)
        self._bias_initializer = tf.keras.initializers.get(bias_initializer)

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def _add_gates(self, input_shape, count, bias, scope="", kernel="kernel_w"):
        """(kernel over inputs, diagonal over the state, bias) of `count` gates."""
        width = count * self._num_units
        rows = known_width(input_shape)
        return (
            self.add_weight(f"{scope}{kernel}", shape=[rows, width], initializer=self._kernel_initializer),
            self.add_weight(
                f"{scope}kernel_u", shape=[1, width], initializer=tf.random_uniform_initializer(minval=-1, maxval=1)
            ),
            self.add_weight(f"{scope}bias", shape=[width], initializer=self._bias_initializer or bias),
        )

    def _gates(self, weights, inputs, state, count=1):
        kernel, diagonal, bias = weights
        if count > 1:
            state = tf.tile(state, [1, count])
        return tf.nn.bias_add(tf.matmul(inputs, kernel) + state * diagonal, bias)


class IndRNNCell(_IndependentCell):
    """`activation(W x + u * h + b)`; variables "kernel_w", "kernel_u", "bias".

    Args:
      num_units: size of the state.
      activation: tanh by default.
      reuse: as in `tf.variable_scope`.
      name: name of the layer.
      dtype: of the variables.
    """

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None):
        super().__init__(num_units, activation, reuse, name, dtype)

    def build(self, inputs_shape):
        self._maps = self._add_gates(inputs_shape, 1, tf.zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs, state):
        output = self._activation(self._gates(self._maps, inputs, state))
        return output, output


class IndyGRUCell(_IndependentCell):
    """A GRU with diagonal recurrent weights; variables gates/{kernel_w,kernel_u,bias}, candidate/{kernel,kernel_u,bias}.

    Args:
      num_units: size of the state.
      activation: of the candidate, tanh by default.
      reuse: as in `tf.variable_scope`.
      kernel_initializer: of the kernels over the inputs.
      bias_initializer: of all biases; by default 1 for gates and 0 for the candidate.
      name: name of the layer.
      dtype: of the variables.
    """

    def __init__(
        self,
        num_units,
        activation=None,
        reuse=None,
        kernel_initializer=None,
        bias_initializer=None,
        name=None,
        dtype=None,
    ):
        super().__init__(num_units, activation, reuse, name, dtype, kernel_initializer, bias_initializer)

    def build(self, inputs_shape):
        ones, zeros = tf.constant_initializer(1.0, dtype=self.dtype), tf.zeros_initializer(dtype=self.dtype)
        self._gate_weights = self._add_gates(inputs_shape, 2, ones, "gates/")
        self._candidate_weights = self._add_gates(inputs_shape, 1, zeros, "candidate/", "kernel")
        self.built = True

    def call(self, inputs, state):
        reset, update = tf.split(tf.sigmoid(self._gates(self._gate_weights, inputs, state, 2)), 2, axis=1)
        candidate = self._activation(self._gates(self._candidate_weights, inputs, reset * state))
        new_state = update * state + (1 - update) * candidate
        return new_state, new_state


class IndyLSTMCell(_IndependentCell):
    """An LSTM with diagonal recurrent weights (Gonnet and Deselaers 2019); variables "kernel_w", "kernel_u", "bias".

    Args:
      num_units: size of the state.
      forget_bias: added to the forget gate.
      activation: of the cell state, tanh by default.
      reuse: as in `tf.variable_scope`.
      kernel_initializer: of "kernel_w".
      bias_initializer: of "bias", zeros by default.
      name: name of the layer.
      dtype: of the variables.
    """

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        activation=None,
        reuse=None,
        kernel_initializer=None,
        bias_initializer=None,
        name=None,
        dtype=None,
    ):
        super().__init__(num_units, activation, reuse, name, dtype, kernel_initializer, bias_initializer)
        self._forget_bias = forget_bias

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    def build(self, inputs_shape):
        self._maps = self._add_gates(inputs_shape, 4, tf.zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs, state):
        c, h = state
        i, j, f, o = tf.split(self._gates(self._maps, inputs, h, 4), 4, axis=1)
        new_c = c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * self._activation(j)
        new_h = self._activation(new_c) * tf.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)
