"""Edges of a graph, led elsewhere. No session may have run what is changed."""


def redirect(reader, old, new) -> None:
    """Makes an operation read the tensor `new`, of the same dtype, wherever it read `old`."""
    for index, tensor in enumerate(reader.inputs):
        if tensor is old:
            reader._update_input(index, new)


def replace_controls(op, gone: set, instead) -> None:
    """Makes an operation wait for the operation `instead` if it waited for some of the operations in `gone`."""
    controls = list(op.control_inputs)
    kept = [control for control in controls if control not in gone]
    if len(kept) < len(controls):
        op._remove_all_control_inputs()
        op._add_control_inputs([*kept, instead])
