"""LSTM cells whose states are images and whose maps are convolutions (Shi et al. 2015, arXiv:1506.04214)."""

import tensorflow as tf

LSTMStateTuple = tf.nn.rnn_cell.LSTMStateTuple
_CONVOLUTIONS = {3: "conv1d", 4: "conv2d", 5: "conv3d"}


def _conv(args, filter_size, num_features, bias, bias_start=0.0):
    """Joins tensors of shape [batch, *space, channels] by channels and convolves; variables "kernel", "biases"."""
    rank = args[0].shape.ndims
    for arg in args:
        if arg.shape.ndims != rank or rank not in _CONVOLUTIONS:
            raise ValueError(f"Conv Linear expects 3D, 4D or 5D arguments of one rank: {[str(a.shape) for a in args]}")
        if arg.shape.dims[-1].value is None:
            raise ValueError(f"Conv Linear expects a known number of channels, got {arg.shape}")
    channels = sum(arg.shape.dims[-1].value for arg in args)
    dtype = args[0].dtype
    kernel = tf.get_variable("kernel", list(filter_size) + [channels, num_features], dtype=dtype)
    joined = args[0] if len(args) == 1 else tf.concat(args, rank - 1)
    strides = 1 if rank == 3 else [1] * rank
    result = getattr(tf.nn, _CONVOLUTIONS[rank])(joined, kernel, strides, padding="SAME")
    if not bias:
        return result
    start = tf.constant_initializer(bias_start, dtype=dtype)
    return result + tf.get_variable("biases", [num_features], dtype=dtype, initializer=start)


class ConvLSTMCell(tf.nn.rnn_cell.RNNCell):
    """A convolutional LSTM.

    Args:
      conv_ndims: number of dimensions of the space, 1 to 3.
      input_shape: [*space, channels] of the inputs, without the batch.
      output_channels: channels of the cell state.
      kernel_shape: [*space] of the convolution.
      use_bias: whether there are biases.
      skip_connection: whether the inputs are appended to the outputs.
      forget_bias: added to the forget gate.
      initializers: not used.
      name: name of the layer.

    Raises:
      ValueError: `input_shape` does not fit `conv_ndims`.
    """

    def __init__(
        self,
        conv_ndims,
        input_shape,
        output_channels,
        kernel_shape,
        use_bias=True,
        skip_connection=False,
        forget_bias=1.0,
        initializers=None,
        name="conv_lstm_cell",
    ):
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        if initializers is not None:
            tf.logging.warn("%s: initializers has no effect, as in 1.15.", name)
        self._conv_ndims = conv_ndims
        self._input_shape = list(input_shape)
        self._output_channels = output_channels
        self._kernel_shape = list(kernel_shape)
        self._use_bias = use_bias
        self._forget_bias = forget_bias
        self._skip_connection = skip_connection
        space = self._input_shape[:-1]
        state = tf.TensorShape(space + [output_channels])
        self._state_size = LSTMStateTuple(state, state)
        appended = self._input_shape[-1] if skip_connection else 0
        self._output_size = tf.TensorShape(space + [output_channels + appended])

    @property
    def output_size(self):
        return self._output_size

    @property
    def state_size(self):
        return self._state_size

    def call(self, inputs, state, scope=None):
        cell, hidden = state
        gates = _conv([inputs, hidden], self._kernel_shape, 4 * self._output_channels, self._use_bias)
        i, j, f, o = tf.split(gates, 4, axis=self._conv_ndims + 1)
        new_cell = tf.sigmoid(f + self._forget_bias) * cell
        new_cell += tf.sigmoid(i) * tf.tanh(j)
        hidden = tf.tanh(new_cell) * tf.sigmoid(o)
        output = tf.concat([hidden, inputs], axis=-1) if self._skip_connection else hidden
        return output, LSTMStateTuple(new_cell, hidden)


class Conv1DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` over one dimension; see there for arguments."""

    def __init__(self, name="conv_1d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` over two dimensions; see there for arguments."""

    def __init__(self, name="conv_2d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` over three dimensions; see there for arguments."""

    def __init__(self, name="conv_3d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=3, name=name, **kwargs)
