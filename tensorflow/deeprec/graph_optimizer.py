"""`tf.graph_optimizer`: what graph fusion (`optimizer_options.do_op_fusion`) makes of a graph; the pass itself is C++, `core/fusion`. And
sample-aware compression, which is of `sample_compression`."""

import uuid
from typing import NamedTuple

from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.deeprec import library
from tensorflow.deeprec.micro_batch import inputs
from tensorflow.deeprec.sample_compression import enable_sample_awared_graph_compression
from tensorflow.python.client import session as session_lib
from tensorflow.python.framework import ops

__all__ = ["FusedOp", "enable_sample_awared_graph_compression", "fused_ops", "fused_ops_in"]

# core/graph/fused_ops.h keeps what it did in sessions of such a name.
_WATCHED = "deeprec_fused_ops/"


def __dir__():
    return __all__


class FusedOp(NamedTuple):
    """One place where a template was used.

    Attributes:
      template: name of the template, as `TF_DEEPREC_DISABLE_FUSIONS` has it.
      name: name of the new node: that of the last of those it replaced.
      op: its op.
      replaced: names of the nodes that are gone, `name` first. A node that others read too is still there, and not among these.
    """

    template: str
    name: str
    op: str
    replaced: tuple


def fused_ops(fetches=None, feeds=None, graph=None, config=None) -> list:
    """What `do_op_fusion` fuses in a run of these fetches.

    The runtime makes the graph ready to run, as the first `session.run` of these fetches and feeds would, and does not run it: the
    result is that of the pass itself, behind the other graph optimizers of the configuration. `fused_ops_in` tells the same of a
    step that has run.

    Args:
      fetches: as for `session.run`. Default: all operations that no other one needs.
      feeds: list of the tensors that are fed. Default: the placeholders of the graph.
      graph: tf.Graph. Default: the default graph.
      config: ConfigProto; `do_op_fusion` counts as set, and the graph is taken as it stands (`do_smart_stage`, `do_async_embedding` and
        `micro_batch_num` change it when a session is made). Default: an empty one.

    Returns:
      List of `FusedOp`.

    Raises:
      TypeError, ValueError: an argument is not as above, or not of this graph.
    """
    graph = ops.get_default_graph() if graph is None else graph
    if not isinstance(graph, ops.Graph):
        raise TypeError(f"graph must be a tf.Graph, got {graph!r}")
    if config is not None and not isinstance(config, config_pb2.ConfigProto):
        raise TypeError(f"config must be a ConfigProto, got {config!r}")
    every = graph.get_operations()
    if fetches is None:
        fetches = [op for op in every if not op._control_outputs and not any(out.consumers() for out in op.outputs)]
    handler = session_lib._FetchHandler(graph, fetches, {})
    if feeds is None:
        feeds = [op.outputs[0] for op in every if op.type == "Placeholder"]
    elif not isinstance(feeds, (list, tuple)):
        raise TypeError(f"feeds must be a list of tensors, got {feeds!r}")
    options = config_pb2.CallableOptions()
    options.feed.extend(graph.as_graph_element(feed, allow_operation=False).name for feed in feeds)
    options.fetch.extend(dict.fromkeys(tensor.name for tensor in handler.fetches()))
    options.target.extend(op.name for op in handler.targets())
    if not options.fetch and not options.target:
        return []
    watched = _watched(config, graph)
    with session_lib.Session(graph=graph, config=watched) as session:
        session._make_callable_from_options(options)
    return _take(watched.experimental.session_metadata.name)


def _watched(config, graph):
    """The configuration of a session whose fusions are kept, and which leaves the graph as it is."""
    watched = config_pb2.ConfigProto()
    if config is not None:
        watched.CopyFrom(config)
    options = watched.graph_options.optimizer_options
    options.do_op_fusion = True
    options.do_smart_stage = options.do_async_embedding = False
    micro_batches = inputs.of(graph)
    options.micro_batch_num = micro_batches.number if micro_batches else 0
    watched.experimental.session_metadata.name = _WATCHED + uuid.uuid4().hex
    return watched


def _take(name: str) -> list:
    with ops.Graph().as_default():
        table = library.ops().deep_rec_fused_ops(session=name)
        with session_lib.Session() as session:
            rows = session.run(table)
    texts = ([text.decode() for text in row] for row in rows)
    return [FusedOp(template, node, op, tuple(replaced.split(";"))) for template, node, op, replaced in texts]


def fused_ops_in(source) -> list:
    """The fused operations of a graph that has run.

    Args:
      source: RunMetadata of a run with `RunOptions(output_partition_graphs=True)`, or a GraphDef of such a graph.

    Returns:
      List of `FusedOp`, in the order of the nodes.

    Raises:
      TypeError: source is neither.
      ValueError: the RunMetadata has no partition graphs.
    """
    if isinstance(source, config_pb2.RunMetadata):
        if not source.partition_graphs:
            raise ValueError(
                "The RunMetadata has no partition graphs: run with RunOptions(output_partition_graphs=True)."
            )
        graphs = source.partition_graphs
    elif isinstance(source, graph_pb2.GraphDef):
        graphs = [source]
    else:
        raise TypeError(f"source must be a RunMetadata or GraphDef, got {type(source).__name__}")
    return [
        FusedOp(
            node.attr["_deeprec_fusion"].s.decode(),
            node.name,
            node.op,
            tuple(name.decode() for name in node.attr["_deeprec_fused_nodes"].list.s),
        )
        for graph in graphs
        for node in graph.node
        if "_deeprec_fusion" in node.attr
    ]
