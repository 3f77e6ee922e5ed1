"""Changes which tensors ops take, and which ops they wait for."""

import tensorflow as tf
from tensorflow.contrib.graph_editor import subgraph, util
from tensorflow.deeprec.marks import mark


def _check_ts_compatibility(ts0, ts1):
    if len(ts0) != len(ts1):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(ts0)} != {len(ts1)}")
    for t0, t1 in zip(ts0, ts1):
        if not t0.dtype.is_compatible_with(t1.dtype):
            raise ValueError(f"Dtypes {t0.dtype} and {t1.dtype} are not compatible.")
        if not t0.shape.is_compatible_with(t1.shape):
            raise ValueError(f"Shapes {t0.shape} and {t1.shape} are not compatible.")


def _uses(t, can_modify, cannot_modify):
    """(op, position) of each place where an op that may be changed takes `t`."""
    return [
        (op, position)
        for op in t.consumers()
        if (can_modify is None or op in can_modify) and op not in cannot_modify
        for position, other in enumerate(op.inputs)
        if other is t
    ]


def _exchange(ts0, ts1, swap, can_modify, cannot_modify):
    """Gives ts0 to those who take ts1, and, for a swap, ts1 to those who take ts0; returns the number of changed inputs."""
    ts0, ts1 = util.make_list_of_t(ts0), util.make_list_of_t(ts1)
    _check_ts_compatibility(ts0, ts1)
    can_modify = None if can_modify is None else set(util.make_list_of_op(can_modify))
    cannot_modify = set() if cannot_modify is None else set(util.make_list_of_op(cannot_modify))
    changed = 0
    for t0, t1 in zip(ts0, ts1):
        if t0 is t1:
            continue
        moves = [(use, t0) for use in _uses(t1, can_modify, cannot_modify)]
        if swap:
            moves += [(use, t1) for use in _uses(t0, can_modify, cannot_modify)]
        mark.forget(op for (op, _), _ in moves)
        for (op, position), new in moves:
            # The runtime has no public way to change an input.
            op._update_input(position, new)
        changed += len(moves)
    return changed


def swap_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """Swaps tensors: who takes t0 takes t1 then, and the other way round.

    Args:
      ts0, ts1: as many tensors, of compatible types and shapes.
      can_modify: the only ops that are changed; None for all.
      cannot_modify: ops that are not changed.

    Returns:
      The number of inputs that were changed.

    Raises:
      TypeError: something is no tensor, or no op.
      ValueError: numbers, types or shapes do not fit.
    """
    return _exchange(ts0, ts1, True, can_modify, cannot_modify)


def reroute_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """Puts each t0 in place of its t1: who takes t1 takes t0 then. Arguments, result and errors of `swap_ts`."""
    return _exchange(ts0, ts1, False, can_modify, cannot_modify)


def _exchange_inputs(sgv0, sgv1, swap):
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    can_modify = sgv0.ops + sgv1.ops
    # Who takes a tensor that passes through is outside of both views, and means to be changed.
    can_modify += util.get_consuming_ops(sgv0.passthroughs) + util.get_consuming_ops(sgv1.passthroughs)
    _exchange(sgv0.inputs, sgv1.inputs, swap, can_modify, None)
    inputs0, inputs1 = sgv0.inputs, sgv1.inputs
    sgv1._input_ts = inputs0
    if swap:
        sgv0._input_ts = inputs1
    for view in (sgv0, sgv1):
        # A tensor passes through as long as no op of the view takes it.
        view._passthrough_ts = [t for t in view._input_ts if t in view._output_ts and t.op not in view._ops]
    return sgv0, sgv1


def _exchange_outputs(sgv0, sgv1, swap):
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    _exchange(sgv0.outputs, sgv1.outputs, swap, None, sgv0.ops + sgv1.ops)
    return sgv0, sgv1


def swap_inputs(sgv0, sgv1):
    """Swaps what comes into two views; both are changed and returned."""
    return _exchange_inputs(sgv0, sgv1, True)


def reroute_inputs(sgv0, sgv1):
    """Gives the inputs of `sgv0` to the ops of `sgv1`; both views are returned."""
    return _exchange_inputs(sgv0, sgv1, False)


def swap_outputs(sgv0, sgv1):
    """Swaps what goes out of two views: who takes an output of one takes that of the other then; both are returned."""
    return _exchange_outputs(sgv0, sgv1, True)


def reroute_outputs(sgv0, sgv1):
    """Puts the outputs of `sgv0` in place of those of `sgv1` for those outside who take them; both are returned."""
    return _exchange_outputs(sgv0, sgv1, False)


def swap_ios(sgv0, sgv1):
    """Swaps inputs and outputs of two views."""
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    swap_inputs(sgv0, sgv1)
    return swap_outputs(sgv0, sgv1)


def reroute_ios(sgv0, sgv1):
    """Reroutes inputs and outputs of two views."""
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    reroute_inputs(sgv0, sgv1)
    return reroute_outputs(sgv0, sgv1)


def _check_op(op):
    if not isinstance(op, tf.Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")


def remove_control_inputs(op, cops):
    """Lets `op` no longer wait for `cops`.

    Raises:
      TypeError: `op` is no op.
      ValueError: one of `cops` is no control input of it.
    """
    _check_op(op)
    cops = util.make_list_of_op(cops, allow_graph=False)
    for cop in cops:
        if cop not in op.control_inputs:
            raise ValueError(f"{cop.name} is not a control_input of {op.name}")
    kept = [cop for cop in op.control_inputs if cop not in cops]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)


def add_control_inputs(op, cops):
    """Lets `op` wait for `cops`.

    Raises:
      TypeError: `op` is no op.
      ValueError: it waits for one of them already.
    """
    _check_op(op)
    cops = util.make_list_of_op(cops, allow_graph=False)
    for cop in cops:
        if cop in op.control_inputs:
            raise ValueError(f"{cop.name} is already a control_input of {op.name}")
    op._add_control_inputs(cops)
