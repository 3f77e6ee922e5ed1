"""The IdentityN that says what a sub-graph computes."""

import contextlib
from typing import Dict, List, Sequence, Set

from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.eager import context
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.framework.tensor import Tensor
from tensorflow.python.ops import array_ops

# Attributes: what kind of sub-graph it is, and how many of the first inputs are its results.
KIND, RESULTS = "_deeprec_mark", "_deeprec_mark_results"


def may_put() -> bool:
    """Whether the pass and `tf.gradients` would follow a mark made here: in a graph of v1, in no function, loop or condition."""
    if context.executing_eagerly():
        return False
    graph = ops.get_default_graph()
    return not graph.building_function and graph._get_control_flow_context() is None


def put(
    kind: str, results: Sequence[Tensor], reads: Sequence[Tensor], attributes: Dict[str, object], loop: bool = False
) -> None:
    """Marks a sub-graph of the default graph.

    Args:
      kind: as `register` and the pass know it.
      results: tensors of the sub-graph that others may read, each the only output of its op.
      reads: all tensors that the sub-graph reads and may have a gradient, and what else the op in its place takes.
      loop: whether the sub-graph is one. The mark then waits for what is waited for here; else the pass finds out what.
      attributes: of the mark, names without the kind; a float, a dtype, or a list of one of bool, int, float, str.
    """
    from tensorflow.deeprec.stage.uncounted import uncounted

    graph = ops.get_default_graph()
    controls = contextlib.nullcontext() if loop else ops.control_dependencies(None)
    with uncounted(graph), controls, graph.gradient_override_map({"IdentityN": _gradient_name(kind)}):
        mark = array_ops.identity_n([*results, *reads], name="mark")[0].op
    mark._set_attr(KIND, attr_value_pb2.AttrValue(s=kind.encode()))
    mark._set_attr(RESULTS, attr_value_pb2.AttrValue(i=len(results)))
    for name, value in attributes.items():
        mark._set_attr(attribute(kind, name), _attr_value(value))


def attribute(kind: str, name: str) -> str:
    """Name of an attribute of a kind's marks."""
    return f"_deeprec_{kind}_{name}"


def _attr_value(value) -> attr_value_pb2.AttrValue:
    if isinstance(value, float):
        return attr_value_pb2.AttrValue(f=value)
    if isinstance(value, dtypes.DType):
        return attr_value_pb2.AttrValue(type=value.as_datatype_enum)
    lists = attr_value_pb2.AttrValue.ListValue
    if any(isinstance(item, str) for item in value):
        return attr_value_pb2.AttrValue(list=lists(s=[item.encode() for item in value]))
    field = next(
        (field for kind, field in ((bool, "b"), (float, "f")) if any(isinstance(item, kind) for item in value)), "i"
    )
    return attr_value_pb2.AttrValue(list=lists(**{field: value}))


def _gradient_name(kind: str) -> str:
    return f"DeepRecMark_{kind}"


def register(kind: str):
    """Decorator of the gradient of marks of a kind, also of those in graphs from files.

    It takes (mark, gradients of its results) and returns a list of gradients of what the sub-graph reads, or None.
    """

    def decorate(function):
        @ops.RegisterGradient(_gradient_name(kind))
        def gradient(op, *grads):
            count = number_of_results(op)
            return [None] * count + list(function(op, *grads[:count]))

        return function

    return decorate


def is_mark(op) -> bool:
    return op.type == "IdentityN" and KIND in op.node_def.attr


def number_of_results(mark) -> int:
    return mark.get_attr(RESULTS)


def results_of(mark) -> List[Tensor]:
    """The tensors of the sub-graph that the first outputs of a mark stand for."""
    return list(mark.inputs)[: number_of_results(mark)]


def reads_of(mark) -> List[Tensor]:
    return list(mark.inputs)[number_of_results(mark) :]


def tensors_within(mark) -> Set:
    """References of the tensors that the sub-graph makes on the way from what it reads to its results.

    Empty for a loop: no gradient goes into it either way, and no op of it is staged.
    """
    stop = {tensor.ref() for tensor in reads_of(mark)}
    results = results_of(mark)
    if any(result.op.type == "Exit" for result in results):
        return set()
    found, ahead = set(), [tensor for result in results for tensor in result.op.inputs]
    while ahead:
        tensor = ahead.pop()
        if tensor.ref() not in stop and tensor.ref() not in found:
            found.add(tensor.ref())
            ahead.extend(tensor.op.inputs)
    return found


def ops_within(graph) -> Set:
    """The ops of all marked sub-graphs, which the pass leaves without a reader."""
    return {tensor.deref().op for op in graph.get_operations() if is_mark(op) for tensor in tensors_within(op)}


def forget(changed) -> None:
    """Takes away the marks of sub-graphs that ops of `changed`, whose inputs are about to change, belong to: they compute something else
    then."""
    changed = set(changed)
    for graph in {op.graph for op in changed}:
        for op in graph.get_operations():
            if is_mark(op):
                parts = {op} | {tensor.op for tensor in results_of(op)}
                if changed & (parts | {tensor.deref().op for tensor in tensors_within(op)}):
                    op._clear_attr(KIND)


def unmark(graph, kind: str) -> None:
    """Takes the marks of a kind away: sub-graphs run as they are. Gradients that were made along them stay right."""
    for op in graph.get_operations():
        if is_mark(op) and op.get_attr(KIND) == kind.encode():
            op._clear_attr(KIND)
