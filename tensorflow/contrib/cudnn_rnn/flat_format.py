"""The flat vector that cuDNN keeps all weights of a layer stack in, and its conversion to other forms.

Its canonical parts are, for each layer (and direction, forward first), matrices [units, inputs] of the gates over the inputs, then
over the state, and as many biases:

    LSTM: input, forget, new, output.   GRU: reset, update, new.   RNN: one.

The vector holds the matrices of all layers first, then the biases.
"""

import tensorflow as tf

CUDNN_RNN_UNIDIRECTION = "unidirectional"
CUDNN_RNN_BIDIRECTION = "bidirectional"
CUDNN_LSTM = "lstm"
CUDNN_GRU = "gru"
CUDNN_RNN_RELU = "rnn_relu"
CUDNN_RNN_TANH = "rnn_tanh"
# Matrices of a layer and direction, which are as many as its biases.
CUDNN_LSTM_PARAMS_PER_LAYER = 8
CUDNN_GRU_PARAMS_PER_LAYER = 6
CUDNN_RNN_RELU_PARAMS_PER_LAYER = 2
CUDNN_RNN_TANH_PARAMS_PER_LAYER = 2
CUDNN_INPUT_LINEAR_MODE = "linear_input"
CUDNN_INPUT_SKIP_MODE = "skip_input"
CUDNN_INPUT_AUTO_MODE = "auto_select"


def check_direction(direction) -> None:
    """Raises ValueError for an unknown direction."""
    if direction not in (CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION):
        raise ValueError(f"direction must be 'unidirectional' or 'bidirectional', got {direction!r}")


def check_input_mode(input_mode) -> None:
    """Raises ValueError for an unknown input mode."""
    if input_mode not in (CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE):
        raise ValueError(f"input_mode must be 'linear_input', 'skip_input' or 'auto_select', got {input_mode!r}")


def check_modes(input_mode, direction) -> None:
    """Raises ValueError for unknown modes, NotImplementedError for "skip_input"."""
    check_direction(direction)
    check_input_mode(input_mode)
    if input_mode == CUDNN_INPUT_SKIP_MODE:
        raise NotImplementedError("input_mode 'skip_input' is not supported; use 'linear_input'.")


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
        self.num_dirs = 2 if direction == CUDNN_RNN_BIDIRECTION else 1

    def _cell_inputs(self):
        """Input size of each layer and direction."""
        for layer in range(self._num_layers):
            for _ in range(self.num_dirs):
                yield self._input_size if layer == 0 else self._num_units * self.num_dirs

    def weight_shapes(self):
        """Shapes of the canonical matrices, in order."""
        units = self._num_units
        return [
            (units, size) for inputs in self._cell_inputs() for size in [inputs] * self._GATES + [units] * self._GATES
        ]

    def bias_shapes(self):
        """Shapes of the canonical biases, in order."""
        return [(self._num_units,)] * (2 * self._GATES * self._num_layers * self.num_dirs)

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

    def cells(self, weights, biases):
        """(matrices, biases) of each layer and direction, in order."""
        step = 2 * self._GATES
        for cell in range(self._num_layers * self.num_dirs):
            yield weights[cell * step : (cell + 1) * step], biases[cell * step : (cell + 1) * step]

    def opaque_to_tf_canonical(self, opaque_param):
        """(kernels, biases) of the compatible cells, layer by layer, forward first.

        For GRUs the lists have the parts in the order of the cell's variables: two kernels follow gates/kernel.
        """
        weights, biases = self.opaque_to_canonical(opaque_param)
        tf_weights, tf_biases = [], []
        for w, b in self.cells(weights, biases):
            self._to_cell(w, b, tf_weights, tf_biases)
        return tf_weights, tf_biases

    def tf_canonical_to_opaque(self, tf_canonicals):
        """The flat vector; `tf_canonicals` is a pair (kernels, biases), or one list of all kernels, then all biases."""
        per_weights, per_biases = self._CELL_PARTS
        cells = self._num_layers * self.num_dirs
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


CONVERTERS = {
    CUDNN_LSTM: CudnnParamsFormatConverterLSTM,
    CUDNN_GRU: CudnnParamsFormatConverterGRU,
    CUDNN_RNN_TANH: CudnnParamsFormatConverterTanh,
    CUDNN_RNN_RELU: CudnnParamsFormatConverterRelu,
}
