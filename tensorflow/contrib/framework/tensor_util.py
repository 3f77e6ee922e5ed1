"""Checks and small sums of tensors."""

from tensorflow.python.framework import dtypes, ops, sparse_tensor, tensor_shape
from tensorflow.python.framework import tensor_util as core_tensor_util
from tensorflow.python.ops import array_ops, check_ops, confusion_matrix, control_flow_assert, control_flow_ops
from tensorflow.python.ops import math_ops

assert_same_float_dtype = check_ops.assert_same_float_dtype
assert_scalar = check_ops.assert_scalar
convert_to_tensor_or_sparse_tensor = sparse_tensor.convert_to_tensor_or_sparse_tensor
is_tensor = core_tensor_util.is_tf_type

__all__ = [
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_scalar_int",
    "convert_to_tensor_or_sparse_tensor",
    "is_tensor",
    "reduce_sum_n",
    "remove_squeezable_dimensions",
    "with_shape",
    "with_same_shape",
]


def assert_scalar_int(tensor, name=None):
    """Returns `tensor` as a tensor; raises ValueError if it is not a scalar of int32 or int64."""
    with ops.name_scope(name, "assert_scalar_int", [tensor]) as name_scope:
        tensor = ops.convert_to_tensor(tensor)
        if tensor.dtype.base_dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"{tensor.name} must be int32 or int64, got {tensor.dtype}")
        return check_ops.assert_scalar(tensor, name=name_scope)


def reduce_sum_n(tensors, name=None):
    """The sum of all elements of all tensors, a scalar.

    Args:
      tensors: non-empty list of tensors of one number type.
      name: name of the ops.

    Raises:
      ValueError: if `tensors` is empty.
    """
    if not tensors:
        raise ValueError("tensors must hold at least one tensor, got none")
    with ops.name_scope(name, "reduce_sum_n", tensors) as name_scope:
        tensors = [math_ops.reduce_sum(t, name=f"{t.op.name}/sum") for t in tensors]
        return tensors[0] if len(tensors) == 1 else math_ops.add_n(tensors, name=name_scope)


def remove_squeezable_dimensions(predictions, labels, name=None):
    """Drops the last dimension of 1 of the tensor that has one rank more than the other.

    Args:
      predictions, labels: tensors.
      name: name of the ops.

    Returns:
      `(predictions, labels)`.
    """
    labels, predictions = confusion_matrix.remove_squeezable_dimensions(labels, predictions, name=name)
    return predictions, labels


def with_same_shape(expected_tensor, tensor):
    """`tensor`, checked to have the shape of `expected_tensor`: at once if both are known, else when it is read.

    Raises:
      ValueError: if the static shapes are not compatible.
    """
    with ops.name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        static = expected_tensor.get_shape()
        expected = static.as_list() if static.is_fully_defined() else array_ops.shape(expected_tensor)
        return with_shape(expected, tensor)


def _asserted(expected_shape, tensor):
    """`tensor` that can be read only if its shape is `expected_shape`."""
    equal = math_ops.reduce_all(math_ops.equal(expected_shape, array_ops.shape(tensor)), name="is_shape")
    message = [f"Wrong shape for {tensor.name} [expected] [actual].", expected_shape, array_ops.shape(tensor)]
    check = control_flow_assert.Assert(equal, message, name="assert_shape")
    with ops.control_dependencies([check]):
        return control_flow_ops.with_dependencies([check], tensor)


def with_shape(expected_shape, tensor):
    """`tensor`, checked to have `expected_shape`: at once if both are known, else when it is read.

    Args:
      expected_shape: list of ints or None, `TensorShape`, NumPy array, or int32/int64 tensor.
      tensor: `Tensor` or `SparseTensor`.

    Raises:
      ValueError: if the static shapes are not compatible, or `expected_shape` is no shape.
    """
    if isinstance(tensor, sparse_tensor.SparseTensor):
        raise TypeError("tensor must be a Tensor, got a SparseTensor")
    if core_tensor_util.is_tf_type(expected_shape) and expected_shape.dtype.base_dtype not in (
        dtypes.int32,
        dtypes.int64,
    ):
        raise ValueError(f"expected_shape must be int32 or int64, got {expected_shape.dtype}")
    if isinstance(expected_shape, (list, tuple)) and not expected_shape and tensor.get_shape().ndims is None:
        expected_shape = tensor_shape.TensorShape([])
    static = (
        core_tensor_util.constant_value_as_shape(expected_shape)
        if core_tensor_util.is_tf_type(expected_shape)
        else tensor_shape.TensorShape(expected_shape)
    )
    with ops.name_scope(f"{tensor.op.name}/", values=[tensor]):
        actual = tensor.get_shape()
        if static.ndims is not None and not actual.is_compatible_with(static):
            raise ValueError(f"Wrong shape for {tensor.name}, expected {static}, got {actual}.")
        if static.is_fully_defined() and actual.is_fully_defined():
            return tensor
        if not static.is_fully_defined() and not core_tensor_util.is_tf_type(expected_shape):
            # Dimensions that are None match any size.
            expected = [array_ops.shape(tensor)[i] if d is None else d for i, d in enumerate(static.as_list())]
            tensor = _asserted(ops.convert_to_tensor(expected, dtype=dtypes.int32), tensor)
        else:
            expected = expected_shape if core_tensor_util.is_tf_type(expected_shape) else static.as_list()
            tensor = _asserted(math_ops.cast(expected, dtypes.int32), tensor)
        if static.ndims is not None:
            tensor.set_shape(static)
        return tensor
