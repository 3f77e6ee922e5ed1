"""`Init`: which runtime moves the data of the layers, and the seed that all ranks share."""

import numbers
import random
import sys

import tensorflow as tf
from tensorflow.python.ops import resource_variable_ops

from sparse_operation_kit import transports

_state = {"transport": None, "global_batch_size": None, "seed": None}


def Init(**kwargs):
    """Sets the older API up; its layers come after it.

    What moves the data: in a `tf.distribute` scope that strategy's runtime; else, if the program has imported `horovod.tensorflow`,
    Horovod; else there is one process. Only the first call counts.

    Args:
      global_batch_size: samples of a step, of all replicas together, at least 1.
      seed: int from which default initial values are drawn, the same for all ranks: that of rank 0 counts. None: any.

    Returns:
      The status "OK", of each replica; in a TF1 graph an op, which must be the first that a session runs.

    Raises:
      TypeError: another argument, or one of another type.
      ValueError: global_batch_size is below 1, or not a multiple of the number of replicas.
      RuntimeError: the strategy is neither MirroredStrategy nor MultiWorkerMirroredStrategy; Horovod is not initialized.
    """
    unknown = set(kwargs) - {"global_batch_size", "seed"}
    if unknown or "global_batch_size" not in kwargs:
        raise TypeError(f"sok.Init takes global_batch_size and seed, got {sorted(kwargs)}")
    batch, seed = kwargs["global_batch_size"], kwargs.get("seed")
    for name, value in (("global_batch_size", batch), ("seed", 0 if seed is None else seed)):
        if not isinstance(value, numbers.Integral) or isinstance(value, bool):
            raise TypeError(f"{name} must be an int, got {value!r}")
    transport = _chosen_transport()
    if batch < 1 or batch % transport.size:
        raise ValueError(
            f"global_batch_size must be positive and a multiple of the number of replicas, {transport.size}, got {batch}"
        )
    _state.update(transport=transport, global_batch_size=batch)
    seed = random.randrange(2**31) if seed is None else seed
    if isinstance(transport, transports.Replicas):
        return _init_replicas(transport, seed)
    if tf.executing_eagerly():
        agreed = int(transport.broadcast(tf.constant(seed, tf.int64), 0))
        _warn_of_other_seed(transport, seed, agreed, "seed" in kwargs)
        _state["seed"] = agreed
        return tf.constant("OK")
    variable = resource_variable_ops.ResourceVariable(
        lambda: transport.broadcast(tf.constant(seed, tf.int64), 0),
        trainable=False,
        collections=[],
        name="sok/Init/seed",
    )
    _state["seed"] = variable
    with tf.control_dependencies([variable.initializer]):
        return tf.constant("OK")


def _chosen_transport():
    if tf.distribute.has_strategy():
        strategy = tf.distribute.get_strategy()
        names = {cls.__name__.lstrip("_").removesuffix("V1") for cls in type(strategy).__mro__}
        if not {"MirroredStrategy", "CollectiveAllReduceStrategy", "MultiWorkerMirroredStrategy"} & names:
            raise RuntimeError(
                f"the strategy must be MirroredStrategy or MultiWorkerMirroredStrategy, got {type(strategy).__name__}"
            )
        return transports.Replicas(strategy)
    if "horovod.tensorflow" in sys.modules:
        return transports.Horovod()
    return transports.SingleProcess()


def _init_replicas(transport, seed):
    def of_replica():
        return transport.allgather(tf.constant([seed], tf.int64))[0]

    seeds = transport.strategy.run(of_replica)
    agreed = int(transport.strategy.experimental_local_results(seeds)[0])
    _state["seed"] = agreed
    return transport.strategy.run(lambda: tf.constant("OK"))


def _warn_of_other_seed(transport, seed, agreed, given):
    if given and seed != agreed:
        from tensorflow.python.platform import tf_logging

        tf_logging.warning("seed is %d on rank %d, but that of rank 0 counts: %d", seed, transport.rank, agreed)


def transport():
    """What `Init` has chosen.

    Raises:
      RuntimeError: before `Init`.
    """
    if _state["transport"] is None:
        raise RuntimeError("sok.Init(global_batch_size=...) must be called first")
    return _state["transport"]


def seed():
    """The seed, a scalar int64. In a graph it fails, when run, before the op of `Init` has.

    Raises:
      RuntimeError: `Init` was called in another graph.
    """
    found = _state["seed"]
    if not isinstance(found, resource_variable_ops.BaseResourceVariable):
        return tf.constant(found, tf.int64)
    if found.graph is not tf.compat.v1.get_default_graph():
        raise RuntimeError("sok.Init was called in another graph: call it in the graph of the layers")
    ready = tf.compat.v1.Assert(
        found.is_initialized(), ["The op that sok.Init returns must run before the initializers of variables."]
    )
    with tf.control_dependencies([ready]):
        return tf.identity(found)
