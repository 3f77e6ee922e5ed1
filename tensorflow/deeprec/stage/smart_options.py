"""`tf.SmartStageOptions`."""

from tensorflow.core.protobuf import config_pb2
from tensorflow.deeprec.stage import exception_types
from tensorflow.deeprec.stage.buffer import positive
from tensorflow.python.framework import errors, ops


def SmartStageOptions(  # noqa: N802 (DeepRec's name)
    capacity=1,
    num_threads=1,
    num_clients=1,
    timeout_millis=300000,
    closed_exception_types=(errors.OUT_OF_RANGE,),
    ignored_exception_types=(),
    use_stage_subgraph_thread_pool=False,
    stage_subgraph_thread_pool_id=0,
    stage_subgraph_stream_id=0,
    graph=None,
    name=None,
):
    """How SmartStage makes the stage of a graph that has a `tf.data` iterator and no `tf.staged`.

        config.graph_options.optimizer_options.do_smart_stage = True
        config.graph_options.optimizer_options.smart_stage_options.CopyFrom(tf.SmartStageOptions(capacity=4))

    Args:
      capacity, num_threads, num_clients, timeout_millis, closed_exception_types, ignored_exception_types,
      use_stage_subgraph_thread_pool, stage_subgraph_thread_pool_id, stage_subgraph_stream_id: as in `tf.staged`; the types must be
        error codes, or classes of `tf.errors`.
      graph: the graph whose names `name` must not clash with; by default the default graph.
      name: name of the stage.

    Returns:
      A SmartStageOptions message.

    Raises:
      TypeError, ValueError: an argument is not as above.
    """
    numbers = {
        "capacity": capacity, "num_threads": num_threads, "num_clients": num_clients, "timeout_millis": timeout_millis
    }  # fmt: skip
    for argument, value in numbers.items():
        positive(argument, value)
    if graph is not None and not isinstance(graph, ops.Graph):
        raise TypeError(f"graph must be a tf.Graph, got {graph!r}")
    kinds = {}
    for argument, given in (
        ("closed_exception_types", closed_exception_types),
        ("ignored_exception_types", ignored_exception_types),
    ):
        found = exception_types.classes(argument, given)
        kinds[argument] = exception_types.codes(found)
        if len(kinds[argument]) != len(found):
            raise ValueError(f"{argument} must be errors that have a code, got {given!r}")
    return config_pb2.SmartStageOptions(
        use_stage_subgraph_thread_pool=use_stage_subgraph_thread_pool,
        stage_subgraph_thread_pool_id=stage_subgraph_thread_pool_id,
        stage_subgraph_stream_id=stage_subgraph_stream_id,
        name=(graph or ops.get_default_graph()).unique_name(name or "prefetch", mark_as_used=False),
        **numbers,
        **kinds,
    )
