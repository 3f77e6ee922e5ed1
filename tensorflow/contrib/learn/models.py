"""Small models: linear and logistic regression, and RNNs."""

import functools

from tensorflow.contrib import rnn as contrib_rnn
from tensorflow.contrib.learn import ops as learn_ops
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, init_ops, variable_scope
from tensorflow.python.ops import rnn as rnn_ops
from tensorflow.python.summary import summary


def _weights(x, outputs, init_mean, init_stddev):
    dtype = x.dtype.base_dtype
    make = functools.partial(variable_scope.get_variable, dtype=dtype)
    if init_mean is not None:
        make = functools.partial(
            make, initializer=init_ops.random_normal_initializer(init_mean, init_stddev, dtype=dtype)
        )
    weights, bias = make("weights", [x.get_shape()[1], outputs]), make("bias", [outputs])
    scope = variable_scope.get_variable_scope().name
    summary.histogram(f"{scope}.weights", weights)
    summary.histogram(f"{scope}.bias", bias)
    return weights, bias


def linear_regression(x, y, init_mean=None, init_stddev=1.0):
    """Linear regression in the scope "linear_regression".

    Args:
      x: tensor `[batch, n]`.
      y: tensor `[batch]` or `[batch, outputs]`.
      init_mean, init_stddev: mean and standard deviation of the initial weights and bias; without a mean the scope's initializer is used.

    Returns:
      `(predictions, loss)`.
    """
    with variable_scope.variable_scope("linear_regression"):
        summary.histogram("linear_regression.x", x)
        summary.histogram("linear_regression.y", y)
        outputs = 1 if y.get_shape().ndims == 1 else y.get_shape()[1]
        weights, bias = _weights(x, outputs, init_mean, init_stddev)
        return learn_ops.mean_squared_error_regressor(x, y, weights, bias)


def linear_regression_zero_init(x, y):
    """`linear_regression` from zeros."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


def logistic_regression(x, y, class_weight=None, init_mean=None, init_stddev=1.0):
    """Softmax classification in the scope "logistic_regression".

    Args:
      x: tensor `[batch, n]`.
      y: one-hot tensor `[batch, classes]`.
      class_weight: tensor `[classes]` by which logits are multiplied; the graph's tensor "class_weight:0" by default, if there is one.
      init_mean, init_stddev: as for `linear_regression`.

    Returns:
      `(probabilities, loss)`.
    """
    with variable_scope.variable_scope("logistic_regression"):
        summary.histogram("logistic_regression.x", x)
        summary.histogram("logistic_regression.y", y)
        weights, bias = _weights(x, y.get_shape()[-1], init_mean, init_stddev)
        if class_weight is None:
            try:
                class_weight = ops.get_default_graph().get_tensor_by_name("class_weight:0")
            except KeyError:
                pass
        return learn_ops.softmax_classifier(x, y, weights, bias, class_weight=class_weight)


def logistic_regression_zero_init(x, y):
    """`logistic_regression` from zeros."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def bidirectional_rnn(
    cell_fw,
    cell_bw,
    inputs,
    initial_state_fw=None,
    initial_state_bw=None,
    dtype=None,
    sequence_length=None,
    scope=None,
):
    """Two RNNs, one of which reads the sequences from their ends.

    Args:
      cell_fw, cell_bw: `RNNCell`s whose states are tensors.
      inputs: list of tensors `[batch, depth]`.
      initial_state_fw, initial_state_bw: states; zeros by default.
      dtype: type of the initial states, if they are not given.
      sequence_length: integer tensor `[batch]`, or None.
      scope: "BiRNN" by default: the variable scopes are "BiRNN_FW" and "BiRNN_BW".

    Returns:
      `(outputs, state)`: list of tensors `[batch, depth of both]`; tensor `[batch, size of both states]`.

    Raises:
      TypeError: if a cell is no `RNNCell`, or `inputs` is no list.
      ValueError: if `inputs` is empty.
    """
    for argument, cell in (("cell_fw", cell_fw), ("cell_bw", cell_bw)):
        if not isinstance(cell, contrib_rnn.RNNCell):
            raise TypeError(f"{argument} must be an instance of RNNCell, got {cell!r}")
    if not isinstance(inputs, list):
        raise TypeError(f"inputs must be a list, got {type(inputs).__name__}")
    if not inputs:
        raise ValueError("inputs must not be empty")
    name = scope or "BiRNN"
    outputs_fw, state_fw = rnn_ops.static_rnn(
        cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=f"{name}_FW"
    )
    outputs_bw, state_bw = rnn_ops.static_rnn(
        cell_bw, _reversed(inputs, sequence_length), initial_state_bw, dtype, sequence_length, scope=f"{name}_BW"
    )
    pairs = zip(outputs_fw, _reversed(outputs_bw, sequence_length))
    return [array_ops.concat(pair, 1) for pair in pairs], array_ops.concat([state_fw, state_bw], 1)


def _reversed(steps, sequence_length):
    if sequence_length is None:
        return steps[::-1]
    result = array_ops.reverse_sequence(array_ops.stack(steps), sequence_length, seq_axis=0, batch_axis=1)
    return array_ops.unstack(result)


_CELLS = {
    "rnn": contrib_rnn.BasicRNNCell,
    "gru": contrib_rnn.GRUCell,
    "lstm": functools.partial(contrib_rnn.BasicLSTMCell, state_is_tuple=False),
}


def get_rnn_model(
    rnn_size,
    cell_type,
    num_layers,
    input_op_fn,
    bidirectional,
    target_predictor_fn,
    sequence_length,
    initial_state,
    attn_length,
    attn_size,
    attn_vec_size,
):
    """A function that builds an RNN and what predicts from its last state.

    Args:
      rnn_size: number of units of a layer.
      cell_type: "rnn", "gru" or "lstm".
      num_layers: number of layers.
      input_op_fn: function of x that returns a list of tensors `[batch, depth]`.
      bidirectional: whether a second RNN reads the sequences from their ends.
      target_predictor_fn: function of (state, y), e.g. `logistic_regression`.
      sequence_length: integer tensor `[batch]`, or None.
      initial_state: state, or None.
      attn_length, attn_size, attn_vec_size: sizes for `AttentionCellWrapper`; `attn_length` None: no attention.

    Returns:
      Function of (x, y), which returns what `target_predictor_fn` does.

    Raises:
      ValueError: if there is no such type of cell (when the function is called).
    """

    def make():
        if cell_type not in _CELLS:
            raise ValueError(f"cell_type must be one of {sorted(_CELLS)}, got {cell_type!r}")
        cells = []
        for _ in range(num_layers):
            cell = _CELLS[cell_type](rnn_size)
            if attn_length is not None:
                cell = contrib_rnn.AttentionCellWrapper(
                    cell, attn_length, attn_size=attn_size, attn_vec_size=attn_vec_size, state_is_tuple=False
                )
            cells.append(cell)
        return contrib_rnn.MultiRNNCell(cells, state_is_tuple=False)

    def rnn_estimator(x, y):
        x = input_op_fn(x)
        if bidirectional:
            _, state = bidirectional_rnn(
                make(),
                make(),
                x,
                initial_state_fw=initial_state,
                initial_state_bw=initial_state,
                dtype=dtypes.float32,
                sequence_length=sequence_length,
            )
        else:
            _, state = rnn_ops.static_rnn(
                make(), x, initial_state=initial_state, dtype=dtypes.float32, sequence_length=sequence_length
            )
        return target_predictor_fn(state, y)

    return rnn_estimator
