"""Batches: core's transformations under contrib's path."""

from tensorflow.python.data.util import nest
from tensorflow.python.framework import ops, tensor_shape
from tensorflow.python.ops import array_ops, check_ops
from tensorflow.data.experimental import (
    dense_to_sparse_batch,
    map_and_batch,
    unbatch,
)

__all__ = [
    "assert_element_shape",
    "batch_and_drop_remainder",
    "dense_to_sparse_batch",
    "map_and_batch",
    "padded_batch_and_drop_remainder",
    "unbatch",
]


def batch_and_drop_remainder(batch_size):
    """`Dataset.batch` without a smaller last batch; for `Dataset.apply`."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size, padded_shapes, padding_values=None):
    """`Dataset.padded_batch` without a smaller last batch; for `Dataset.apply`."""
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes=padded_shapes, padding_values=padding_values, drop_remainder=True
    )


def assert_element_shape(expected_shapes):
    """Checks the shapes of elements, and makes them known; for `Dataset.apply`.

    Args:
      expected_shapes: nested structure of `TensorShape`s like an element; dimensions that are None match any size.

    Raises:
      ValueError: by `apply`, if known shapes differ.
      InvalidArgumentError: by the iterator, if others do.
    """

    def checked(tensor, shape):
        shape = tensor_shape.as_shape(shape)
        if not tensor.get_shape().is_compatible_with(shape):
            raise ValueError(f"Element shape must be {shape}, got {tensor.get_shape()}")
        if shape.ndims is None or tensor.get_shape() == shape:
            return tensor
        checks = [check_ops.assert_rank(tensor, shape.ndims, message="Element rank differs.")]
        with ops.control_dependencies(checks):
            actual = array_ops.shape(tensor)
        sizes = [size for size in shape.as_list() if size is not None]
        axes = [axis for axis, size in enumerate(shape.as_list()) if size is not None]
        checks = (
            [check_ops.assert_equal(array_ops.gather(actual, axes), sizes, message="Element shape differs.")]
            if axes
            else checks
        )
        with ops.control_dependencies(checks):
            tensor = array_ops.identity(tensor)
        tensor.set_shape(shape)
        return tensor

    def apply(dataset):
        def check(*element):
            # A tuple arrives as several arguments.
            element = element[0] if len(element) == 1 else element
            return nest.map_structure_up_to(element, checked, element, expected_shapes)

        return dataset.map(check)

    return apply
