"""Layer stacks with cuDNN's interface and weights, computed on the CPU by loops over time."""

import tensorflow as tf

from tensorflow.contrib.cudnn_rnn import cudnn_rnn_ops

CUDNN_RNN_UNIDIRECTION = cudnn_rnn_ops.CUDNN_RNN_UNIDIRECTION
CUDNN_RNN_BIDIRECTION = cudnn_rnn_ops.CUDNN_RNN_BIDIRECTION


class _CudnnRNN(tf.layers.Layer):
    """A stack of recurrent layers over [time, batch, size].

    All weights lie in one variable, "opaque_kernel"; checkpoints also hold them under the names of the compatible cells, so
    that these can be trained and served in place of the layer.

    Args:
      num_layers: number of layers.
      num_units: size of the state.
      input_mode: "linear_input" (or "auto_select", which is read as that).
      direction: "unidirectional" or "bidirectional".
      dropout: part of the outputs between layers that is dropped in training.
      seed: seed of the dropout.
      dtype: float16, float32 or float64.
      kernel_initializer: of each matrix, glorot uniform by default.
      bias_initializer: of each bias, zeros by default.
      name: name of the layer.

    Raises:
      ValueError: unknown `direction` or `input_mode`, or `dropout` outside of [0, 1].
      NotImplementedError: "skip_input".
    """

    _rnn_mode = None
    _saveable_cls = None
    _NUM_STATES = 1

    def __init__(
        self,
        num_layers,
        num_units,
        input_mode=cudnn_rnn_ops.CUDNN_INPUT_LINEAR_MODE,
        direction=CUDNN_RNN_UNIDIRECTION,
        dropout=0.0,
        seed=None,
        dtype=tf.float32,
        kernel_initializer=None,
        bias_initializer=None,
        name=None,
    ):
        super().__init__(dtype=dtype, name=name)
        cudnn_rnn_ops.check_modes(input_mode, direction)
        if not 0 <= dropout <= 1:
            raise ValueError(f"dropout must be in [0, 1], got {dropout}")
        if tf.as_dtype(dtype) not in (tf.float16, tf.float32, tf.float64):
            raise ValueError(f"Only support float16, float32, float64, provided {dtype}")
        self._num_layers = num_layers
        self._num_units = num_units
        self._input_mode = input_mode
        self._direction = direction
        self._dropout = dropout
        self._seed = seed
        self._num_dirs = 2 if direction == CUDNN_RNN_BIDIRECTION else 1
        self._kernel_initializer = kernel_initializer or tf.glorot_uniform_initializer(seed=seed)
        self._bias_initializer = bias_initializer or tf.zeros_initializer()
        self._input_size = None
        self._saveable = None

    @property
    def num_layers(self):
        return self._num_layers

    @property
    def num_units(self):
        return self._num_units

    @property
    def input_mode(self):
        return self._input_mode

    @property
    def input_size(self):
        if not self._input_size:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._input_size

    @property
    def rnn_mode(self):
        return self._rnn_mode

    @property
    def direction(self):
        return self._direction

    @property
    def num_dirs(self):
        return self._num_dirs

    @property
    def saveable(self):
        return self._saveable

    def _converter(self):
        return self._saveable_cls._CONVERTER(
            self._num_layers, self._num_units, self.input_size, input_mode=self._input_mode, direction=self._direction
        )

    @property
    def canonical_weight_shapes(self):
        """Shapes of the canonical matrices."""
        return self._converter().weight_shapes()

    @property
    def canonical_bias_shapes(self):
        """Shapes of the canonical biases."""
        return self._converter().bias_shapes()

    def build(self, input_shape):
        shape = tf.TensorShape(input_shape)
        if shape.ndims != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {shape.ndims}")
        if shape.dims[-1].value is None:
            raise ValueError("The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`.")
        self._input_size = shape.dims[-1].value
        self.input_spec = tf.layers.InputSpec(ndim=3, axes={-1: self._input_size})
        converter = self._converter()
        dtype = tf.as_dtype(self.dtype)

        def initial(shape, dtype=dtype, partition_info=None):
            del shape, partition_info
            weights = [self._kernel_initializer(s, dtype=dtype) for s in converter.weight_shapes()]
            biases = [self._bias_initializer(s, dtype=dtype) for s in converter.bias_shapes()]
            return converter.canonical_to_opaque(weights, biases)

        self.kernel = self.add_weight(
            "opaque_kernel", shape=[converter.opaque_size()], dtype=dtype, initializer=initial
        )
        self._create_saveable()
        self.built = True

    def _create_saveable(self):
        scope = self.kernel.op.name.rpartition("/")[0]
        self._saveable = self._saveable_cls(
            self.kernel,
            self._num_layers,
            self._num_units,
            self._input_size,
            self._input_mode,
            self._direction,
            scope=scope,
            name=f"{self.kernel.op.name}_saveable",
        )
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    def state_shape(self, batch_size):
        """Shapes of the states: [layers * directions, batch, units] each."""
        return ([self._num_layers * self._num_dirs, batch_size, self._num_units],) * self._NUM_STATES

    def call(self, inputs, initial_state=None, sequence_lengths=None, time_major=True, training=True):
        """Runs the stack.

        Args:
          inputs: [time, batch, size], or [batch, time, size] if not `time_major`.
          initial_state: tuple of [layers * directions, batch, units]: (h, c) of LSTMs, (h,) of others; zeros by default.
            Its first two dimensions are swapped if not `time_major`.
          sequence_lengths: [batch] integers, all by default.
          time_major: see `inputs`.
          training: whether there is dropout.

        Returns:
          (outputs [time, batch, units * directions], tuple of final states like `initial_state`).

        Raises:
          TypeError: `initial_state` is no tuple.
        """
        dtype = tf.as_dtype(self.dtype)
        if inputs.dtype != dtype:
            raise TypeError(f"Data type mismatch: layer {dtype}, inputs {inputs.dtype}")
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        if not time_major:
            inputs = tf.transpose(inputs, [1, 0, 2])
            if initial_state is not None:
                initial_state = tuple(tf.transpose(s, [1, 0, 2]) for s in initial_state)
        batch = tf.shape(inputs)[1]
        if initial_state is None:
            zeros = tf.zeros(self.state_shape(batch)[0], dtype)
            initial_state = (zeros,) * self._NUM_STATES
        weights, biases = self._converter().opaque_to_canonical(self.kernel)
        cells = list(self._converter()._cells(weights, biases))
        finals = []
        for layer in range(self._num_layers):
            if layer and training and self._dropout:
                inputs = tf.nn.dropout(inputs, rate=self._dropout, seed=self._seed)
            ways = []
            for way in range(self._num_dirs):
                index = layer * self._num_dirs + way
                outputs, final = self._one_way(
                    inputs, tuple(s[index] for s in initial_state), cells[index], sequence_lengths, reverse=way == 1
                )
                ways.append(outputs)
                finals.append(final)
            inputs = ways[0] if len(ways) == 1 else tf.concat(ways, axis=2)
        states = tuple(tf.stack(parts) for parts in zip(*finals))
        if not time_major:
            inputs = tf.transpose(inputs, [1, 0, 2])
            states = tuple(tf.transpose(s, [1, 0, 2]) for s in states)
        return inputs, states

    def _one_way(self, inputs, state, parts, lengths, reverse):
        def reversed_(t):
            if lengths is None:
                return tf.reverse(t, [0])
            return tf.reverse_sequence(t, lengths, seq_axis=0, batch_axis=1)

        cell = _Step(self._num_units, self._step, parts, self._NUM_STATES)
        outputs, final = tf.nn.dynamic_rnn(
            cell,
            reversed_(inputs) if reverse else inputs,
            initial_state=state,
            sequence_length=lengths,
            time_major=True,
            scope="run",
        )
        return (reversed_(outputs) if reverse else outputs), final


class _Step(tf.nn.rnn_cell.RNNCell):
    """One step with given weights; states are tuples."""

    def __init__(self, num_units, step, parts, num_states):
        super().__init__()
        self._num_units = num_units
        self._step = step
        self._parts = parts
        self._num_states = num_states

    @property
    def state_size(self):
        return (self._num_units,) * self._num_states

    @property
    def output_size(self):
        return self._num_units

    def __call__(self, inputs, state, scope=None):
        weights, biases = self._parts
        half = len(weights) // 2
        x = tf.matmul(inputs, tf.concat(weights[:half], 0), transpose_b=True) + tf.concat(biases[:half], 0)
        h = tf.matmul(state[0], tf.concat(weights[half:], 0), transpose_b=True) + tf.concat(biases[half:], 0)
        new_state = self._step(tf.split(x, half, 1), tf.split(h, half, 1), state)
        return new_state[0], new_state


class CudnnLSTM(_CudnnRNN):
    __doc__ = "An LSTM stack.\n" + _CudnnRNN.__doc__

    _rnn_mode = "lstm"
    _saveable_cls = cudnn_rnn_ops.CudnnLSTMSaveable
    _NUM_STATES = 2

    @staticmethod
    def _step(x, h, state):
        i, f, new, o = (a + b for a, b in zip(x, h))
        c = tf.sigmoid(f) * state[1] + tf.sigmoid(i) * tf.tanh(new)
        return tf.sigmoid(o) * tf.tanh(c), c


class CudnnGRU(_CudnnRNN):
    __doc__ = "A GRU stack.\n" + _CudnnRNN.__doc__

    _rnn_mode = "gru"
    _saveable_cls = cudnn_rnn_ops.CudnnGRUSaveable

    @staticmethod
    def _step(x, h, state):
        reset, update = tf.sigmoid(x[0] + h[0]), tf.sigmoid(x[1] + h[1])
        candidate = tf.tanh(x[2] + reset * h[2])
        return ((1 - update) * candidate + update * state[0],)


class CudnnRNNTanh(_CudnnRNN):
    __doc__ = "A tanh RNN stack.\n" + _CudnnRNN.__doc__

    _rnn_mode = "rnn_tanh"
    _saveable_cls = cudnn_rnn_ops.CudnnRNNTanhSaveable

    @staticmethod
    def _step(x, h, state):
        return (tf.tanh(x[0] + h[0]),)


class CudnnRNNRelu(_CudnnRNN):
    __doc__ = "A relu RNN stack.\n" + _CudnnRNN.__doc__

    _rnn_mode = "rnn_relu"
    _saveable_cls = cudnn_rnn_ops.CudnnRNNReluSaveable

    @staticmethod
    def _step(x, h, state):
        return (tf.nn.relu(x[0] + h[0]),)
