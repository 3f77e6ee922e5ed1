"""Contrib's MirroredStrategy: variables on each device of this process, kept equal."""

from tensorflow.contrib.distribute.batching import PerReplicaBatches, warn_unused
from tensorflow.python.distribute import distribute_lib, mirrored_strategy


class _MirroredExtended(PerReplicaBatches, mirrored_strategy.MirroredExtended):
    pass


class MirroredStrategy(distribute_lib.StrategyV1):
    """Synchronous training on several devices of one process. Batches are for one replica.

    Args:
      devices: names of devices; by default all GPUs, or the CPU if there are none.
      num_gpus: the first `num_gpus` GPUs, in place of `devices`.
      num_gpus_per_worker: another name of it.
      cross_device_ops: a CrossDeviceOps that adds up gradients.
      auto_shard_dataset: for several workers, which this strategy does not do any more.
      cross_tower_ops: old name of `cross_device_ops`.

    Raises:
      ValueError: two arguments say the same thing.
    """

    _collective_key_base = 0  # which the runtime asks every mirrored strategy for

    def __init__(
        self,
        devices=None,
        num_gpus=None,
        num_gpus_per_worker=None,
        cross_device_ops=None,
        auto_shard_dataset=False,
        cross_tower_ops=None,
    ):
        if cross_device_ops and cross_tower_ops:
            raise ValueError("Give cross_device_ops or its old name cross_tower_ops, not both.")
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("Give num_gpus or num_gpus_per_worker, not both.")
        gpus = num_gpus_per_worker if num_gpus is None else num_gpus
        if devices is not None and gpus is not None:
            raise ValueError("Give devices or num_gpus, not both.")
        if gpus is not None:
            devices = [f"/device:GPU:{i}" for i in range(gpus)] or ["/device:CPU:0"]
        if auto_shard_dataset:
            warn_unused("MirroredStrategy(auto_shard_dataset=True)", "the strategy trains in one process")
        super().__init__(_MirroredExtended(self, devices, cross_device_ops or cross_tower_ops))
