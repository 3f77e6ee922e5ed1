"""Gradients of lookups inside `tf.cond` and `tf.while_loop`.

Where a branch is not taken the runtime makes a zero gradient of an ordinary variable's shape, and a loop adds its gradients up
from a zero row of index 0. A table's shape is without number, and a key that is not looked up must not be trained: here the
zeros are `[0, dim]`, and the row that a loop starts from is left out.
"""

import functools

from tensorflow.deeprec import library
from tensorflow.python.framework import dtypes, indexed_slices, ops, tensor_shape
from tensorflow.python.ops import (
    array_ops,
    control_flow_ops,
    default_gradient,
    gen_resource_variable_ops,
    resource_variable_ops,
)

# What a handle passes through on its way into branches and loops.
_PASSED_THROUGH = ("Enter", "Identity", "RefSwitch", "Switch")


def handle_op(tensor) -> "ops.Operation | None":
    """The KvVarHandleOp that a tensor in a branch, loop or function comes from, or None."""
    op = getattr(tensor, "op", None)
    while op is not None and op.type in _PASSED_THROUGH:
        op = op.inputs[0].op
    if op is not None and op.type == "Placeholder":
        captures = getattr(op.graph, "captures", ())
        outer = next((outside for outside, inside in captures if inside is op.outputs[0]), None)
        return None if outer is None else handle_op(outer)
    return op if op is not None and op.type == "KvVarHandleOp" else None


def _variable_shape(released):
    @functools.wraps(released)
    def variable_shape(handle, *args, **kwargs):
        if handle_op(handle) is None:
            return released(handle, *args, **kwargs)
        # Depends on the handle, so that zeros made of it are in the handle's branch.
        return library.ops().kv_variable_shape(handle, out_type=dtypes.int32) * [0, 1]

    return variable_shape


def _zeros_like(released):
    @functools.wraps(released)
    def zeros_like(t):
        op = handle_op(t) if t.dtype == dtypes.resource else None
        if op is None:
            return released(t)
        return array_ops.zeros([0, *tensor_shape.TensorShape(op.get_attr("shape"))], op.get_attr("dtype"))

    return zeros_like


def _resource_safe_shape(released):
    @functools.wraps(released)
    def resource_safe_shape(t):
        op = handle_op(t) if t.dtype == dtypes.resource else None
        if op is None:
            return released(t)
        return tensor_shape.TensorShape([0]).concatenate(tensor_shape.TensorShape(op.get_attr("shape")))

    return resource_safe_shape


def _accumulate(released):
    @functools.wraps(released)
    def add_backprop_indexed_slices_accumulator(self, op, grad):
        result = released(self, op, grad)
        if handle_op(op.inputs[0]) is None:
            return result
        # Of the loop's result, so outside of the loop.
        self.Exit()
        try:
            values, indices = (_of_unknown_length(tensor[1:]) for tensor in (result.values, result.indices))
            return indexed_slices.IndexedSlices(values, indices, result.dense_shape)
        finally:
            self.Enter()

    return add_backprop_indexed_slices_accumulator


def _of_unknown_length(tensor):
    """The tensor without the length that the loop's first value had: the graph would take that of its result for known."""
    return array_ops.placeholder_with_default(tensor, [None, *tensor.shape[1:]])


def install() -> None:
    """Puts these where the runtime's gradients of branches and loops look."""
    for module in (gen_resource_variable_ops, resource_variable_ops):
        module.variable_shape = _variable_shape(module.variable_shape)
    # For `tf.enable_control_flow_v2` and functions.
    default_gradient.zeros_like = _zeros_like(default_gradient.zeros_like)
    control_flow_ops._resource_safe_shape = _resource_safe_shape(control_flow_ops._resource_safe_shape)
    context = control_flow_ops.WhileContext
    context.AddBackpropIndexedSlicesAccumulator = _accumulate(context.AddBackpropIndexedSlicesAccumulator)
