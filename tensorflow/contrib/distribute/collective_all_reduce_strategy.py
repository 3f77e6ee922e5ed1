"""Contrib's CollectiveAllReduceStrategy: mirrored variables over the workers of TF_CONFIG, without parameter servers."""

from tensorflow.contrib.distribute.batching import PerReplicaBatches
from tensorflow.python.distribute import collective_all_reduce_strategy, collective_util, distribute_lib
from tensorflow.python.distribute.cluster_resolver import cluster_resolver
from tensorflow.python.training import server_lib


class _CollectiveAllReduceExtended(PerReplicaBatches, collective_all_reduce_strategy.CollectiveAllReduceExtended):
    pass


class CollectiveAllReduceStrategy(distribute_lib.StrategyV1):
    """Synchronous training on the devices of this worker; `configure` or an Estimator's RunConfig brings the cluster.

    Args:
      num_gpus_per_worker: how many GPUs of each worker take part; 0 for the CPU.
      communication: tf.distribute.experimental.CollectiveCommunication.
    """

    _collective_key_base = 0  # which the runtime asks every mirrored strategy for

    def __init__(self, num_gpus_per_worker=0, communication=collective_util.CommunicationImplementation.AUTO):
        resolver = cluster_resolver.SimpleClusterResolver(
            server_lib.ClusterSpec({}), num_accelerators={"GPU": num_gpus_per_worker}
        )
        super().__init__(
            _CollectiveAllReduceExtended(
                self,
                cluster_resolver=resolver,
                communication_options=collective_util.Options(implementation=communication),
            )
        )
