"""Cells with few gates and one projection of the inputs: MinimalRNN and the chaos free network."""

import tensorflow as tf
from tensorflow.python.ops.rnn_cell_impl import LayerRNNCell

from tensorflow.contrib.rnn.lstm_ops import known_width


class _MinimalCell(LayerRNNCell):
    """What the two cells share: their arguments, and a state of `units` that is the output."""

    def __init__(
        self,
        units,
        activation="tanh",
        kernel_initializer="glorot_uniform",
        bias_initializer="ones",
        name=None,
        dtype=None,
        **kwargs,
    ):
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.input_spec = tf.layers.InputSpec(ndim=2)
        self.units = units
        self.activation = tf.keras.activations.get(activation)
        self.kernel_initializer = tf.keras.initializers.get(kernel_initializer)
        self.bias_initializer = tf.keras.initializers.get(bias_initializer)

    @property
    def state_size(self):
        return self.units

    @property
    def output_size(self):
        return self.units


class MinimalRNNCell(_MinimalCell):
    """MinimalRNN (Chen et al. 2018, arXiv:1806.05394): z = f(x V), u = s([z, h] W + b), h' = u h + (1 - u) z.

    Variables: "kernel" [inputs + 2 units, units], V above W; "bias" [units].

    Args:
      units: size of the state.
      activation: f, a function or a name of Keras.
      kernel_initializer: of the kernel.
      bias_initializer: of the gate's bias.
      name: name of the layer.
      dtype: of the variables.
      **kwargs: of the layer.
    """

    def build(self, inputs_shape):
        self._inputs = known_width(inputs_shape)
        self.kernel = self.add_weight(
            "kernel", shape=[self._inputs + 2 * self.units, self.units], initializer=self.kernel_initializer
        )
        self.bias = self.add_weight("bias", shape=[self.units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs, state):
        projection, gate = tf.split(self.kernel, [self._inputs, 2 * self.units], axis=0)
        projected = self.activation(tf.matmul(inputs, projection))
        update = tf.sigmoid(tf.nn.bias_add(tf.matmul(tf.concat([projected, state], 1), gate), self.bias))
        new_state = update * state + (1 - update) * projected
        return new_state, new_state


class CFNCell(_MinimalCell):
    """The chaos free network (Laurent and von Brecht 2017, openreview.net/pdf?id=S1dIzvclg).

    (t, e) = s(h U + x V + b), h' = t f(h) + (1 - e) f(x W). The paper has e for 1 - e: so the bias of ones starts with
    little input.

    Variables: "kernel" [inputs, 3 units], V beside W; "recurrent_kernel" [units, 2 units]; "bias" [2 units].

    Args:
      units: size of the state.
      activation: f, a function or a name of Keras.
      kernel_initializer: of both kernels.
      bias_initializer: of the gates' bias.
      name: name of the layer.
      dtype: of the variables.
      **kwargs: of the layer.
    """

    def build(self, inputs_shape):
        rows, start = known_width(inputs_shape), self.kernel_initializer
        self.kernel = self.add_weight("kernel", shape=[rows, 3 * self.units], initializer=start)
        self.recurrent_kernel = self.add_weight(
            "recurrent_kernel", shape=[self.units, 2 * self.units], initializer=start
        )
        self.bias = self.add_weight("bias", shape=[2 * self.units], initializer=self.bias_initializer)
        self.built = True

    def call(self, inputs, state):
        gates, projected = tf.split(tf.matmul(inputs, self.kernel), [2 * self.units, self.units], axis=1)
        gates = tf.sigmoid(tf.nn.bias_add(tf.matmul(state, self.recurrent_kernel) + gates, self.bias))
        kept, closed = tf.split(gates, 2, axis=1)
        new_state = kept * self.activation(state) + (1 - closed) * self.activation(projected)
        return new_state, new_state
