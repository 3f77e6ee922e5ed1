"""Finds ops and tensors: by name, by walks along the edges, at the boundary of a part of the graph."""

import re

import tensorflow as tf
from tensorflow.contrib.graph_editor import util

_OPS_MARK, _TS_MARK = "(?#ops)", "(?#ts)"


def can_be_regex(obj):
    """Whether `obj` is a string or a compiled regular expression."""
    return isinstance(obj, (str, re.Pattern))


def make_regex(obj):
    """A compiled regular expression from a string or one.

    Raises:
      ValueError: `obj` is neither.
    """
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj) if isinstance(obj, str) else obj


def _input_ts(ops):
    return util.concatenate_unique([], (t for op in ops for t in op.inputs))


def _output_ts(ops):
    return [t for op in ops for t in op.outputs]


def filter_ts(ops, positive_filter):
    """The tensors that ops take or give, for which the function is true (or all, for True).

    Args:
      ops: an op, an iterable of ops, or a graph.
      positive_filter: function of a tensor, or True.
    """
    ops = util.make_list_of_op(ops)
    ts = util.concatenate_unique(_input_ts(ops), _output_ts(ops))
    return ts if positive_filter is True else [t for t in ts if positive_filter(t)]


def filter_ts_from_regex(ops, regex):
    """The tensors that ops take or give whose name the expression is found in."""
    regex = make_regex(regex)
    return filter_ts(ops, lambda t: regex.search(t.name))


def filter_ops(ops, positive_filter):
    """Those of the ops for which the function is true (or all, for True)."""
    ops = util.make_list_of_op(ops)
    return ops if positive_filter is True else [op for op in ops if positive_filter(op)]


def filter_ops_from_regex(ops, regex):
    """Those of the ops whose name the expression is found in."""
    regex = make_regex(regex)
    return filter_ops(util.make_list_of_op(ops), lambda op: regex.search(op.name))


def get_name_scope_ops(ops, scope):
    """Those of the ops that are in the name scope, or are named like it."""
    return filter_ops_from_regex(ops, f"^{re.escape(scope.rstrip('/'))}(/.*)?$")


def check_cios(control_inputs=False, control_outputs=None, control_ios=None):
    """Makes one form of the three ways to ask for control edges.

    Args:
      control_inputs: whether control inputs are followed.
      control_outputs: `ControlOutputs` to follow control outputs by, or None.
      control_ios: `ControlOutputs` that asks for both, in place of the other two.

    Returns:
      (control_inputs, control_outputs), the second brought up to date.

    Raises:
      TypeError: something is no ControlOutputs.
      ValueError: `control_ios` is given beside another.
    """
    if control_ios is not None:
        if not isinstance(control_ios, util.ControlOutputs):
            raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_ios)}")
        if control_outputs is not None:
            raise ValueError("control_outputs should be None when using control_ios.")
        control_inputs, control_outputs = True, control_ios
    elif control_outputs is not None and not isinstance(control_outputs, util.ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    if control_outputs is not None:
        control_outputs.update()
    return control_inputs, control_outputs


def get_ops_ios(ops, control_inputs=False, control_outputs=None, control_ios=None):
    """The ops that a direct edge joins with `ops`: what makes their inputs, then what takes their outputs."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    found = []
    for op in util.make_list_of_op(ops):
        util.concatenate_unique(found, [t.op for t in op.inputs])
        for t in op.outputs:
            util.concatenate_unique(found, t.consumers())
        if control_outputs is not None:
            util.concatenate_unique(found, control_outputs.get(op))
        if control_inputs:
            util.concatenate_unique(found, op.control_inputs)
    return found


def compute_boundary_ts(ops):
    """The tensors at and inside the boundary of a part of the graph.

    Returns:
      (inputs, outputs, insides): made outside and taken inside; made inside and taken outside or by nobody inside; made and
      taken inside. A tensor that is taken on both sides is an output and an inside one.
    """
    ops = util.make_list_of_op(ops)
    inside_ops = set(ops)
    inputs, insides = [], []
    for t in _input_ts(ops):
        (insides if t.op in inside_ops else inputs).append(t)
    only_inside = {t for t in insides if inside_ops.issuperset(t.consumers())}
    return inputs, [t for t in _output_ts(ops) if t not in only_inside], insides


def get_within_boundary_ops(
    ops, seed_ops, boundary_ops=(), inclusive=True, control_inputs=False, control_outputs=None, control_ios=None
):
    """Those of the ops that are reached from the seeds without passing a boundary op.

    Args:
      ops: ops to stay within, or a graph.
      seed_ops: where to start.
      boundary_ops: where to stop.
      inclusive: whether boundary ops that were reached are part of the result.

    Raises:
      ValueError: a seed is a boundary op.
    """
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    ops = set(util.make_list_of_op(ops))
    boundary = set(util.make_list_of_op(boundary_ops))
    result = list(util.make_list_of_op(seed_ops))
    if boundary.intersection(result):
        raise ValueError("Boundary is intersecting with the seeds.")
    seen = set(result)
    wave = result[:]
    while wave:
        near = [op for op in get_ops_ios(wave, control_inputs, control_outputs) if op in ops and op not in seen]
        seen.update(near)
        result += [op for op in near if inclusive or op not in boundary]
        wave = [op for op in near if op not in boundary]
    return result


def _walk(seeds, next_ops, inclusive, within_ops, within_ops_fn):
    within = None if within_ops is None else set(util.make_list_of_op(within_ops, allow_graph=False))

    def is_within(op):
        return (within is None or op in within) and (within_ops_fn is None or within_ops_fn(op))

    result = [op for op in seeds if is_within(op)]
    start, seen = set(seeds), set(result)
    wave = result
    while wave:
        near = []
        for op in wave:
            for other in next_ops(op):
                if other not in seen and is_within(other):
                    seen.add(other)
                    near.append(other)
        result = result + near
        wave = near
    return result if inclusive else [op for op in result if op not in start]


def _seeds(seed_ops, ops_of_tensors):
    seed_ops = list(seed_ops) if util.is_iterable(seed_ops) else [seed_ops]
    if seed_ops and isinstance(seed_ops[0], tf.Tensor):
        return ops_of_tensors(util.make_list_of_t(seed_ops, allow_graph=False))
    return util.make_list_of_op(seed_ops, allow_graph=False)


def get_forward_walk_ops(
    seed_ops, inclusive=True, within_ops=None, within_ops_fn=None, stop_at_ts=(), control_outputs=None
):
    """The ops that depend on the seeds.

    Args:
      seed_ops: ops, or tensors, which stand for the ops that take them.
      inclusive: whether the seeds are part of the result.
      within_ops: ops to stay within; None for all.
      within_ops_fn: function of an op that says the same.
      stop_at_ts: tensors not to follow.
      control_outputs: `ControlOutputs` to follow too, or None.

    Raises:
      TypeError: something is of another type.
    """
    _, control_outputs = check_cios(False, control_outputs)
    stop = set(util.make_list_of_t(stop_at_ts))

    def takers(op):
        yield from (other for t in op.outputs if t not in stop for other in t.consumers())
        if control_outputs is not None:
            yield from control_outputs.get(op)

    return _walk(_seeds(seed_ops, util.get_consuming_ops), takers, inclusive, within_ops, within_ops_fn)


def get_backward_walk_ops(
    seed_ops, inclusive=True, within_ops=None, within_ops_fn=None, stop_at_ts=(), control_inputs=False
):
    """The ops that the seeds depend on.

    Args:
      seed_ops: ops, or tensors, which stand for the ops that make them.
      inclusive, within_ops, within_ops_fn, stop_at_ts: as for `get_forward_walk_ops`.
      control_inputs: whether control inputs are followed too.
    """
    control_inputs, _ = check_cios(control_inputs, None)
    stop = set(util.make_list_of_t(stop_at_ts))

    def makers(op):
        yield from (t.op for t in op.inputs if t not in stop)
        if control_inputs:
            yield from op.control_inputs

    return _walk(_seeds(seed_ops, util.get_generating_ops), makers, inclusive, within_ops, within_ops_fn)


def get_walks_intersection_ops(
    forward_seed_ops,
    backward_seed_ops,
    forward_inclusive=True,
    backward_inclusive=True,
    within_ops=None,
    within_ops_fn=None,
    control_inputs=False,
    control_outputs=None,
    control_ios=None,
):
    """The ops that depend on the forward seeds and that the backward seeds depend on, in the order of the forward walk."""
    forward, backward = _both_walks(
        forward_seed_ops,
        backward_seed_ops,
        forward_inclusive,
        backward_inclusive,
        within_ops,
        within_ops_fn,
        check_cios(control_inputs, control_outputs, control_ios),
    )
    backward = set(backward)
    return [op for op in forward if op in backward]


def get_walks_union_ops(
    forward_seed_ops,
    backward_seed_ops,
    forward_inclusive=True,
    backward_inclusive=True,
    within_ops=None,
    within_ops_fn=None,
    control_inputs=False,
    control_outputs=None,
    control_ios=None,
):
    """The ops that depend on the forward seeds or that the backward seeds depend on."""
    forward, backward = _both_walks(
        forward_seed_ops,
        backward_seed_ops,
        forward_inclusive,
        backward_inclusive,
        within_ops,
        within_ops_fn,
        check_cios(control_inputs, control_outputs, control_ios),
    )
    return util.concatenate_unique(forward, backward)


def _both_walks(forward_seeds, backward_seeds, forward_inclusive, backward_inclusive, within_ops, within_ops_fn, cios):
    control_inputs, control_outputs = cios
    return (
        get_forward_walk_ops(
            forward_seeds, forward_inclusive, within_ops, within_ops_fn, control_outputs=control_outputs
        ),
        get_backward_walk_ops(
            backward_seeds, backward_inclusive, within_ops, within_ops_fn, control_inputs=control_inputs
        ),
    )


def _select(args, kwargs, restrict_key, mark, other_mark, from_regex, make_list):
    graph = kwargs.pop("graph", None)
    positive_filter = kwargs.pop("positive_filter", None)
    restrict = kwargs.pop(restrict_key, False)
    if kwargs:
        raise ValueError(f"Invalid keywords keys: {', '.join(kwargs)}.")
    if graph is not None and not isinstance(graph, tf.Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    found = []
    for arg in args:
        if can_be_regex(arg):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            pattern = make_regex(arg).pattern
            if pattern.startswith(other_mark) or (restrict and not pattern.startswith(mark)):
                continue
            items = from_regex(graph, arg)
        else:
            items = make_list(arg)
        util.concatenate_unique(found, (item for item in items if positive_filter is None or positive_filter(item)))
    return found


def select_ts(*args, **kwargs):
    """Tensors, given as they are, in iterables, or by regular expressions.

    Args:
      *args: tensors, iterables of tensors, or expressions that are searched in names; one that starts with "(?#ops)" is passed over.
      **kwargs: `graph`, needed for expressions; `positive_filter`, a function of a tensor; `restrict_ts_regex`: whether only
        expressions that start with "(?#ts)" count.

    Raises:
      TypeError: something is of another type.
      ValueError: an unknown keyword, or an expression without `graph`.
    """
    return _select(
        args,
        kwargs,
        "restrict_ts_regex",
        _TS_MARK,
        _OPS_MARK,
        filter_ts_from_regex,
        lambda arg: util.make_list_of_t(arg, ignore_ops=True),
    )


def select_ops(*args, **kwargs):
    """Ops, given as they are, in iterables, or by regular expressions; see `select_ts`.

    An expression that starts with "(?#ts)" is passed over; `restrict_ops_regex`: whether only those that start with "(?#ops)" count.
    """
    return _select(
        args,
        kwargs,
        "restrict_ops_regex",
        _OPS_MARK,
        _TS_MARK,
        filter_ops_from_regex,
        lambda arg: util.make_list_of_op(arg, ignore_ts=True),
    )


def select_ops_and_ts(*args, **kwargs):
    """(ops, tensors) of what `select_ops` and `select_ts` find. An expression finds tensors if it starts with "(?#ts)", else ops."""
    return select_ops(*args, **{**kwargs, "restrict_ops_regex": False}), select_ts(
        *args, **{**kwargs, "restrict_ts_regex": True}
    )
