"""Variables with collections, regularizers and devices, by tf_slim; and `zero_initializer`."""

from tf_slim.ops.variables import *  # noqa: F403
from tf_slim.ops.variables import __all__ as _all
from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, resource_variable_ops, state_ops

__all__ = [*_all, "zero_initializer"]


def zero_initializer(ref, use_locking=True, name="zero_initializer"):
    """Sets a variable to zeros without a constant of its size in the graph.

    Args:
      ref: a variable that is not initialized.
      use_locking: whether the assignment holds the variable's lock.
      name: name of the op.

    Returns:
      The variable after the assignment: a tensor, or an op for resource variables.
    """
    with ops.name_scope(name):
        if isinstance(ref, resource_variable_ops.BaseResourceVariable):
            return ref.assign(array_ops.zeros(ref.get_shape(), ref.dtype.base_dtype), use_locking=use_locking)
        zeros = array_ops.zeros(ref.get_shape(), ref.dtype.base_dtype)
        return state_ops.assign(ref, zeros, use_locking=use_locking)
