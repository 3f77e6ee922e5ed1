"""cuDNN's operations over flat weights."""

import tensorflow as tf

from tensorflow.contrib.cudnn_rnn import stack
from tensorflow.contrib.cudnn_rnn.flat_format import (
    CONVERTERS,
    CUDNN_GRU,
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_LSTM,
    CUDNN_RNN_RELU,
    CUDNN_RNN_TANH,
    CUDNN_RNN_UNIDIRECTION,
    check_modes,
)

__all__ = (
    "cudnn_gru cudnn_lstm cudnn_rnn_canonical_to_opaque_params cudnn_rnn_opaque_params_size cudnn_rnn_opaque_params_to_canonical cudnn_rnn_relu cudnn_rnn_tanh"
).split()


def _converter(rnn_mode, num_layers, num_units, input_size, input_mode, direction, num_proj=None):
    if rnn_mode not in CONVERTERS:
        raise ValueError(f"rnn_mode must be one of {', '.join(CONVERTERS)}, got {rnn_mode!r}")
    return CONVERTERS[rnn_mode](num_layers, num_units, input_size, num_proj, input_mode, direction)


def _run(
    rnn_mode,
    inputs,
    states,
    params,
    is_training,
    sequence_lengths,
    time_major,
    input_mode,
    direction,
    dropout,
    seed,
    num_proj=None,
    name=None,
):
    """Runs a stack whose layers and units are those of the states; see `cudnn_lstm`."""
    check_modes(input_mode, direction)
    with tf.name_scope(name, "CudnnRNN"):
        inputs, params, *states = (tf.convert_to_tensor(t) for t in (inputs, params, *states))
        sizes = inputs.shape[-1], states[0].shape[0 if time_major else 1], states[0].shape[-1]
        input_size, rows, num_units = (tf.compat.dimension_value(size) for size in sizes)
        if None in (input_size, rows, num_units):
            raise ValueError(
                "the last dimension of inputs and the layers and units of input_h must be known, "
                f"got inputs {inputs.shape}, input_h {states[0].shape}"
            )
        num_dirs = 1 if direction == CUDNN_RNN_UNIDIRECTION else 2
        if rows % num_dirs:
            raise ValueError(f"input_h must hold two states a layer if bidirectional, got {rows}: {states[0].shape}")
        num_layers = rows // num_dirs
        converter = _converter(rnn_mode, num_layers, num_units, input_size, input_mode, direction, num_proj)
        if not params.shape.is_compatible_with([converter.opaque_size()]):
            raise ValueError(f"params must have shape [{converter.opaque_size()}], got {params.shape}")
        return stack.run(
            rnn_mode,
            converter,
            params,
            inputs,
            tuple(states),
            sequence_lengths,
            time_major,
            dropout if is_training else 0.0,
            seed,
        )


def cudnn_lstm(
    inputs,
    input_h,
    input_c,
    params,
    is_training,
    sequence_lengths=None,
    time_major=True,
    input_mode=CUDNN_INPUT_LINEAR_MODE,
    direction=CUDNN_RNN_UNIDIRECTION,
    dropout=0.0,
    seed=0,
    num_proj=None,
    name=None,
):
    """Runs an LSTM stack with flat weights.

    Args:
      inputs: [time, batch, size], or [batch, time, size] if not `time_major`.
      input_h: [layers * directions, batch, units], with the first two dimensions swapped if not `time_major`.
      input_c: like `input_h`.
      params: the flat weights, `cudnn_rnn_opaque_params_size` of them.
      is_training: whether there is dropout.
      sequence_lengths: [batch] integers, all by default.
      time_major: see `inputs`.
      input_mode: "linear_input" (or "auto_select", which is read as that).
      direction: "unidirectional" or "bidirectional".
      dropout: part of the outputs between layers that is dropped in training.
      seed: seed of the dropout.
      num_proj: must be None.
      name: name scope.

    Returns:
      (outputs [time, batch, units * directions], output_h, output_c), laid out like the inputs and the states.

    Raises:
      ValueError: unknown mode or direction, unknown sizes, or `params` of another length.
      NotImplementedError: "skip_input" or `num_proj`.
    """
    outputs, states = _run(
        CUDNN_LSTM,
        inputs,
        (input_h, input_c),
        params,
        is_training,
        sequence_lengths,
        time_major,
        input_mode,
        direction,
        dropout,
        seed,
        num_proj,
        name,
    )
    return (outputs, *states)


def _with_one_state(rnn_mode, function_name, what):
    def function(
        inputs,
        input_h,
        params,
        is_training,
        sequence_lengths=None,
        time_major=True,
        input_mode=CUDNN_INPUT_LINEAR_MODE,
        direction=CUDNN_RNN_UNIDIRECTION,
        dropout=0.0,
        seed=0,
        name=None,
    ):
        outputs, (output_h,) = _run(
            rnn_mode,
            inputs,
            (input_h,),
            params,
            is_training,
            sequence_lengths,
            time_major,
            input_mode,
            direction,
            dropout,
            seed,
            name=name,
        )
        return outputs, output_h

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = (
        f"Runs {what} stack with flat weights: (outputs, output_h). Arguments and errors as of `cudnn_lstm`."
    )
    return function


cudnn_gru = _with_one_state(CUDNN_GRU, "cudnn_gru", "a GRU")
cudnn_rnn_tanh = _with_one_state(CUDNN_RNN_TANH, "cudnn_rnn_tanh", "a tanh RNN")
_relu = _with_one_state(CUDNN_RNN_RELU, "cudnn_rnn_relu", "a relu RNN")


def cudnn_rnn_relu(
    inputs,
    input_h,
    params,
    is_training,
    input_mode=CUDNN_INPUT_LINEAR_MODE,
    direction=CUDNN_RNN_UNIDIRECTION,
    dropout=0.0,
    seed=0,
    sequence_lengths=None,
    time_major=True,
    name=None,
):
    """Runs a relu RNN stack with flat weights: (outputs, output_h).

    Arguments and errors as of `cudnn_lstm`, though in another order.
    """
    return _relu(
        inputs,
        input_h,
        params,
        is_training,
        sequence_lengths,
        time_major,
        input_mode,
        direction,
        dropout,
        seed,
        name,
    )


def cudnn_rnn_opaque_params_size(
    rnn_mode,
    num_layers,
    num_units,
    input_size,
    input_mode=CUDNN_INPUT_LINEAR_MODE,
    direction=CUDNN_RNN_UNIDIRECTION,
    dtype=tf.float32,
    dropout=0,
    seed=0,
    num_proj=None,
    name=None,
):
    """Number of a stack's flat weights, as an int32 scalar.

    Args:
      rnn_mode: "lstm", "gru", "rnn_tanh" or "rnn_relu".
      num_layers: number of layers.
      num_units: size of the state.
      input_size: size of the first layer's inputs.
      input_mode: "linear_input" (or "auto_select", which is read as that).
      direction: "unidirectional" or "bidirectional".
      dtype: of the weights; like the next two without effect on their number.
      dropout: see `dtype`.
      seed: see `dtype`.
      num_proj: must be None.
      name: name of the op.

    Raises:
      ValueError: unknown `rnn_mode`, `input_mode` or `direction`.
      NotImplementedError: "skip_input" or `num_proj`.
    """
    del dtype, dropout, seed
    converter = _converter(rnn_mode, num_layers, num_units, input_size, input_mode, direction, num_proj)
    return tf.constant(converter.opaque_size(), tf.int32, name=name or "CudnnRNNParamsSize")


def cudnn_rnn_opaque_params_to_canonical(
    rnn_mode,
    num_layers,
    num_units,
    input_size,
    params,
    input_mode=CUDNN_INPUT_LINEAR_MODE,
    direction=CUDNN_RNN_UNIDIRECTION,
    dropout=0,
    seed=0,
    num_proj=None,
    name=None,
):
    """(list of matrices, list of biases) of a stack's flat weights `params`; the order is told in `flat_format`.

    The other arguments and the errors are those of `cudnn_rnn_opaque_params_size`.
    """
    del dropout, seed
    converter = _converter(rnn_mode, num_layers, num_units, input_size, input_mode, direction, num_proj)
    with tf.name_scope(name, "CudnnRNNParamsToCanonical"):
        return converter.opaque_to_canonical(tf.convert_to_tensor(params))


def cudnn_rnn_canonical_to_opaque_params(
    rnn_mode,
    num_layers,
    num_units,
    input_size,
    weights,
    biases,
    input_mode=CUDNN_INPUT_LINEAR_MODE,
    direction=CUDNN_RNN_UNIDIRECTION,
    dropout=0,
    seed=0,
    num_proj=None,
    name=None,
):
    """The flat weights of the lists that `cudnn_rnn_opaque_params_to_canonical` returns.

    Raises:
      ValueError: lists of another length, or as `cudnn_rnn_opaque_params_size`, which tells the other arguments.
    """
    del dropout, seed
    converter = _converter(rnn_mode, num_layers, num_units, input_size, input_mode, direction, num_proj)
    for argument, values, shapes in (
        ("weights", weights, converter.weight_shapes()),
        ("biases", biases, converter.bias_shapes()),
    ):
        if len(values) != len(shapes):
            raise ValueError(f"{argument} must have {len(shapes)} elements, got {len(values)}")
    with tf.name_scope(name, "CudnnRNNCanonicalToParams"):
        return converter.canonical_to_opaque(weights, biases)
