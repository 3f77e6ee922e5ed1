"""Gradients that build, or count, the ops of 1.15's: variables made after `minimize()` take their op seeds from that (`op_seeds`).

Where 1.15's ops fold away when the graph runs they are built; where the runtime has a shorter form that is kept, and the
difference is counted. Eager mode keeps the runtime's gradients as they are.
"""

import functools
import threading
import types

import numpy as np
from tensorflow.api_v1.restored.op_counts import add_missing
from tensorflow.python.eager import context
from tensorflow.python.framework import ops, tensor, tensor_util
from tensorflow.python.ops import (
    array_grad,
    array_ops,
    control_flow_ops,
    gen_array_ops,
    math_grad,
    math_ops,
    tensor_array_grad,
)

# 1.15's reduced_shape(): the rank, the axes made positive (2), their number, a range (3), ones (2), the stitching.
_REDUCED_SHAPE = 10
# Division of two shapes, where a divisor of zero counts as one.
_SHAPE_DIVISION = 3


class _Running(threading.local):
    """The incoming gradient, while the gradient of an op runs that looks at static shapes first."""

    incoming = None


_running = _Running()


def install() -> None:
    """Puts the gradients into the runtime's registry, and their helpers into its modules."""
    math_ops.reduced_shape = _reduced_shape(math_ops.reduced_shape)
    math_grad._ReduceGradientArgs = _reduce_both(math_grad._ReduceGradientArgs)
    tensor_array_grad.array_ops = _ArrayOpsOfTensorArrays("array_ops")
    # What tf.gradients calls by this name, not tf.tuple.
    control_flow_ops.tuple = _gate(control_flow_ops.tuple)
    registry = ops.gradient_registry._registry
    for op_types, make in _GRADIENTS:
        for op_type in op_types:
            entry = registry[op_type]
            entry["type"] = _in_graphs(entry["type"], make)


def _in_graphs(released, make):
    made = make(released)

    @functools.wraps(released)
    def gradient(op, *grads):
        return (released if context.executing_eagerly() else made)(op, *grads)

    return gradient


# Sums over the dimensions in which an operand was broadcast.


def _static(released):
    """The sums are left out where the static shapes say that there is nothing to sum."""

    def gradient(op, grad):
        outer, _running.incoming = _running.incoming, grad
        try:
            return released(op, grad)
        finally:
            _running.incoming = outer

    return gradient


def _reduce_both(released):
    @functools.wraps(released)
    def reduce_gradient_args(x, y, gx, gy):
        if context.executing_eagerly() or (gx is None and gy is None):
            return released(x, y, gx, gy)
        incoming = _running.incoming
        if isinstance(incoming, tensor.Tensor) and x.shape.is_fully_defined() and y.shape.is_fully_defined():
            return _reduce_known(x, y, gx, gy, incoming)
        # In a loop it makes a difference whether a static shape is a constant.
        optimize = incoming is None
        shapes = array_ops.shape_internal(x, optimize=optimize), array_ops.shape_internal(y, optimize=optimize)
        axes = gen_array_ops.broadcast_gradient_args(*shapes)
        return tuple(
            None if g is None else array_ops.reshape(math_ops.reduce_sum(g, axis), shape)
            for g, axis, shape in zip((gx, gy), axes, shapes)
        )

    return reduce_gradient_args


def _reduce_known(x, y, gx, gy, incoming):
    graph = ops.get_default_graph()
    seen = getattr(graph, "_deprec_broadcasts", None)
    if seen is None:
        seen = graph._deprec_broadcasts = set()
    pair = tuple(x.shape.as_list()), tuple(y.shape.as_list())
    if pair not in seen:
        # 1.15 had the axes computed, once in a graph, by an op of two constants.
        seen.add(pair)
        add_missing(graph, 3)
    axes = math_grad._InferGradientReductionAxes(x.shape, y.shape)
    return tuple(
        g
        if g is None or (incoming.shape.is_fully_defined() and operand.shape == incoming.shape)
        else array_ops.reshape(math_ops.reduce_sum(g, axis), np.array(operand.shape.as_list(), np.int32))
        for g, axis, operand in zip((gx, gy), axes, (x, y))
    )


def _maximum(released):
    """The zeros in place of the gradient were of its shape, filled; the runtime has a constant or one op."""

    def gradient(op, grad):
        result = released(op, grad)
        skipped = getattr(op, "skip_input_indices", None) or ()
        if not (1 in skipped and op.inputs[1].shape.rank == 0):
            add_missing(ops.get_default_graph(), 2)
        return result

    return gradient


def _select_v2(released):
    """The shape of the result was taken once for both."""

    def gradient(op, grad):
        add_missing(ops.get_default_graph(), -1)
        return released(op, grad)

    return gradient


# Reductions.


def _reduced_shape(released):
    """In place of `math_ops.reduced_shape`: a tensor wherever the shape is one, and the ops that a constant saves are counted."""

    @functools.wraps(released)
    def shape_with_ones(input_shape, axes):
        result = released(input_shape, axes)
        if context.executing_eagerly() or isinstance(result, tensor.Tensor):
            return result
        add_missing(
            ops.get_default_graph(),
            _REDUCED_SHAPE + sum(not isinstance(value, tensor.Tensor) for value in (input_shape, axes)),
        )
        if isinstance(input_shape, tensor.Tensor):
            result = ops.convert_to_tensor(result)
            add_missing(ops.get_default_graph(), -1)
        return result

    return shape_with_ones


def _is_known(op) -> bool:
    return op.inputs[0].shape.is_fully_defined() and tensor_util.constant_value(op.inputs[1]) is not None


def _sums_all(op) -> bool:
    rank = op.inputs[0].shape.rank
    axes = tensor_util.constant_value(op.inputs[1])
    return rank is not None and axes is not None and axes.ravel().tolist() == list(range(rank)) and axes.ndim == 1


def _sum_difference(op) -> int:
    """Ops of 1.15's gradient of a sum less the runtime's."""
    if _is_known(op) or _sums_all(op):
        return 0
    return _SHAPE_DIVISION + (_REDUCED_SHAPE + 1 if op.get_attr("keep_dims") else 0)


def _sum(released):
    def gradient(op, grad):
        add_missing(ops.get_default_graph(), _sum_difference(op))
        return released(op, grad)

    return gradient


def _mean(released):
    """The factor was the quotient of both sizes; the runtime multiplies the sizes of the axes."""

    def gradient(op, grad):
        static = op.inputs[0].shape.is_fully_defined() and op.outputs[0].shape.is_fully_defined()
        add_missing(ops.get_default_graph(), _sum_difference(op) + (0 if static else 1))
        return released(op, grad)

    return gradient


def _max(released):
    def gradient(op, grad):
        if op.get_attr("keep_dims"):
            # Both shapes are taken here; 1.15 reshaped what had the shape already.
            add_missing(ops.get_default_graph(), _REDUCED_SHAPE + 2 - 1)
        return released(op, grad)

    return gradient


def _prod(released):
    def gradient(op, grad):
        kept = op.get_attr("keep_dims")
        add_missing(ops.get_default_graph(), _SHAPE_DIVISION + (_REDUCED_SHAPE + 1 if kept else 0))
        return released(op, grad)

    return gradient


# Others.


def _strided_slice(_):
    """The bounds are the tensors of the slice; the runtime makes new constants of them."""
    masks = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")

    def gradient(op, grad):
        value, *bounds = op.inputs
        shape = array_ops.shape(value, out_type=bounds[0].dtype)
        attributes = {name: op.get_attr(name) for name in masks}
        return array_ops.strided_slice_grad(shape, *bounds, grad, **attributes), None, None, None

    return gradient


def _reshape(_):
    """The shape is taken from the input, also where all of it but one size is static: in a loop that takes a stack."""

    def gradient(op, grad):
        grad = array_grad._IndexedSlicesToTensorNoWarning(grad)
        return array_ops.reshape(grad, array_ops.shape(op.inputs[0])), None

    return gradient


def _gather(released):
    """The shape was taken as int64 and cast; along other axes the runtime permutes and restores the shape."""

    def gradient(op, grad):
        along_first = tensor_util.constant_value(op.inputs[2]) == 0
        add_missing(ops.get_default_graph(), 1 if along_first else 1 - 4)
        return released(op, grad)

    return gradient


def _counted(count):
    """Makes the gradient of the runtime one that counts `count` ops more."""

    def make(released):
        def gradient(op, *grads):
            add_missing(ops.get_default_graph(), count)
            return released(op, *grads)

        return gradient

    return make


def _lookup(released):
    """The sum of the rows of a table that are looked up, where the runtime leaves the unique ids to the gradient's kernel.

    1.15 had the sum's gradient and the lookup's: 13 ops, or 12 for a resource.
    """

    def gradient(op, grad):
        if op.get_attr("sparse_gradient"):
            count = 12 if op.inputs[0].op.type == "ReadVariableOp" else 13
            add_missing(ops.get_default_graph(), count + (2 if op.type.startswith("SparseSegmentSum") else 0))
        elif op.type.startswith("SparseSegmentSum"):
            # The gathered gradient was summed by segments.
            add_missing(ops.get_default_graph(), 2)
        return released(op, grad)

    return gradient


def _batch_matmul(released):
    """Sums over broadcast batches, left out by 1.15 for operands of one static shape, here for equal or no batches.

    They are two shapes, two slices of four ops, the axes, and two sums and reshapes.
    """

    def gradient(op, grad):
        x, y = (value.shape for value in op.inputs)
        if not (x.is_fully_defined() and y.is_fully_defined() and x == y):
            no_batch = x.rank is not None and y.rank is not None and max(x.rank, y.rank) <= 2
            batches = x[:-2], y[:-2]
            if no_batch or (all(b.is_fully_defined() for b in batches) and batches[0] == batches[1]):
                add_missing(ops.get_default_graph(), 15)
        return released(op, grad)

    return gradient


def _unsorted_segment(released):
    """The mask of negative ids got its missing dimensions one by one (two ops each); the runtime reshapes it (12 ops)."""

    def gradient(op, grad):
        if grad.shape.rank is not None and op.inputs[1].shape.rank is not None:
            add_missing(ops.get_default_graph(), 2 * (grad.shape.rank - 1) - 12)
        return released(op, grad)

    return gradient


def _gate(released):
    """Two more gradients went through the gate after a batch norm in training: of the mean and variance that it does not use."""

    @functools.wraps(released)
    def gate(tensors, *args, **kwargs):
        op = next((value.op for value in tensors if isinstance(value, tensor.Tensor)), None)
        if op is not None and op.type.startswith("FusedBatchNormGrad") and op.get_attr("is_training"):
            add_missing(op.graph, sum(value is None for value in tensors))
        return released(tensors, *args, **kwargs)

    return gate


class _ArrayOpsOfTensorArrays(types.ModuleType):
    """array_ops for the gradients of TensorArrays: the identities that keep writes before reads are not counted.

    They cure a race of 1.15. In a loop they also make a stack of what they read.
    """

    def __getattr__(self, name):
        return getattr(array_ops, name)

    def identity(self, value, name=None):
        graph = ops.get_default_graph()
        before = graph.num_operations()
        result = array_ops.identity(value, name)
        # The reads need the loop's trigger, too.
        built = [op.type for op in graph.get_operations()[before:]]
        add_missing(graph, built.count("ControlTrigger") - len(built))
        return result


_GRADIENTS = (
    (("Add", "AddV2", "Sub", "Mul", "Pow", "SquaredDifference"), _static),
    (("Maximum", "Minimum"), _maximum),
    (("SelectV2",), _select_v2),
    (("Sum",), _sum),
    (("Mean",), _mean),
    (("Max", "Min"), _max),
    (("Prod",), _prod),
    (("StridedSlice",), _strided_slice),
    (("Reshape",), _reshape),
    (("GatherV2",), _gather),
    # A cast of the shape; the op that forbids second derivatives.
    (("Gather", "SparseSoftmaxCrossEntropyWithLogits"), _counted(1)),
    # Zeros were filled in: a shape and a value.
    (("Sign", "ReluGrad", "Relu6Grad", "LeakyReluGrad"), _counted(2)),
    (("MaxPoolGrad", "MaxPoolGradGrad", "MaxPool3DGrad", "MaxPool3DGradGrad"), _counted(4)),
    # No broadcast was undone.
    (("Atan2",), _counted(-7)),
    # A product and a sum, where the runtime multiplies batches of matrices.
    (("SparseTensorDenseMatMul",), _counted(-3)),
    # The shape was cast to int32 (and back).
    (("SparseReduceSum",), _counted(1)),
    (
        tuple(f"SparseSegment{kind}{end}" for kind in ("Sum", "Mean", "SqrtN") for end in ("", "WithNumSegments")),
        _lookup,
    ),
    (("BatchMatMulV2",), _batch_matmul),
    (("UnsortedSegmentSum", "UnsortedSegmentMin", "UnsortedSegmentMax"), _unsorted_segment),
)
