"""Linear maps of several tensors, and wrappers that project what goes into or comes out of a cell."""

import math
from typing import Optional

import tensorflow as tf

RNNCell = tf.nn.rnn_cell.RNNCell


def _columns(args) -> int:
    """The sum of the widths of 2-D tensors; all must be known."""
    total = 0
    for position, arg in enumerate(args):
        shape = arg.shape
        if shape.ndims != 2 or shape.dims[1].value is None:
            raise ValueError(f"linear: expected args[{position}] of shape [batch, known size], got {shape}")
        total += shape.dims[1].value
    return total


class _Linear:
    """`concat(args) @ kernel + bias`, with variables "kernel" and "bias" of the variable scope it is made in.

    Args:
      args: a 2-D tensor or a list of them; what the calls will have must have the same widths.
      output_size: number of columns of the result.
      build_bias: whether there is a bias.
      bias_initializer: zeros by default.
      kernel_initializer: the variable scope's by default.

    Raises:
      ValueError: `args` is empty, or a width is unknown.
    """

    def __init__(self, args, output_size, build_bias, bias_initializer=None, kernel_initializer=None):
        self._several = isinstance(args, (list, tuple))
        args = list(args) if self._several else [args]
        if not args or args[0] is None:
            raise ValueError("linear: `args` must hold at least one tensor")
        dtype = args[0].dtype
        with tf.variable_scope(tf.get_variable_scope()) as scope:
            self._weights = tf.get_variable("kernel", [_columns(args), output_size], dtype, kernel_initializer)
            self._biases = None
            if build_bias:
                with tf.variable_scope(scope) as unpartitioned:
                    unpartitioned.set_partitioner(None)
                    if bias_initializer is None:
                        bias_initializer = tf.constant_initializer(0.0, dtype=dtype)
                    self._biases = tf.get_variable("bias", [output_size], dtype, bias_initializer)

    def __call__(self, args, add_bias=True):
        args = list(args) if self._several else [args]
        joined = args[0] if len(args) == 1 else tf.concat(args, 1)
        result = tf.matmul(joined, self._weights)
        return result if self._biases is None or not add_bias else tf.nn.bias_add(result, self._biases)


def _linear(args, output_size, bias, bias_initializer=None, kernel_initializer=None):
    """One call of a linear map made in the current variable scope; see `_Linear`."""
    return _Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)


class EmbeddingWrapper(RNNCell):
    """Looks integer inputs up in an embedding before they reach `cell`.

    The variable is "embedding", [embedding_classes, embedding_size].

    Args:
      cell: the cell that gets the vectors.
      embedding_classes: number of symbols.
      embedding_size: length of a vector.
      initializer: by default the variable scope's, or else uniform on +-sqrt(3), which has variance 1.
      reuse: as in `tf.variable_scope`.

    Raises:
      ValueError: a size is not positive.
    """

    def __init__(self, cell, embedding_classes, embedding_size, initializer=None, reuse=None):
        super().__init__(_reuse=reuse)
        assert_like_cell(cell)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                "EmbeddingWrapper: embedding_classes and embedding_size must be > 0, "
                f"got {embedding_classes} and {embedding_size}"
            )
        self._cell = cell
        self._embedding_classes = embedding_classes
        self._embedding_size = embedding_size
        self._initializer = initializer

    @property
    def state_size(self):
        return self._cell.state_size

    @property
    def output_size(self):
        return self._cell.output_size

    def zero_state(self, batch_size, dtype):
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def call(self, inputs, state):
        with tf.device("/cpu:0"):
            initializer = self._initializer or tf.get_variable_scope().initializer
            if initializer is None:
                bound = math.sqrt(3)
                initializer = tf.random_uniform_initializer(-bound, bound)
            data_type = state[0].dtype if isinstance(state, tuple) else state.dtype
            embedding = tf.get_variable(
                "embedding", [self._embedding_classes, self._embedding_size], initializer=initializer, dtype=data_type
            )
            embedded = tf.nn.embedding_lookup(embedding, tf.reshape(inputs, [-1]))
            return self._cell(embedded, state)


class InputProjectionWrapper(RNNCell):
    """Applies a linear map ("kernel", "bias") and an activation to the inputs of `cell`.

    Args:
      cell: the wrapped cell.
      num_proj: width of the projected inputs.
      activation: applied to them; none by default.
      input_size: not used any more, warns.
      reuse: as in `tf.variable_scope`.
    """

    def __init__(self, cell, num_proj, activation=None, input_size=None, reuse=None):
        super().__init__(_reuse=reuse)
        if input_size is not None:
            tf.logging.warn("%s: The input_size parameter is deprecated.", self)
        assert_like_cell(cell)
        self._cell = cell
        self._num_proj = num_proj
        self._activation = activation
        self._projection: Optional[_Linear] = None

    @property
    def state_size(self):
        return self._cell.state_size

    @property
    def output_size(self):
        return self._cell.output_size

    def zero_state(self, batch_size, dtype):
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def call(self, inputs, state):
        if self._projection is None:
            self._projection = _Linear(inputs, self._num_proj, True)
        projected = self._projection(inputs)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(RNNCell):
    """Applies a linear map ("kernel", "bias") and an activation to the outputs of `cell`; states stay as they are.

    Args:
      cell: the wrapped cell.
      output_size: width of the projected outputs, at least 1.
      activation: applied to them; none by default.
      reuse: as in `tf.variable_scope`.

    Raises:
      ValueError: `output_size` is not positive.
    """

    def __init__(self, cell, output_size, activation=None, reuse=None):
        super().__init__(_reuse=reuse)
        assert_like_cell(cell)
        if output_size < 1:
            raise ValueError(f"OutputProjectionWrapper: output_size must be > 0, got {output_size}")
        self._cell = cell
        self._output_size = output_size
        self._activation = activation
        self._projection: Optional[_Linear] = None

    @property
    def state_size(self):
        return self._cell.state_size

    @property
    def output_size(self):
        return self._output_size

    def zero_state(self, batch_size, dtype):
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def call(self, inputs, state):
        output, next_state = self._cell(inputs, state)
        if self._projection is None:
            self._projection = _Linear(output, self._output_size, True)
        projected = self._projection(output)
        return (self._activation(projected) if self._activation else projected), next_state


def assert_like_cell(cell, name: str = "cell") -> None:
    """Raises TypeError unless `cell` acts like an RNN cell."""
    from tensorflow.python.ops import rnn_cell_impl

    rnn_cell_impl.assert_like_rnncell(name, cell)
