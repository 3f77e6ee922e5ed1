"""`tf.train.mark_target_node`: what SmartStage leaves where it is."""

import os

from tensorflow.python.framework import ops
from tensorflow.python.util import nest

_COLLECTION = "smart_stage_target_nodes"


def mark_target_node(nodes) -> None:
    """Keeps tensors and operations, and what depends on them, out of the stage that SmartStage makes.

    Fetching what was staged is allowed without a mark: the value is that of the record of the step. A mark lets a tensor be fed.

    Args:
      nodes: tensors, operations, SparseTensors, or a nest of them.

    Raises:
      TypeError: something else is in it.
    """
    for node in nest.flatten(nodes, expand_composites=True):
        if not isinstance(node, (ops.Tensor, ops.Operation)):
            raise TypeError(f"nodes must be tensors or operations, got {node!r}")
        operation = node if isinstance(node, ops.Operation) else node.op
        operation.graph.add_to_collection(_COLLECTION, operation)


def marked(graph) -> set:
    """The operations that are marked, or named in the environment variable TARGET_NODES_NAME, separated by `;`."""
    found = set(graph.get_collection(_COLLECTION))
    for name in os.environ.get("TARGET_NODES_NAME", "").split(";"):
        if name.strip():
            try:
                found.add(graph.get_operation_by_name(name.strip()))
            except KeyError:
                # The variable is for the process, which may have several graphs.
                continue
    return found
