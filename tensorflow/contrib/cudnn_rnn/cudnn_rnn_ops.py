"""What 1.15's file of this name had: cells that compute what cuDNN's layers do, the saving of these, and cuDNN's operations.

Checkpoints hold the weights of the compatible cells.
"""

import tensorflow as tf
from tensorflow.python.ops.rnn_cell_impl import LayerRNNCell
from tensorflow.python.training.saver import BaseSaverBuilder

from tensorflow.contrib.cudnn_rnn.cudnn_rnn_calls import *  # noqa: F403
from tensorflow.contrib.cudnn_rnn.flat_format import *  # noqa: F403
from tensorflow.contrib.cudnn_rnn.flat_format import (
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_RNN_UNIDIRECTION,
    CudnnParamsFormatConverterGRU,
    CudnnParamsFormatConverterLSTM,
    CudnnParamsFormatConverterRelu,
    CudnnParamsFormatConverterTanh,
)
from tensorflow.contrib.cudnn_rnn.flat_stacks import CudnnGRU, CudnnLSTM, CudnnRNNRelu, CudnnRNNTanh  # noqa: F401
from tensorflow.contrib.rnn.lstm_ops import LSTMBlockCell, known_width


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """An LSTM cell with the arithmetic and the variables that checkpoints of `CudnnLSTM` hold: no forget bias."""

    def __init__(self, num_units, reuse=None):
        super().__init__(
            num_units,
            forget_bias=0,
            cell_clip=None,
            use_peephole=False,
            reuse=reuse,
            name="cudnn_compatible_lstm_cell",
        )


class CudnnCompatibleGRUCell(LayerRNNCell):
    """A GRU cell as cuDNN computes it: the reset gate acts behind the product with the state, which has a bias of its own.

    Args:
      num_units: size of the state.
      reuse: as in `tf.variable_scope`.
      kernel_initializer: of all kernels.
    """

    def __init__(self, num_units, reuse=None, kernel_initializer=None):
        super().__init__(_reuse=reuse, name="cudnn_compatible_gru_cell")
        self.input_spec = tf.layers.InputSpec(ndim=2)
        self._num_units = num_units
        self._kernel_initializer = kernel_initializer

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def build(self, input_shape):
        width, units, init = known_width(input_shape), self._num_units, self._kernel_initializer
        zeros = tf.zeros_initializer()
        self._gate_kernel = self.add_weight("gates/kernel", shape=[width + units, 2 * units], initializer=init)
        self._gate_bias = self.add_weight("gates/bias", shape=[2 * units], initializer=tf.constant_initializer(1.0))
        scope = "candidate/{}_projection/{}"
        self._input_kernel = self.add_weight(scope.format("input", "kernel"), shape=[width, units], initializer=init)
        self._hidden_kernel = self.add_weight(scope.format("hidden", "kernel"), shape=[units, units], initializer=init)
        self._input_bias = self.add_weight(scope.format("input", "bias"), shape=[units], initializer=zeros)
        self._hidden_bias = self.add_weight(scope.format("hidden", "bias"), shape=[units], initializer=zeros)
        self.built = True

    def call(self, inputs, state):
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), self._gate_kernel), self._gate_bias)
        reset, update = tf.split(tf.sigmoid(gates), 2, axis=1)
        hidden = tf.nn.bias_add(tf.matmul(state, self._hidden_kernel), self._hidden_bias)
        candidate = tf.tanh(reset * hidden + tf.nn.bias_add(tf.matmul(inputs, self._input_kernel), self._input_bias))
        new_state = (1 - update) * candidate + update * state
        return new_state, new_state


class CudnnOpaqueParamsSaveable(BaseSaverBuilder.SaveableObject):
    """Saves a flat vector as the compatible cells' variables, so that either form restores the other's checkpoint.

    Args:
      opaque_params: the variable.
      num_layers: see `CudnnParamsFormatConverter`, like the next four.
      num_units: size of the state.
      input_size: size of the first layer's inputs.
      input_mode: see there.
      direction: see there.
      scope: variable scope of the names, the current one by default.
      name: name of the object.
    """

    _CONVERTER = None
    _CELL = None
    _WEIGHT_NAMES = ("kernel",)
    _BIAS_NAMES = ("bias",)

    def __init__(
        self,
        opaque_params,
        num_layers,
        num_units,
        input_size,
        input_mode=CUDNN_INPUT_LINEAR_MODE,
        direction=CUDNN_RNN_UNIDIRECTION,
        scope=None,
        name="cudnn_rnn_saveable",
    ):
        self._converter = self._CONVERTER(num_layers, num_units, input_size, input_mode=input_mode, direction=direction)
        self._opaque_params = opaque_params
        self._num_layers = num_layers
        self._direction = direction
        scope = tf.get_variable_scope() if scope is None else scope
        self._scope = scope.name if isinstance(scope, tf.VariableScope) else scope
        with tf.name_scope("cudnn_rnn_canonical"):
            weights, biases = self._converter.opaque_to_tf_canonical(tf.convert_to_tensor(opaque_params))
        prefix = f"{self._scope}/" if self._scope else ""
        weight_names, bias_names = [], []
        for cell in self._cell_names():
            weight_names += [f"{prefix}{cell}/{part}" for part in self._WEIGHT_NAMES]
            bias_names += [f"{prefix}{cell}/{part}" for part in self._BIAS_NAMES]
        specs = [
            BaseSaverBuilder.SaveSpec(tensor, "", saved_name, opaque_params.dtype.base_dtype)
            for tensor, saved_name in zip(weights + biases, weight_names + bias_names)
        ]
        super().__init__(tf.identity(tf.convert_to_tensor(opaque_params)), specs, name)

    @property
    def format_converter(self):
        return self._converter

    def _cell_names(self):
        """Names of the cells below the scope, as `dynamic_rnn` and the stacked bidirectional RNN give them."""
        for layer in range(self._num_layers):
            if self._direction == CUDNN_RNN_UNIDIRECTION:
                yield f"rnn/multi_rnn_cell/cell_{layer}/{self._CELL}"
            else:
                for way in ("fw", "bw"):
                    yield f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn/{way}/{self._CELL}"

    def restore(self, restored_tensors, restored_shapes):
        """Op that assigns the flat vector of restored cells."""
        opaque = self._converter.tf_canonical_to_opaque(restored_tensors)
        return tf.assign(self._opaque_params, opaque, validate_shape=False)


class CudnnLSTMSaveable(CudnnOpaqueParamsSaveable):
    """Saveable of LSTMs; see `CudnnOpaqueParamsSaveable`."""

    _CONVERTER = CudnnParamsFormatConverterLSTM
    _CELL = "cudnn_compatible_lstm_cell"


class CudnnGRUSaveable(CudnnOpaqueParamsSaveable):
    """Saveable of GRUs; see `CudnnOpaqueParamsSaveable`."""

    _CONVERTER = CudnnParamsFormatConverterGRU
    _CELL = "cudnn_compatible_gru_cell"
    _WEIGHT_NAMES = ("gates/kernel", "candidate/input_projection/kernel", "candidate/hidden_projection/kernel")
    _BIAS_NAMES = ("gates/bias", "candidate/input_projection/bias", "candidate/hidden_projection/bias")


class CudnnRNNTanhSaveable(CudnnOpaqueParamsSaveable):
    """Saveable of tanh RNNs; see `CudnnOpaqueParamsSaveable`."""

    _CONVERTER = CudnnParamsFormatConverterTanh
    _CELL = "basic_rnn_cell"


class CudnnRNNReluSaveable(CudnnOpaqueParamsSaveable):
    """Saveable of relu RNNs; see `CudnnOpaqueParamsSaveable`."""

    _CONVERTER = CudnnParamsFormatConverterRelu
    _CELL = "basic_rnn_cell"
