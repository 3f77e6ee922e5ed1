"""`tf.contrib.distribute`: strategies with contrib's arguments; the rest is `tf.distribute`."""

from tensorflow.contrib.distribute.all_reduce_ops import AllReduceCrossDeviceOps, MultiWorkerAllReduce
from tensorflow.contrib.distribute.collective_all_reduce_strategy import CollectiveAllReduceStrategy
from tensorflow.contrib.distribute.mirrored_strategy import MirroredStrategy
from tensorflow.contrib.distribute.monitor import Monitor
from tensorflow.contrib.distribute.parameter_server_strategy import ParameterServerStrategy
from tensorflow.python.distribute.cross_device_ops import CrossDeviceOps
from tensorflow.python.distribute.distribute_config import DistributeConfig
from tensorflow.python.distribute.distribute_coordinator import run_standard_tensorflow_server
from tensorflow.python.distribute.distribute_lib import (
    ReplicaContext,
    StrategyV1 as DistributionStrategy,
    UpdateContext,
    get_cross_replica_context,
    get_loss_reduction,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
    require_replica_context,
)
from tensorflow.python.distribute.one_device_strategy import OneDeviceStrategyV1 as OneDeviceStrategy
from tensorflow.python.distribute.step_fn import StandardInputStep, StandardSingleLossStep, Step
from tensorflow.python.distribute.tpu_strategy import TPUStrategyV1 as TPUStrategy
from tensorflow.python.tpu.tpu_strategy_util import initialize_tpu_system

get_distribution_strategy = get_strategy
has_distribution_strategy = has_strategy

__all__ = [
    "AllReduceCrossDeviceOps",
    "CollectiveAllReduceStrategy",
    "CrossDeviceOps",
    "DistributeConfig",
    "DistributionStrategy",
    "MirroredStrategy",
    "Monitor",
    "MultiWorkerAllReduce",
    "OneDeviceStrategy",
    "ParameterServerStrategy",
    "ReplicaContext",
    "StandardInputStep",
    "StandardSingleLossStep",
    "Step",
    "TPUStrategy",
    "UpdateContext",
    "get_cross_replica_context",
    "get_distribution_strategy",
    "get_loss_reduction",
    "get_replica_context",
    "get_strategy",
    "has_distribution_strategy",
    "has_strategy",
    "in_cross_replica_context",
    "initialize_tpu_system",
    "require_replica_context",
    "run_standard_tensorflow_server",
]
