"""What DeepRec's fields of ConfigProto do when a session is made: most by a change of the config, some by one warning."""

import functools

from tensorflow.core.protobuf import config_pb2
from tensorflow.deeprec import settings

# Fields of which a value other than the default does nothing; the reason.
_NOT_WRITTEN = "not written yet"
_CLUSTER = "for DeepRec's own cluster transports"
_GPU = "for GPUs"
_SILENT_OPTIMIZER_FIELDS = {
    "do_op_fusion": _NOT_WRITTEN,
    "do_async_embedding": _NOT_WRITTEN,
    "do_smart_stage_gpu": _GPU,
    "stage_subgraph_on_cpu": _GPU,
    "stage_multi_stream": _GPU,
    "device_placement_optimization": _GPU,
}
_SILENT_FIELDS = {
    "tensor_fuse": _CLUSTER,
    "run_graph_mode": _CLUSTER,
    "run_graph_mode_lite": _CLUSTER,
}


def _without_effect(config, in_process: bool):
    """Yields the fields that are set and do nothing, each with the reason."""
    options = config.graph_options.optimizer_options
    for name, reason in _SILENT_OPTIMIZER_FIELDS.items():
        if getattr(options, name):
            yield f"graph_options.optimizer_options.{name}", reason
    if options.micro_batch_num > 1:
        yield "graph_options.optimizer_options.micro_batch_num", _NOT_WRITTEN
    for name, reason in _SILENT_FIELDS.items():
        if getattr(config, name):
            yield name, reason
    if config.executor_policy == config_pb2.USE_COST_MODEL_EXECUTOR:
        yield "executor_policy = USE_COST_MODEL_EXECUTOR", _NOT_WRITTEN
    elif config.executor_policy == config_pb2.USE_INLINE_EXECUTOR:
        if not (in_process and settings.CALLER_THREAD and config.experimental.executor_type in ("", "DEEPREC_CALLER")):
            yield "executor_policy = USE_INLINE_EXECUTOR", "the session has another executor"
    pools = config.session_stage_subgraph_thread_pool
    if pools and not in_process:
        yield "session_stage_subgraph_thread_pool", "sessions of a server have no thread pools of their own"
    elif any(pool.intra_op_threads_num for pool in pools):
        yield "session_stage_subgraph_thread_pool.intra_op_threads_num", "the runtime has one such pool for a device"


def _with_pools(config):
    """The config with the stage pools behind those that a run can choose."""
    changed = type(config)()
    changed.CopyFrom(config)
    pools = changed.session_inter_op_thread_pool
    if not pools:
        # The one of runs that choose none.
        pools.add()
    for pool in config.session_stage_subgraph_thread_pool:
        pools.add(num_threads=pool.inter_op_threads_num, global_name=pool.global_name)
    return changed


def install() -> None:
    """Makes sessions follow the fields."""
    from tensorflow.python.client import session
    from tensorflow.python.framework import ops
    from tensorflow.python.platform import tf_logging as logging

    construct = session.BaseSession.__init__

    @functools.wraps(construct)
    def __init__(self, target="", graph=None, config=None):
        if isinstance(config, config_pb2.ConfigProto):
            silent = list(_without_effect(config, not target))
            if silent:
                logging.warning(
                    "Fields of ConfigProto without effect: %s.", "; ".join(f"{name} ({why})" for name, why in silent)
                )
            if config.graph_options.optimizer_options.do_smart_stage and isinstance(graph, (ops.Graph, type(None))):
                from tensorflow.deeprec.stage import smart

                smart.widen(graph, config.graph_options.optimizer_options.smart_stage_options)
            if config.session_stage_subgraph_thread_pool and not target:
                config = _with_pools(config)
        construct(self, target, graph, config)

    session.BaseSession.__init__ = __init__
