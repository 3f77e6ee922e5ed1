"""Contrib's ParameterServerStrategy: variables on parameter servers, updated by each worker for itself."""

from tensorflow.contrib.distribute.batching import PerReplicaBatches
from tensorflow.python.distribute import distribute_lib, parameter_server_strategy
from tensorflow.python.distribute.cluster_resolver import cluster_resolver
from tensorflow.python.training import server_lib


class _ParameterServerExtended(PerReplicaBatches, parameter_server_strategy.ParameterServerStrategyExtended):
    pass


class ParameterServerStrategy(distribute_lib.StrategyV1):
    """Asynchronous training; `configure` or an Estimator's RunConfig brings the cluster. Without one, all is on this machine.

    Args:
      num_gpus_per_worker: how many GPUs of each worker take part; 0 for the CPU.
    """

    def __init__(self, num_gpus_per_worker=0):
        resolver = cluster_resolver.SimpleClusterResolver(
            server_lib.ClusterSpec({}), num_accelerators={"GPU": num_gpus_per_worker}
        )
        super().__init__(_ParameterServerExtended(self, cluster_resolver=resolver))

    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        raise NotImplementedError(
            "ParameterServerStrategy cannot distribute NumPy data: use tf.data.Dataset.from_tensor_slices."
        )
