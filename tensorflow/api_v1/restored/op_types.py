"""Ops of another type than the runtime's own function makes: programs look ops up by type, and other TensorFlows read the graph."""

import functools
import numbers

import numpy as np
from tensorflow.python.eager import context
from tensorflow.python.framework import dtypes, ops, tensor
from tensorflow.python.ops import gen_math_ops, math_ops, variables

_ADD_TYPES = frozenset(
    (
        dtypes.bfloat16,
        dtypes.complex64,
        dtypes.complex128,
        dtypes.float16,
        dtypes.float32,
        dtypes.float64,
        dtypes.int8,
        dtypes.int16,
        dtypes.int32,
        dtypes.int64,
        dtypes.string,
        dtypes.uint8,
    )
)
_PLAIN = (tensor.Tensor, variables.Variable, np.ndarray, np.generic, numbers.Number, str, bytes)


def replacements() -> list[tuple]:
    """Pairs (released function, what takes its place)."""
    return [(math_ops.add, _add(math_ops.add))]


def _add(released):
    """`tf.add` makes an Add where `+` makes an AddV2; the functions that are built on it (random_normal ...) do, too."""

    @functools.wraps(released)
    def add(x, y, name=None):
        # Ragged tensors and other composites have functions of their own, which the released one finds.
        if context.executing_eagerly() or not (_is_plain(x) and _is_plain(y)):
            return released(x, y, name)
        with ops.name_scope(name, "Add", [x]) as scope:
            x = ops.convert_to_tensor(x, name="x")
            y = ops.convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
            op = gen_math_ops.add if x.dtype.base_dtype in _ADD_TYPES else gen_math_ops.add_v2
            return op(x, y, name=scope)

    return add


def _is_plain(value) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)
