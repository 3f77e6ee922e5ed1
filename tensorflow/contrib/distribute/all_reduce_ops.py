"""Cross device ops with 1.15's arguments."""

from tensorflow.contrib.distribute.batching import warn_unused
from tensorflow.python.distribute import cross_device_ops

_REASON = "gradients are packed by number, not by size"


class AllReduceCrossDeviceOps(cross_device_ops.AllReduceCrossDeviceOps):
    """Adds up by all-reduce.

    Args:
      all_reduce_alg: 'nccl' or 'hierarchical_copy'.
      num_packs: into how many packs gradients are put.
      agg_small_grads_max_bytes: 0; other values have no effect.
      agg_small_grads_max_group: size of the groups that these would make.
    """

    def __init__(self, all_reduce_alg="nccl", num_packs=1, agg_small_grads_max_bytes=0, agg_small_grads_max_group=10):
        if agg_small_grads_max_bytes:
            warn_unused(
                f"agg_small_grads_max_bytes={agg_small_grads_max_bytes} (groups of {agg_small_grads_max_group})",
                _REASON,
            )
        super().__init__(all_reduce_alg=all_reduce_alg, num_packs=num_packs)


class MultiWorkerAllReduce(AllReduceCrossDeviceOps):
    """All-reduce over workers in one graph: no runtime of 2.x does it any more.

    Raises:
      NotImplementedError: always; CollectiveAllReduceStrategy reduces over workers.
    """

    def __init__(
        self,
        worker_devices,
        num_gpus_per_worker,
        all_reduce_spec=("pscpu/pscpu", 2, -1),
        num_packs=0,
        agg_small_grads_max_bytes=0,
        agg_small_grads_max_group=10,
    ):
        raise NotImplementedError(
            f"MultiWorkerAllReduce over {worker_devices} is gone from the runtime: use tf.contrib.distribute.CollectiveAllReduceStrategy."
        )
