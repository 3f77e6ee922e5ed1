"""Shape functions in Python, from the time before the C++ ones, and three short spellings of shapes.

Each shape function takes an op and returns the list of its outputs' shapes (TensorShape), from the static shapes of the inputs.
"""

import tensorflow as tf
from tensorflow.python.framework.tensor_shape import unknown_shape as _unknown


def scalar():
    """The shape []."""
    return tf.TensorShape([])


def vector(length):
    """The shape [length]; None is an unknown length."""
    return tf.TensorShape([length])


def matrix(rows, cols):
    """The shape [rows, cols]; None is unknown."""
    return tf.TensorShape([rows, cols])


def has_fully_defined_shape(tensor) -> bool:
    return tensor.shape.is_fully_defined()


def rank(tensor):
    """Static rank of a tensor, or None."""
    return tensor.shape.ndims


def scalar_shape(unused_op):
    return [scalar()]


def unchanged_shape(op):
    return [op.inputs[0].get_shape()]


def unchanged_shape_with_rank(rank):
    def function(op):
        return [op.inputs[0].get_shape().with_rank(rank)]

    return function


def unchanged_shape_with_rank_at_least(rank):
    def function(op):
        return [op.inputs[0].get_shape().with_rank_at_least(rank)]

    return function


def unchanged_shape_with_rank_at_most(rank):
    def function(op):
        return [op.inputs[0].get_shape().with_rank_at_most(rank)]

    return function


def no_outputs(unused_op):
    return []


def unknown_shape(op):
    return [_unknown() for _ in op.outputs]


def call_cpp_shape_fn(op, require_shape_fn=True):
    """The shapes that the op's C++ function gave; `require_shape_fn` asks for an op that has one, which all have now."""
    del require_shape_fn
    return {"shapes": [output.shape for output in op.outputs], "handle_data": None, "inputs_needed": b""}


def matmul_shape(op):
    a, b = (op.inputs[i].get_shape().with_rank(2) for i in (0, 1))
    left, right = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    inner_a, inner_b = a.dims[0 if left else 1], b.dims[1 if right else 0]
    inner_a.assert_is_compatible_with(inner_b)
    return [tf.TensorShape([a.dims[1 if left else 0], b.dims[0 if right else 1]])]


def get_conv_output_size(input_size, filter_size, strides, padding_type):
    """Spatial sizes of a convolution's output.

    Args:
      input_size, filter_size, strides: tuples of ints (or None, unknown), one for each spatial dimension.
      padding_type: b"VALID" or b"SAME".
    """
    if padding_type not in (b"VALID", b"SAME"):
        raise ValueError(f"padding_type must be b'VALID' or b'SAME', got {padding_type!r}")
    sizes = []
    for size, window, stride in zip(input_size, filter_size, strides):
        if size is None or (window is None and padding_type == b"VALID"):
            sizes.append(None)
            continue
        if window is not None and window > size and padding_type == b"VALID":
            raise ValueError(f"filter of size {window} is larger than the input of size {size}")
        sizes.append(-(-(size - window + 1) // stride) if padding_type == b"VALID" else -(-size // stride))
    return tuple(sizes)


def get2d_conv_output_size(
    input_height, input_width, filter_height, filter_width, row_stride, col_stride, padding_type
):
    return get_conv_output_size(
        (input_height, input_width), (filter_height, filter_width), (row_stride, col_stride), padding_type
    )


def _output(op):
    # The C++ function of the same op has the answer: asking it keeps the two from differing.
    return [op.outputs[0].shape]


conv2d_shape = depthwise_conv2d_native_shape = separable_conv2d_shape = avg_pool_shape = _output


def max_pool_shape(op):
    return [output.shape for output in op.outputs]
