"""Layer stacks with cuDNN's interface and weights, computed on the CPU by loops over time."""

import tensorflow as tf

from tensorflow.contrib.cudnn_rnn import cudnn_rnn_ops, stack

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
        if initial_state is None:
            shape = self.state_shape(tf.shape(inputs)[1 if time_major else 0])[0]
            zeros = tf.zeros(shape if time_major else [shape[1], shape[0], shape[2]], dtype)
            initial_state = (zeros,) * self._NUM_STATES
        return stack.run(
            self._rnn_mode,
            self._converter(),
            self.kernel,
            inputs,
            initial_state,
            sequence_lengths,
            time_major,
            self._dropout if training else 0.0,
            self._seed,
        )


class CudnnLSTM(_CudnnRNN):
    __doc__ = "An LSTM stack.\n" + _CudnnRNN.__doc__

    _rnn_mode = "lstm"
    _saveable_cls = cudnn_rnn_ops.CudnnLSTMSaveable
    _NUM_STATES = 2


class CudnnGRU(_CudnnRNN):
    __doc__ = "A GRU stack.\n" + _CudnnRNN.__doc__

    _rnn_mode = "gru"
    _saveable_cls = cudnn_rnn_ops.CudnnGRUSaveable


class CudnnRNNTanh(_CudnnRNN):
    __doc__ = "A tanh RNN stack.\n" + _CudnnRNN.__doc__

    _rnn_mode = "rnn_tanh"
    _saveable_cls = cudnn_rnn_ops.CudnnRNNTanhSaveable


class CudnnRNNRelu(_CudnnRNN):
    __doc__ = "A relu RNN stack.\n" + _CudnnRNN.__doc__

    _rnn_mode = "rnn_relu"
    _saveable_cls = cudnn_rnn_ops.CudnnRNNReluSaveable
