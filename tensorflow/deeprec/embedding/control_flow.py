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
    while_v2,
)

# What a handle passes through on its way into branches and loops.
_PASSED_THROUGH = ("Enter", "Identity", "RefSwitch", "Switch")
# Attribute of a handle made eagerly, which no op tells from that of an ordinary variable: what `table_of` returns.
_TABLE = "_deeprec_table"


def mark_eager_handle(handle, row_shape, dtype) -> None:
    """Lets `table_of` know the handle of a table that was made eagerly."""
    setattr(handle, _TABLE, (tensor_shape.TensorShape(row_shape), dtypes.as_dtype(dtype)))


def table_of(tensor) -> "tuple[tensor_shape.TensorShape, dtypes.DType] | None":
    """(shape of a row, dtype) of the table whose handle a tensor in a branch, loop or function is, or None: it is none."""
    if hasattr(tensor, _TABLE):
        return getattr(tensor, _TABLE)
    # EagerTensors have no op, and say so by an exception of another kind.
    op = tensor.op if hasattr(tensor, "graph") else None
    while op is not None and op.type in _PASSED_THROUGH:
        op = op.inputs[0].op
    if op is not None and op.type == "Placeholder":
        captures = getattr(op.graph, "captures", ())
        outer = next((outside for outside, inside in captures if inside is op.outputs[0]), None)
        return None if outer is None else table_of(outer)
    if op is None or op.type != "KvVarHandleOp":
        return None
    return tensor_shape.TensorShape(op.get_attr("shape")), op.get_attr("dtype")


def check_gradient_of_table(handle) -> None:
    """Raises NotImplementedError where the gradient of a table cannot be handed on: loops of the second kind add dense tensors."""
    graph = ops.get_default_graph()
    while graph is not None:
        if isinstance(graph, while_v2._WhileBodyGradFuncGraph):
            raise NotImplementedError(
                f"the gradient of {handle.name}, a table without a number of rows, that is looked up in a tf.while_loop of control flow "
                "v2: look its keys up before the loop, or use tf.compat.v1.disable_control_flow_v2() and a tf.compat.v1.Session"
            )
        # The loop may have branches.
        graph = getattr(graph, "outer_graph", None)


def _variable_shape(released):
    @functools.wraps(released)
    def variable_shape(handle, *args, **kwargs):
        if table_of(handle) is None:
            return released(handle, *args, **kwargs)
        # Depends on the handle, so that zeros made of it are in the handle's branch.
        return library.ops().kv_variable_shape(handle, out_type=dtypes.int32) * [0, 1]

    return variable_shape


def _zeros_like(released):
    @functools.wraps(released)
    def zeros_like(t):
        table = table_of(t) if t.dtype == dtypes.resource else None
        if table is None:
            return released(t)
        row_shape, dtype = table
        return array_ops.zeros([0, *row_shape.as_list()], dtype)

    return zeros_like


def _resource_safe_shape(released):
    @functools.wraps(released)
    def resource_safe_shape(t):
        table = table_of(t) if t.dtype == dtypes.resource else None
        return released(t) if table is None else tensor_shape.TensorShape([0]).concatenate(table[0])

    return resource_safe_shape


def _accumulate(released):
    @functools.wraps(released)
    def add_backprop_indexed_slices_accumulator(self, op, grad):
        result = released(self, op, grad)
        if table_of(op.inputs[0]) is None:
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


@functools.cache
def install() -> None:
    """Puts these where the runtime's gradients of branches and loops look."""
    for module in (gen_resource_variable_ops, resource_variable_ops):
        module.variable_shape = _variable_shape(module.variable_shape)
    # For `tf.enable_control_flow_v2` and functions.
    default_gradient.zeros_like = _zeros_like(default_gradient.zeros_like)
    control_flow_ops._resource_safe_shape = _resource_safe_shape(control_flow_ops._resource_safe_shape)
    context = control_flow_ops.WhileContext
    context.AddBackpropIndexedSlicesAccumulator = _accumulate(context.AddBackpropIndexedSlicesAccumulator)
