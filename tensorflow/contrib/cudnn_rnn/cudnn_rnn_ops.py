"""Cells that compute what cuDNN's layers do, conversion between the two forms of weights, and their saving.

cuDNN keeps all weights of a layer stack in one flat vector. Its canonical parts are, for each layer (and direction, forward
first), matrices [units, inputs] of the gates over the inputs, then over the state, and as many biases:

    LSTM: input, forget, new, output.   GRU: reset, update, new.   RNN: one.

The vector holds the matrices of all layers first, then the biases. Checkpoints hold the weights of the compatible cells.
"""

import tensorflow as tf
from tensorflow.python.ops.rnn_cell_impl import LayerRNNCell
from tensorflow.python.training.saver import BaseSaverBuilder

from tensorflow.contrib.rnn.lstm_ops import LSTMBlockCell, known_width

CUDNN_RNN_UNIDIRECTION = "unidirectional"
CUDNN_RNN_BIDIRECTION = "bidirectional"
CUDNN_INPUT_LINEAR_MODE = "linear_input"
CUDNN_INPUT_SKIP_MODE = "skip_input"
CUDNN_INPUT_AUTO_MODE = "auto_select"


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


class CudnnParamsFormatConverter:
    """Converts the flat vector to canonical parts and to the compatible cells' weights, and back.

    Args:
      num_layers: number of layers.
      num_units: size of the state.
      input_size: size of the first layer's inputs.
      num_proj: must be None: projections are not supported.
      input_mode: "linear_input" (or "auto_select", which is read as that).
      direction: "unidirectional" or "bidirectional".

    Raises:
      ValueError: another mode or direction.
      NotImplementedError: `num_proj` or "skip_input".
    """

    _GATES = None

    def __init__(
        self,
        num_layers,
        num_units,
        input_size,
        num_proj=None,
        input_mode=CUDNN_INPUT_LINEAR_MODE,
        direction=CUDNN_RNN_UNIDIRECTION,
    ):
        check_modes(input_mode, direction)
        if num_proj:
            raise NotImplementedError(f"num_proj ({num_proj}) is not supported; use an LSTMCell with num_proj.")
        self._num_layers = num_layers
        self._input_size = input_size
        self._num_units = num_units
        self._input_mode = input_mode
        self._direction = direction
        self._num_dirs = 2 if direction == CUDNN_RNN_BIDIRECTION else 1

    def _cell_inputs(self):
        """Input size of each layer and direction."""
        for layer in range(self._num_layers):
            for _ in range(self._num_dirs):
                yield self._input_size if layer == 0 else self._num_units * self._num_dirs

    def weight_shapes(self):
        """Shapes of the canonical matrices, in order."""
        units = self._num_units
        return [
            (units, size) for inputs in self._cell_inputs() for size in [inputs] * self._GATES + [units] * self._GATES
        ]

    def bias_shapes(self):
        """Shapes of the canonical biases, in order."""
        return [(self._num_units,)] * (2 * self._GATES * self._num_layers * self._num_dirs)

    def opaque_size(self):
        """Length of the flat vector."""
        return sum(a * b for a, b in self.weight_shapes()) + sum(n for (n,) in self.bias_shapes())

    def opaque_to_canonical(self, opaque):
        """(list of matrices, list of biases) of the flat vector."""
        shapes = self.weight_shapes() + self.bias_shapes()
        sizes = [a[0] * (a[1] if len(a) > 1 else 1) for a in shapes]
        parts = [tf.reshape(part, shape) for part, shape in zip(tf.split(opaque, sizes), shapes)]
        count = len(self.weight_shapes())
        return parts[:count], parts[count:]

    def canonical_to_opaque(self, weights, biases):
        """The flat vector of canonical parts."""
        return tf.concat([tf.reshape(part, [-1]) for part in list(weights) + list(biases)], axis=0)

    def _cells(self, weights, biases):
        step = 2 * self._GATES
        for cell in range(self._num_layers * self._num_dirs):
            yield weights[cell * step : (cell + 1) * step], biases[cell * step : (cell + 1) * step]

    def opaque_to_tf_canonical(self, opaque_param):
        """(kernels, biases) of the compatible cells, layer by layer, forward first.

        For GRUs the lists have the parts in the order of the cell's variables: two kernels follow gates/kernel.
        """
        weights, biases = self.opaque_to_canonical(opaque_param)
        tf_weights, tf_biases = [], []
        for w, b in self._cells(weights, biases):
            self._to_cell(w, b, tf_weights, tf_biases)
        return tf_weights, tf_biases

    def tf_canonical_to_opaque(self, tf_canonicals):
        """The flat vector; `tf_canonicals` is a pair (kernels, biases), or one list of all kernels, then all biases."""
        per_weights, per_biases = self._CELL_PARTS
        cells = self._num_layers * self._num_dirs
        if len(tf_canonicals) == 2 and isinstance(tf_canonicals[0], (list, tuple)):
            tf_weights, tf_biases = tf_canonicals
        else:
            tf_weights = tf_canonicals[: cells * per_weights]
            tf_biases = tf_canonicals[cells * per_weights :]
        weights, biases = [], []
        for cell, inputs in enumerate(self._cell_inputs()):
            w = tf_weights[cell * per_weights : (cell + 1) * per_weights]
            b = tf_biases[cell * per_biases : (cell + 1) * per_biases]
            self._from_cell(w, b, inputs, weights, biases)
        return self.canonical_to_opaque(weights, biases)

    def _split_kernel(self, kernel, inputs, gates):
        """Canonical matrices (over inputs, over state) of a kernel [inputs + units, gates * units]."""
        over_inputs, over_state = tf.split(kernel, [inputs, self._num_units], axis=0)
        return (
            [tf.transpose(part) for part in tf.split(over_inputs, gates, axis=1)],
            [tf.transpose(part) for part in tf.split(over_state, gates, axis=1)],
        )

    @staticmethod
    def _joined(over_inputs, over_state):
        """A kernel [inputs + units, gates * units] of canonical matrices."""
        columns = [tf.concat([w, r], axis=1) for w, r in zip(over_inputs, over_state)]
        return tf.transpose(tf.concat(columns, axis=0))


class CudnnParamsFormatConverterLSTM(CudnnParamsFormatConverter):
    """Converter of LSTMs: a kernel and a bias a cell, gates in the order input, new, forget, output."""

    _GATES = 4
    _CELL_PARTS = (1, 1)
    # cuDNN's input, forget, new, output <-> input, new, forget, output; the swap is its own inverse.
    _ORDER = (0, 2, 1, 3)

    def _to_cell(self, w, b, tf_weights, tf_biases):
        tf_weights.append(self._joined([w[g] for g in self._ORDER], [w[4 + g] for g in self._ORDER]))
        tf_biases.append(tf.concat([b[g] + b[4 + g] for g in self._ORDER], axis=0))

    def _from_cell(self, w, b, inputs, weights, biases):
        over_inputs, over_state = self._split_kernel(w[0], inputs, 4)
        bias = tf.split(b[0], 4)
        weights += [over_inputs[g] for g in self._ORDER] + [over_state[g] for g in self._ORDER]
        # The cell has the sum of cuDNN's two biases; all of it becomes the first.
        biases += [bias[g] for g in self._ORDER] + [tf.zeros_like(bias[g]) for g in self._ORDER]


class CudnnParamsFormatConverterGRU(CudnnParamsFormatConverter):
    """Converter of GRUs: three kernels and three biases a cell."""

    _GATES = 3
    _CELL_PARTS = (3, 3)

    def _to_cell(self, w, b, tf_weights, tf_biases):
        tf_weights += [self._joined(w[:2], w[3:5]), tf.transpose(w[2]), tf.transpose(w[5])]
        tf_biases += [tf.concat([b[0] + b[3], b[1] + b[4]], axis=0), b[2], b[5]]

    def _from_cell(self, w, b, inputs, weights, biases):
        over_inputs, over_state = self._split_kernel(w[0], inputs, 2)
        gates = tf.split(b[0], 2)
        weights += over_inputs + [tf.transpose(w[1])] + over_state + [tf.transpose(w[2])]
        biases += gates + [b[1]] + [tf.zeros_like(g) for g in gates] + [b[2]]


class CudnnParamsFormatConverterBasic(CudnnParamsFormatConverter):
    """Converter of simple RNNs: a kernel and a bias a cell."""

    _GATES = 1
    _CELL_PARTS = (1, 1)

    def _to_cell(self, w, b, tf_weights, tf_biases):
        tf_weights.append(self._joined(w[:1], w[1:]))
        tf_biases.append(b[0] + b[1])

    def _from_cell(self, w, b, inputs, weights, biases):
        over_inputs, over_state = self._split_kernel(w[0], inputs, 1)
        weights += over_inputs + over_state
        biases += [b[0], tf.zeros_like(b[0])]


class CudnnParamsFormatConverterTanh(CudnnParamsFormatConverterBasic):
    """Converter of tanh RNNs."""


class CudnnParamsFormatConverterRelu(CudnnParamsFormatConverterBasic):
    """Converter of relu RNNs."""


def check_modes(input_mode, direction) -> None:
    """Raises ValueError for unknown modes, NotImplementedError for "skip_input"."""
    if direction not in (CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION):
        raise ValueError(f"direction must be 'unidirectional' or 'bidirectional', got {direction!r}")
    if input_mode == CUDNN_INPUT_SKIP_MODE:
        raise NotImplementedError("input_mode 'skip_input' is not supported; use 'linear_input'.")
    if input_mode not in (CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_AUTO_MODE):
        raise ValueError(f"input_mode must be 'linear_input', 'skip_input' or 'auto_select', got {input_mode!r}")


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
        name="params_canonical",
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
