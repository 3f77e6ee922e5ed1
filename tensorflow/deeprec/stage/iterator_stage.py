"""The stage that SmartStage makes right behind a `tf.data` iterator, where the program has none."""

from tensorflow.deeprec import rewiring
from tensorflow.deeprec.micro_batch import inputs
from tensorflow.deeprec.stage import public, runner
from tensorflow.python.framework import errors, ops


def make(graph, options) -> list:
    """Stages the outputs of the one IteratorGetNext of a graph.

    The op itself is not fetchable any more, as it would take a batch away from the stage. Behind micro batches, the rows of all
    batches of a step are staged.

    Args:
      graph: the default graph, not finalized.
      options: SmartStageOptions; a field that is not set has the default of `tf.SmartStageOptions`.

    Returns:
      The runners; empty if the graph does not have exactly one such op outside of control flow.
    """
    found = [op for op in graph.get_operations() if op.type == "IteratorGetNext" and op._control_flow_context is None]
    if len(found) != 1:
        return []
    (old,) = found
    arguments = {
        "capacity": options.capacity or 1,
        "num_threads": options.num_threads or 1,
        "num_clients": options.num_clients or 1,
        "timeout_millis": options.timeout_millis or 300000,
        "closed_exception_types": tuple(options.closed_exception_types) or (errors.OUT_OF_RANGE,),
        "ignored_exception_types": tuple(options.ignored_exception_types),
        "use_stage_subgraph_thread_pool": options.use_stage_subgraph_thread_pool,
        "stage_subgraph_thread_pool_id": options.stage_subgraph_thread_pool_id,
        "stage_subgraph_stream_id": options.stage_subgraph_stream_id,
        "name": options.name or None,
    }
    micro_batches = inputs.of(graph)
    rows = micro_batches.rows(old) if micro_batches else None
    if rows:
        # An Identity stands for each of them; what reads it needs no change, and a fetch of it takes nothing away.
        with ops.device(old.device):
            staged = public.staged([tensor.op.inputs[0] for tensor in rows], **arguments)
        for tensor, record in zip(rows, staged):
            rewiring.redirect(tensor.op, tensor.op.inputs[0], record)
        return graph.get_collection(runner.PREFETCH)
    return _stage_reads(graph, old, arguments)


def _stage_reads(graph, old, arguments: dict) -> list:
    """Stages a copy of the op IteratorGetNext `old`, and leads its readers behind the stage."""
    readers = {tensor: list(tensor.consumers()) for tensor in old.outputs}
    followers = list(old._control_outputs)
    with ops.control_dependencies(old.control_inputs):
        new = rewiring.copy_of(old, old.inputs, f"{old.name}_staged")
    with ops.device(old.device):
        staged = public.staged(list(new.outputs), **arguments)
    for (tensor, operations), record in zip(readers.items(), staged):
        for operation in operations:
            rewiring.redirect(operation, tensor, record)
    stages = graph.get_collection(runner.PREFETCH)
    for follower in followers:
        rewiring.replace_controls(follower, {old}, stages[0].take_op)
    graph.prevent_fetching(old)
    return stages
