"""Layer stacks with cuDNN's interface whose weights the caller keeps as one flat vector."""

import tensorflow as tf

from tensorflow.contrib.cudnn_rnn.cudnn_rnn_calls import (
    cudnn_gru,
    cudnn_lstm,
    cudnn_rnn_canonical_to_opaque_params,
    cudnn_rnn_opaque_params_size,
    cudnn_rnn_opaque_params_to_canonical,
    cudnn_rnn_relu,
    cudnn_rnn_tanh,
)
from tensorflow.contrib.cudnn_rnn.flat_format import (
    CUDNN_GRU,
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_LSTM,
    CUDNN_RNN_RELU,
    CUDNN_RNN_TANH,
    CUDNN_RNN_UNIDIRECTION,
    check_modes,
)


class _CudnnRNN:
    """A stack whose weights the caller keeps as one flat vector.

    Args:
      num_layers: number of layers.
      num_units: size of the state.
      input_size: size of the first layer's inputs.
      input_mode: "linear_input" (or "auto_select", which is read as that).
      direction: "unidirectional" or "bidirectional".
      dtype: of the weights.
      dropout: part of the outputs between layers that is dropped in training.
      seed: seed of the dropout.

    Raises:
      ValueError: unknown `input_mode` or `direction`.
      NotImplementedError: "skip_input".
    """

    _RNN_MODE = None
    _CALL = None

    def __init__(
        self,
        num_layers,
        num_units,
        input_size,
        input_mode=CUDNN_INPUT_LINEAR_MODE,
        direction=CUDNN_RNN_UNIDIRECTION,
        dtype=tf.float32,
        dropout=0.0,
        seed=0,
    ):
        check_modes(input_mode, direction)
        self.num_layers = num_layers
        self.num_units = num_units
        self.input_size = input_size
        self.input_mode = input_mode
        self.direction = direction
        self.num_proj = None
        self._dtype = dtype
        self._dropout = dropout
        self._seed = seed

    @property
    def rnn_mode(self):
        return self._RNN_MODE

    def _sizes(self):
        return self._RNN_MODE, self.num_layers, self.num_units, self.input_size

    def _modes(self):
        return {"input_mode": self.input_mode, "direction": self.direction}

    def _check_state(self, input_h, time_major):
        shape = [self.num_layers * (1 if self.direction == CUDNN_RNN_UNIDIRECTION else 2), None, self.num_units]
        if not time_major:
            shape = [None, shape[0], shape[2]]
        got = tf.convert_to_tensor(input_h).shape
        if not got.is_compatible_with(shape):
            raise ValueError(f"input_h must have shape {shape}, got {got}")

    def params_size(self):
        """Number of the flat weights, as an int32 scalar."""
        return cudnn_rnn_opaque_params_size(*self._sizes(), **self._modes())

    def params_to_canonical(self, params):
        """(list of matrices, list of biases) of the flat weights."""
        return cudnn_rnn_opaque_params_to_canonical(*self._sizes(), params, **self._modes())

    def canonical_to_params(self, weights, biases):
        """The flat weights of the lists that `params_to_canonical` returns."""
        return cudnn_rnn_canonical_to_opaque_params(*self._sizes(), weights, biases, **self._modes())

    def _run(self, input_data, states, params, sequence_lengths, time_major, is_training):
        self._check_state(states[0], time_major)
        return type(self)._CALL(
            input_data,
            *states,
            params,
            is_training,
            sequence_lengths=sequence_lengths,
            time_major=time_major,
            dropout=self._dropout,
            seed=self._seed,
            **self._modes(),
        )

    def __call__(self, input_data, input_h, params, sequence_lengths=None, time_major=True, is_training=True):
        """Runs the stack: (outputs, output_h); see `cudnn_lstm`."""
        return self._run(input_data, (input_h,), params, sequence_lengths, time_major, is_training)


class CudnnLSTM(_CudnnRNN):
    __doc__ = "An LSTM stack.\n" + _CudnnRNN.__doc__

    _RNN_MODE = CUDNN_LSTM
    _CALL = cudnn_lstm

    def __init__(
        self,
        num_layers,
        num_units,
        input_size,
        input_mode=CUDNN_INPUT_LINEAR_MODE,
        direction=CUDNN_RNN_UNIDIRECTION,
        dtype=tf.float32,
        dropout=0.0,
        seed=0,
        num_proj=None,
    ):
        if num_proj:
            raise NotImplementedError(f"num_proj ({num_proj}) is not supported; use an LSTMCell with num_proj.")
        super().__init__(num_layers, num_units, input_size, input_mode, direction, dtype, dropout, seed)

    def __call__(self, input_data, input_h, input_c, params, sequence_lengths=None, time_major=True, is_training=True):
        """Runs the stack: (outputs, output_h, output_c); see `cudnn_lstm`."""
        return self._run(input_data, (input_h, input_c), params, sequence_lengths, time_major, is_training)


class CudnnGRU(_CudnnRNN):
    __doc__ = "A GRU stack.\n" + _CudnnRNN.__doc__

    _RNN_MODE = CUDNN_GRU
    _CALL = cudnn_gru


class CudnnRNNTanh(_CudnnRNN):
    __doc__ = "A tanh RNN stack.\n" + _CudnnRNN.__doc__

    _RNN_MODE = CUDNN_RNN_TANH
    _CALL = cudnn_rnn_tanh


class CudnnRNNRelu(_CudnnRNN):
    __doc__ = "A relu RNN stack.\n" + _CudnnRNN.__doc__

    _RNN_MODE = CUDNN_RNN_RELU
    _CALL = cudnn_rnn_relu
