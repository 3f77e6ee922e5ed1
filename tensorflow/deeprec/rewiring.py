"""Edges of a graph, led elsewhere, and copies of its operations. No session may have run what is changed."""

import contextlib

from tensorflow.python.framework import ops


@contextlib.contextmanager
def opened(graph):
    """The graph as default graph that may be changed, although a Scaffold has finalized it, free of what is around."""
    from tensorflow.deeprec.stage.uncounted import uncounted

    finalized = graph.finalized
    graph._unsafe_unfinalize()
    try:
        with (
            graph.as_default(),
            ops.name_scope(None),
            ops.device(None),
            ops.control_dependencies(None),
            uncounted(graph),
        ):
            yield
    finally:
        if finalized:
            graph.finalize()


def redirect(reader, old, new) -> None:
    """Makes an operation read the tensor `new`, of the same dtype, wherever it read `old`."""
    for index, tensor in enumerate(reader.inputs):
        if tensor is old:
            reader._update_input(index, new)


def copy_of(op, inputs, name: str):
    """An operation like `op` on other inputs, on its device, in the control dependencies and the control flow that are around."""
    copy = op.graph._create_op_internal(
        op.type,
        list(inputs),
        [tensor.dtype for tensor in op.outputs],
        name=name,
        attrs={key: value for key, value in op.node_def.attr.items() if key not in ("_class", "_output_shapes")},
        op_def=op.op_def,
        compute_device=False,
    )
    copy._set_device(op.device)
    return copy


def replace_controls(op, gone: set, instead) -> None:
    """Makes an operation wait for the operation `instead` if it waited for some of the operations in `gone`."""
    controls = list(op.control_inputs)
    kept = [control for control in controls if control not in gone]
    if len(kept) < len(controls):
        op._remove_all_control_inputs()
        op._add_control_inputs([*kept, instead])
