"""Who this process is among the others, and collective operations. All ranks must call these in the same order.

Raises RuntimeError before `sok.init()`.
"""

import tensorflow as tf

from sparse_operation_kit import runtime, transports


def rank() -> int:
    """Number of this process, from 0."""
    return runtime.transport().rank


def num_ranks() -> int:
    """How many processes there are."""
    return runtime.transport().size


def local_rank() -> int:
    """Number of this process on its machine."""
    return runtime.transport().local_rank


def id_in_rank() -> int:
    """Number of the device in its process: 0, as a process has one."""
    runtime.transport()
    return 0


def num_gpu_per_rank() -> int:
    """Devices of a process: 1, its CPU."""
    runtime.transport()
    return 1


def global_gpu_id() -> int:
    """Number of the device among those of all processes: the rank."""
    return rank()


def num_gpus() -> int:
    """Devices of all processes: as many as processes."""
    return num_ranks()


def alltoall(tensor, splits):
    """Sends pieces of a tensor to all ranks.

    Args:
      tensor: `[n, ...]`; all but n equal on all ranks.
      splits: `[num_ranks]` integers that add up to n: how many rows go to each rank.

    Returns:
      `(rows received, in order of the ranks that sent them; [num_ranks] int32, how many of each)`.
    """
    splits = tf.convert_to_tensor(splits)
    if not splits.dtype.is_integer or not splits.shape.is_compatible_with([num_ranks()]):
        raise ValueError(
            f"splits must be integers of shape [{num_ranks()}], got {splits.dtype.name} of shape {splits.shape}"
        )
    return runtime.transport().alltoall(tf.convert_to_tensor(tensor), splits)


def allreduce(tensor, op: str = "sum"):
    """The sum, average, max or min (`op`) over all ranks, of the shape of `tensor`."""
    return runtime.transport().allreduce(tf.convert_to_tensor(tensor), transports.checked_op(op))


def allgather(tensor):
    """The tensors of all ranks, joined along the first dimension, in which they may differ."""
    return runtime.transport().allgather(tf.convert_to_tensor(tensor))


def broadcast(tensor, root: int = 0):
    """The tensor of rank `root`."""
    if not 0 <= root < num_ranks():
        raise ValueError(f"root must be in [0, {num_ranks()}), got {root}")
    return runtime.transport().broadcast(tf.convert_to_tensor(tensor), root)
