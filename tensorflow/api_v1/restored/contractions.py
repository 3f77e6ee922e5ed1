"""`tensordot` and `einsum` as transposes, reshapes and one product of matrices, as 1.15 built them: the op seeds count them (`op_seeds`).

The gradients follow, op for op. Transposes that change no order, and reshapes that change no shape, are dropped when the graph runs.
"""

import functools
import math
import numbers
import re

from tensorflow.python.eager import context
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, array_ops_stack, math_ops, special_math_ops


def replacements() -> list[tuple]:
    """Pairs (released function, what takes its place)."""
    return [
        (math_ops.tensordot, _tensordot(math_ops.tensordot)),
        (special_math_ops.einsum, _einsum(special_math_ops.einsum)),
    ]


def _tensordot(released):
    @functools.wraps(released)
    def tensordot(a, b, axes, name=None):
        if context.executing_eagerly():
            return released(a, b, axes, name)
        with ops.name_scope(name, "Tensordot", [a, b]) as scope:
            a, b = ops.convert_to_tensor(a, name="a"), ops.convert_to_tensor(b, name="b")
            sums = _axes(a, b, axes)
            if sums is None:
                return released(a, b, axes, scope)
            left, free_a = _matrix(a, sums[0], False)
            right, free_b = _matrix(b, sums[1], True)
            product = math_ops.matmul(left, right)
            if isinstance(free_a, list) and isinstance(free_b, list):
                return array_ops.reshape(product, free_a + free_b, name=scope)
            free = [ops.convert_to_tensor(dims, dtypes.int32) for dims in (free_a, free_b)]
            result = array_ops.reshape(product, array_ops.concat(free, 0), name=scope)
            result.set_shape(
                [dim for t, summed in ((a, sums[0]), (b, sums[1])) for dim in _without(t.shape.as_list(), summed)]
            )
            return result

    return tensordot


def _axes(a, b, axes):
    """Two lists of axes, not negative; None where the released function must find them, or say what is wrong."""
    if a.shape.rank is None or b.shape.rank is None:
        return None
    if isinstance(axes, numbers.Integral):
        if not 0 <= axes <= min(a.shape.rank, b.shape.rank):
            return None
        return list(range(a.shape.rank - axes, a.shape.rank)), list(range(axes))
    if not isinstance(axes, (list, tuple)) or len(axes) != 2:
        return None
    pairs = [[part] if isinstance(part, numbers.Integral) else part for part in axes]
    if not all(
        isinstance(part, (list, tuple)) and all(isinstance(i, numbers.Integral) for i in part) for part in pairs
    ):
        return None
    if len(pairs[0]) != len(pairs[1]):
        return None
    result = [[i + t.shape.rank if i < 0 else i for i in part] for t, part in zip((a, b), pairs)]
    valid = all(0 <= i < t.shape.rank for t, part in zip((a, b), result) for i in part)
    return result if valid else None


def _without(values, axes):
    return [value for i, value in enumerate(values) if i not in axes]


def _matrix(tensor, axes, second):
    """`tensor` with its free axes as rows and `axes` as columns (the other way round if `second`), and the sizes of the free ones."""
    shape = tensor.shape.as_list()
    free = _without(range(len(shape)), axes)
    order = (lambda x, y: [y, x]) if second else (lambda x, y: [x, y])
    if tensor.shape.is_fully_defined():
        sizes = order(math.prod(shape[i] for i in free), math.prod(shape[i] for i in axes))
        permuted = array_ops.transpose(tensor, sum(order(free, list(axes)), []))
        return array_ops.reshape(permuted, sizes), [shape[i] for i in free]
    axes = ops.convert_to_tensor(axes, dtypes.int32, name="axes")
    free = ops.convert_to_tensor(free, dtypes.int32, name="free")
    shape = array_ops.shape(tensor)
    free_dims, summed_dims = array_ops.gather(shape, free), array_ops.gather(shape, axes)
    sizes = order(math_ops.reduce_prod(free_dims), math_ops.reduce_prod(summed_dims))
    permuted = array_ops.transpose(tensor, array_ops.concat(order(free, axes), 0))
    return array_ops.reshape(permuted, array_ops_stack.stack(sizes)), free_dims


def _einsum(released):
    """What 1.15's einsum could not do (labels twice in one operand, unknown ranks) goes the runtime's way."""

    @functools.wraps(released)
    def einsum(equation, *inputs, **kwargs):
        if context.executing_eagerly() or not inputs:
            return released(equation, *inputs, **kwargs)
        if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)):
            inputs = inputs[0]
        inputs = [ops.convert_to_tensor(value) for value in inputs]
        operands = re.sub(r"->.*|[\s.]", "", equation).split(",")
        # Of one operand, and without a result, it is the trace.
        trace = operands in (["".join(dict.fromkeys(operands[0])) * 2],) and "->" not in equation
        plain = trace or all(len(set(labels)) == len(labels) for labels in operands)
        if (
            plain
            and set(kwargs) <= {"name"}
            and all(value.shape.rank is not None for value in inputs)
            and len(operands) == len(inputs)
        ):
            # The runtime keeps it for graphs that other releases load.
            return special_math_ops._einsum_v1(equation, *inputs, **kwargs)
        return released(equation, *inputs, **kwargs)

    return einsum
