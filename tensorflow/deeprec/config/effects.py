"""What DeepRec's fields of ConfigProto do when a session is made: most by a change of the config, some by one warning."""

import functools

from tensorflow.core.protobuf import config_pb2
from tensorflow.deeprec import settings
from tensorflow.python.platform import tf_logging as logging

# Fields of which a value other than the default does nothing; the reason.
_CLUSTER = "for DeepRec's own cluster transports"
_GPU = "for GPUs"
_COST_MODEL = "the executor of this runtime measures kernels itself, and its queue takes no order from outside"
_SILENT_OPTIMIZER_FIELDS = {
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

# Fields of which the log has told already: each once in a process.
_told = set()


def _warn_without_effect(config, in_process: bool) -> None:
    new = {name: why for name, why in _without_effect(config, in_process) if name not in _told}
    if new:
        _told.update(new)
        logging.warning(
            "Fields of ConfigProto without effect: %s.", "; ".join(f"{name} ({why})" for name, why in new.items())
        )


def _without_effect(config, in_process: bool):
    """Yields the fields that are set and do nothing, each with the reason."""
    options = config.graph_options.optimizer_options
    for name, reason in _SILENT_OPTIMIZER_FIELDS.items():
        if getattr(options, name):
            yield f"graph_options.optimizer_options.{name}", reason
    for name, reason in _SILENT_FIELDS.items():
        if getattr(config, name):
            yield name, reason
    if config.executor_policy == config_pb2.USE_COST_MODEL_EXECUTOR:
        yield "executor_policy = USE_COST_MODEL_EXECUTOR", _COST_MODEL
    elif config.executor_policy == config_pb2.USE_INLINE_EXECUTOR:
        if not (in_process and settings.CALLER_THREAD and config.experimental.executor_type in ("", "DEEPREC_CALLER")):
            yield "executor_policy = USE_INLINE_EXECUTOR", "the session has another executor"
    pools = config.session_stage_subgraph_thread_pool
    if pools and not in_process:
        yield "session_stage_subgraph_thread_pool", "sessions of a server have no thread pools of their own"
    elif any(pool.intra_op_threads_num for pool in pools):
        yield "session_stage_subgraph_thread_pool.intra_op_threads_num", "the runtime has one such pool for a device"


def _check(config) -> None:
    """ValueError for numbers that no session can be made of; the runtime would end the process for some of them."""
    known = config_pb2.ConfigProto.DESCRIPTOR.fields_by_name["executor_policy"].enum_type.values_by_number
    if config.executor_policy not in known:
        names = ", ".join(f"{number} ({value.name})" for number, value in sorted(known.items()))
        raise ValueError(f"executor_policy must be one of {names}, got {config.executor_policy}")
    for field, number in (
        ("session_inter_op_thread_pool", "num_threads"),
        ("session_stage_subgraph_thread_pool", "inter_op_threads_num"),
        ("session_stage_subgraph_thread_pool", "intra_op_threads_num"),
    ):
        for i, pool in enumerate(getattr(config, field)):
            if getattr(pool, number) < 0:
                raise ValueError(
                    f"{field}[{i}].{number} must be at least 1, or 0 for the default, got {getattr(pool, number)}"
                )


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
    from tensorflow.deeprec.micro_batch import sessions as micro_batches
    from tensorflow.deeprec.stage import unstarted
    from tensorflow.python.client import session
    from tensorflow.python.framework import ops

    construct = session.BaseSession.__init__

    @functools.wraps(construct)
    def __init__(self, target="", graph=None, config=None):
        # What `__del__` looks at, should an error come before the constructor sets it.
        self._session = None
        known = isinstance(config, config_pb2.ConfigProto)
        if known:
            _check(config)
            _warn_without_effect(config, not target)
        batches = 1
        if isinstance(graph, (ops.Graph, type(None))):
            options = config.graph_options.optimizer_options if known else config_pb2.OptimizerOptions()
            batches = micro_batches.prepare(graph, options.micro_batch_num)
            if options.do_async_embedding:
                from tensorflow.deeprec.stage import async_embedding

                # It moves what SmartStage would, and more.
                async_embedding.install_in(graph, options.async_embedding_options)
            elif options.do_smart_stage:
                from tensorflow.deeprec.stage import smart

                smart.widen(graph, options.smart_stage_options)
        if known and config.session_stage_subgraph_thread_pool and not target:
            config = _with_pools(config)
        construct(self, target, graph, config)
        micro_batches.follow(self, batches)
        unstarted.watch(self)

    session.BaseSession.__init__ = __init__
