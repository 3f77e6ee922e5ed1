"""SmartStage: widens a stage by what follows it and depends on its records alone.

An operation is staged if everything it depends on is a record of one stage, a constant, or staged itself. So parsing, hashing, uniques and
lookups in fixed tables run ahead of the step. What reads a variable, a placeholder or random numbers stays, and what depends on
such a thing: a step computes with the same values as before, and training is the same bit by bit.
"""

from tensorflow.deeprec import rewiring
from tensorflow.deeprec.marks import mark
from tensorflow.deeprec.stage import runner, targets
from tensorflow.deeprec.stage.cut import Cut
from tensorflow.python.framework import ops
from tensorflow.python.platform import tf_logging as logging

_DONE = "_deeprec_smart_stage"


def widen(graph, options) -> None:
    """Widens the stages of a graph, once; called before a session with `do_smart_stage` is made.

    Args:
      graph: the graph of the session; None: the default graph.
      options: SmartStageOptions, of the stage that is made where the graph has none but one `tf.data` iterator.
    """
    graph = graph or ops.get_default_graph()
    if getattr(graph, _DONE, False):
        return
    with rewiring.opened(graph):
        stages = graph.get_collection(runner.PREFETCH)
        if not stages:
            from tensorflow.deeprec.stage import iterator_stage

            stages = iterator_stage.make(graph, options)
        if not stages:
            logging.warning(
                "do_smart_stage has no effect: the graph has no tf.staged and not exactly one tf.data iterator."
            )
            return
        setattr(graph, _DONE, True)
        # What one op will stand for is not staged: the step would wait for tensors that it does not read.
        kept = targets.marked(graph) | mark.ops_within(graph)
        for stage in stages:
            cut = Cut(stage, kept)
            logging.info(
                "SmartStage: %d operations run in stage %r, %d tensors more.", len(cut.moved), stage.name, cut.widen()
            )
