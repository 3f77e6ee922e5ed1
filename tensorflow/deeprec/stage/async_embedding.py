"""Asynchronous embedding: lookups run in a stage of their own, behind the one that reads the input.

What SmartStage would move, the lookups in tables of variables, and what depends on nothing else, run between the input's stage and a second
buffer. The rows of a step are therefore as old as its record: updates of the steps since are not in them. The ids come with the
record, so gradients, counts and admission are of the same keys as ever.
"""

from tensorflow.deeprec import rewiring
from tensorflow.deeprec.embedding import lookup_marks
from tensorflow.deeprec.marks import mark
from tensorflow.deeprec.stage import runner, targets
from tensorflow.deeprec.stage.buffer import positive
from tensorflow.deeprec.stage.cut import Cut
from tensorflow.python.framework import errors, ops
from tensorflow.python.platform import tf_logging as logging

_DONE = "_deeprec_async_embedding"


def install_in(graph, options) -> None:
    """Moves the lookups of a graph into a stage, once; called before a session with `do_async_embedding` is made.

    Args:
      graph: the graph of the session; None: the default graph.
      options: AsyncEmbeddingOptions; 0 means the default: one thread, a capacity of one record.

    Raises:
      ValueError: a number among the options is negative.
    """
    prefix = "graph_options.optimizer_options.async_embedding_options"
    threads = positive(f"{prefix}.threads_num", options.threads_num or 1)
    capacity = positive(f"{prefix}.capacity", options.capacity or 1)
    pool = options.stage_subgraph_thread_pool_id
    if pool < 0:
        raise ValueError(f"{prefix}.stage_subgraph_thread_pool_id must not be negative, got {pool}")
    graph = graph or ops.get_default_graph()
    if getattr(graph, _DONE, False):
        return
    with rewiring.opened(graph):
        kept = targets.marked(graph)
        stages = graph.get_collection(runner.PREFETCH)
        cuts = [(stage, Cut(stage, kept, with_lookups=True)) for stage in stages]
        if not any(cut.lookups() for _, cut in cuts):
            reason = "no lookup depends on the records of its stages alone" if stages else "the graph has no tf.staged"
            logging.warning("do_async_embedding has no effect: %s.", reason)
            return
        setattr(graph, _DONE, True)
        # The lookups are to be apart from the rest of the step.
        mark.unmark(graph, lookup_marks.KIND)
        for stage, cut in cuts:
            if not cut.lookups():
                cut.widen()
                continue
            name = graph.unique_name(f"{stage.name}/async_embedding")
            put, take, controls = cut.add_buffer(name, capacity)
            graph.add_to_collection(
                runner.PREFETCH,
                runner.PrefetchRunner(
                    name,
                    [put] * threads,
                    take,
                    controls,
                    capacity,
                    closed_exception_types=(errors.OutOfRangeError,),
                    thread_pool=pool if options.use_stage_subgraph_thread_pool else None,
                ),
            )
            logging.info("Asynchronous embedding: %d lookups run in stage %r.", len(cut.lookups()), name)
