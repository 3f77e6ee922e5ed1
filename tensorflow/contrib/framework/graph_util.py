"""Functions of graphs and graph definitions."""

import collections
import copy

from tensorflow.core.framework import graph_pb2, node_def_pb2
from tensorflow.python.framework import ops

__all__ = ["fuse_op", "get_placeholders"]


def _node_of(name):
    """ "^scope/name:1" -> "scope/name"."""
    return name.lstrip("^").partition(":")[0]


def _ancestors(names, inputs):
    """The nodes and all that they depend on."""
    seen = set(names)
    queue = collections.deque(names)
    while queue:
        for name in inputs[queue.popleft()]:
            if name not in seen:
                seen.add(name)
                queue.append(name)
    return seen


def fuse_op(graph_def, input_nodes, output_nodes, output_dtypes, output_quantized, op_name, op_type):
    """Replaces what lies between nodes of a graph by one op.

    Args:
      graph_def: a `GraphDef`.
      input_nodes: list of names; these nodes stay and become the op's inputs.
      output_nodes: list of names of nodes with one input each; they stay and read the op's outputs.
      output_dtypes: list of the numbers of the outputs' types.
      output_quantized: whether the outputs are quantized.
      op_name, op_type: name and type of the new node.

    Returns:
      A new `GraphDef`.

    Raises:
      TypeError: if an argument has another type, or the replaced nodes read something that is not in `input_nodes`.
      ValueError: if a node is missing, or an output node has not one input.
    """
    if not isinstance(graph_def, graph_pb2.GraphDef):
        raise TypeError(f"graph_def must be a graph_pb2.GraphDef, got {type(graph_def)}")
    for argument, value in (("input_nodes", input_nodes), ("output_nodes", output_nodes)):
        if isinstance(value, str):
            raise TypeError(f"{argument} must be a list of names, got {value!r}")
    nodes = {_node_of(node.name): node for node in graph_def.node}
    inputs = {name: [_node_of(i) for i in node.input] for name, node in nodes.items()}
    for name in [*input_nodes, *output_nodes]:
        if name not in nodes:
            raise ValueError(f"{name} is not in graph_def")
    before = _ancestors(input_nodes, inputs)
    inside = _ancestors(output_nodes, inputs) - before - set(output_nodes)
    for name in inside:
        for source in inputs[name]:
            if source in before and source not in input_nodes:
                raise TypeError(f"Node {name} reads {source}, which is not in input_nodes.")
    after = [n for n in nodes if n not in before and n not in inside and n not in output_nodes]

    fused = node_def_pb2.NodeDef(name=op_name, op=op_type, input=input_nodes)
    fused.attr["_output_types"].list.type[:] = output_dtypes
    fused.attr["_output_quantized"].b = output_quantized
    result = graph_pb2.GraphDef()
    result.node.extend(copy.deepcopy(nodes[name]) for name in nodes if name in before)
    result.node.append(fused)
    for index, name in enumerate(output_nodes):
        if len(nodes[name].input) != 1:
            raise ValueError(f"Output node {name} must have one input, got {list(nodes[name].input)}")
        output = copy.deepcopy(nodes[name])
        output.input[0] = f"{op_name}:{index}" if index else op_name
        result.node.append(output)
    result.node.extend(copy.deepcopy(nodes[name]) for name in after)
    result.library.CopyFrom(graph_def.library)
    result.versions.CopyFrom(graph_def.versions)
    return result


def get_placeholders(graph):
    """The tensors of all `Placeholder` ops of a graph, in their order.

    Raises:
      TypeError: if `graph` is no `tf.Graph`.
    """
    if not isinstance(graph, ops.Graph):
        raise TypeError(f"graph must be a tf.Graph, got {graph!r}")
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]
