"""Sequences in SparseTensors: cut off, reversed, flattened."""

from tensorflow.deeprec import library
from tensorflow.python.framework import ops, sparse_tensor


def sparse_valid_cutoff(sp_input, axis, length, side="right", reverse=False, name=None):
    """Leaves at most `length` places along an axis.

    Args:
      sp_input: SparseTensor.
      axis: dimension, not the first, along which the sequences lie; negative ones count from the last.
      length: positive int.
      side: where the cut is. "right": places from `length` on go. "left": of sequences that are longer, the first places go and
        the others move to the front. A sequence are the entries with equal coordinates before the axis, and ends with its
        last entry.
      reverse: whether what is left is reversed, see `sparse_reverse`.
      name: name of the ops.

    Returns:
      SparseTensor with `length` at `axis` of its shape. Its values have a gradient.

    Raises:
      ValueError: length or side is none.
      TypeError: sp_input is not sparse.
      tf.errors.InvalidArgumentError: there is no such axis, or entries lie outside of the shape.
    """
    sp_input = _sparse(sp_input)
    with ops.name_scope(name, "sparse_valid_cutoff"):
        result = sparse_tensor.SparseTensor(
            *library.ops().sparse_valid_cutoff(
                sp_input.indices, sp_input.values, sp_input.dense_shape, axis=axis, length=length, side=side
            )
        )
        return sparse_reverse(result, axis) if reverse else result


def sparse_reverse(sp_input, axis=1, name=None):
    """Reverses each sequence: place p goes to the sequence's length - 1 - p.

    Args:
      sp_input: SparseTensor.
      axis: as for `sparse_valid_cutoff`, which says what a sequence is.
      name: name of the op.

    Returns:
      SparseTensor of the same shape, in the order of its indices. Its values have a gradient.

    Raises:
      TypeError, tf.errors.InvalidArgumentError: as there.
    """
    sp_input = _sparse(sp_input)
    return sparse_tensor.SparseTensor(
        *library.ops().sparse_reverse(sp_input.indices, sp_input.values, sp_input.dense_shape, axis=axis, name=name)
    )


def sparse_inner_flatten(sp_input, new_rank, name=None):
    """Makes the dimensions from `new_rank` - 1 on one.

    Args:
      sp_input: SparseTensor.
      new_rank: int64 scalar in [1, rank].
      name: name of the op.

    Returns:
      SparseTensor of rank `new_rank` with the same values.

    Raises:
      TypeError: sp_input is not sparse.
      tf.errors.InvalidArgumentError: new_rank is out of range, or entries lie outside of the shape.
    """
    sp_input = _sparse(sp_input)
    indices, shape = library.ops().sparse_inner_flatten(sp_input.indices, sp_input.dense_shape, new_rank, name=name)
    return sparse_tensor.SparseTensor(indices, sp_input.values, shape)


def _sparse(sp_input):
    if isinstance(sp_input, sparse_tensor.SparseTensorValue):
        return sparse_tensor.SparseTensor.from_value(sp_input)
    if not isinstance(sp_input, sparse_tensor.SparseTensor):
        raise TypeError(f"sp_input must be a SparseTensor, got {type(sp_input).__name__}")
    return sp_input
