"""Cuts parts of a graph off, joins and bypasses them."""

import tensorflow as tf
from tensorflow.contrib.graph_editor import reroute, select, subgraph, util


def detach_control_inputs(sgv):
    """Removes the control inputs that come from outside of a view."""
    sgv = subgraph.make_view(sgv)
    inside = set(sgv.ops)
    for op in sgv.ops:
        reroute.remove_control_inputs(op, [cop for cop in op.control_inputs if cop not in inside])


def detach_control_outputs(sgv, control_outputs):
    """Removes the control inputs by which ops outside wait for a view.

    Args:
      sgv: the view.
      control_outputs: `ControlOutputs` of its graph.

    Raises:
      TypeError: `control_outputs` is of another type.
    """
    if not isinstance(control_outputs, util.ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    control_outputs.update()
    sgv = subgraph.make_view(sgv)
    inside = set(sgv.ops)
    for op in sgv.ops:
        for cop in control_outputs.get(op):
            if cop not in inside:
                reroute.remove_control_inputs(cop, op)


def detach_inputs(sgv, control_inputs=False):
    """Puts placeholders in place of the inputs of a view.

    Args:
      sgv: the view; its inputs are the placeholders then.
      control_inputs: whether control inputs are removed too.

    Returns:
      (view, list of placeholders).
    """
    sgv = subgraph.make_view(sgv)
    with sgv.graph.as_default():
        placeholders = [tf.placeholder(t.dtype, name=util.placeholder_name(t)) for t in sgv.inputs]
    reroute.swap_inputs(sgv, placeholders)
    if control_inputs:
        detach_control_inputs(sgv)
    return sgv, placeholders


def detach_outputs(sgv, control_outputs=None):
    """Puts placeholders in place of the outputs of a view, for the ops outside that take them.

    Args:
      sgv: the view.
      control_outputs: `ControlOutputs` by which control outputs are removed too, or None.

    Returns:
      (view with the outputs that are taken, list of placeholders).
    """
    sgv = subgraph.make_view(sgv)
    taken = sgv.remap_outputs([i for i, t in enumerate(sgv.outputs) if t.consumers()])
    takers = subgraph.SubGraphView(taken.consumers())
    takers = takers.remap_inputs([i for i, t in enumerate(takers.inputs) if t in taken.outputs])
    taken = taken.remap_outputs(takers.inputs)
    with taken.graph.as_default():
        placeholders = [util.make_placeholder_from_tensor(t) for t in takers.inputs]
    reroute.swap_outputs(taken, placeholders)
    if control_outputs is not None:
        detach_control_outputs(taken, control_outputs)
    return taken, placeholders


def detach(sgv, control_inputs=False, control_outputs=None, control_ios=None):
    """Cuts a view off, with placeholders at both ends.

    Returns:
      (view, placeholders in place of its inputs, placeholders in place of its outputs).
    """
    control_inputs, control_outputs = select.check_cios(control_inputs, control_outputs, control_ios)
    sgv = subgraph.make_view(sgv)
    _, input_placeholders = detach_inputs(sgv, control_inputs)
    _, output_placeholders = detach_outputs(sgv, control_outputs)
    return sgv, input_placeholders, output_placeholders


def connect(sgv0, sgv1, disconnect_first=False):
    """Gives the outputs of `sgv0` to `sgv1` as its inputs.

    Args:
      sgv0, sgv1: views, with as many outputs as inputs.
      disconnect_first: whether `sgv0` is cut off from those who take its outputs now.

    Returns:
      Both views.
    """
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    if disconnect_first:
        detach_outputs(sgv0)
    reroute.reroute_inputs(subgraph.SubGraphView(passthrough_ts=sgv0.outputs), sgv1)
    return sgv0, sgv1


def bypass(sgv):
    """Takes a view out of the flow: who takes its outputs takes its inputs then.

    Returns:
      (view, list of the placeholders that it has as inputs now).

    Raises:
      ValueError: it has not as many inputs as outputs, or of other types.
    """
    sgv = subgraph.make_view(sgv)
    inputs = sgv.inputs
    sgv, placeholders = detach_inputs(sgv)
    reroute.reroute_ts(inputs, sgv.outputs)
    return sgv, placeholders
