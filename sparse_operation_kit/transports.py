"""How the ranks of a program exchange tensors: one interface, with one class for each runtime that moves the data.

A transport has `rank`, `size`, `local_rank`, `name`, and on tensors of this rank

  alltoall(tensor, splits) -> (received, received_splits): the first dimension, cut by `splits` `[size]` int32, piece r to rank r;
    pieces come in the order of the ranks that sent them. Differentiable in `tensor`.
  allreduce(tensor, op), op one of OPS; allgather(tensor), along the first dimension, which may differ between ranks;
  broadcast(tensor, root).
"""

import os
import sys

import tensorflow as tf
from tensorflow.python.framework import tensor_util

from sparse_operation_kit import peers

OPS = ("sum", "average", "max", "min")
# Launchers tell each process how many there are.
_SIZES = ("HOROVOD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
BUILD_COMMAND = "tf-deeprec-horovod --install"


def checked_op(op: str) -> str:
    """The reduction; raises ValueError if there is none of that name."""
    if op not in OPS:
        raise ValueError(f"op must be one of {', '.join(OPS)}, got {op!r}")
    return op


def launched_size() -> int:
    """How many processes a launcher says there are; 1 if it says nothing."""
    for name in _SIZES:
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    return 1


class SingleProcess:
    """One rank: nothing moves."""

    name = "single process"
    rank, size, local_rank = 0, 1, 0

    def alltoall(self, tensor, splits):
        splits = tf.cast(splits, tf.int32)
        message = "splits must add up to the rows of tensor"
        check = tf.debugging.assert_equal(tf.reduce_sum(splits), tf.shape(tensor)[0], message=message)
        with tf.control_dependencies([] if check is None else [check]):
            return tf.identity(tensor), splits

    def allreduce(self, tensor, op):
        checked_op(op)
        return tf.identity(tensor)

    def allgather(self, tensor):
        return tf.identity(tensor)

    def broadcast(self, tensor, root):
        return tf.identity(tensor)


class Horovod:
    """The processes that `horovodrun` started.

    Raises:
      ImportError: Horovod is not installed, or not for this TensorFlow.
      RuntimeError: `hvd.init()` has not been called.
    """

    name = "Horovod"

    def __init__(self):
        self._hvd = import_horovod()
        if not self._hvd.is_initialized():
            raise RuntimeError(
                "Horovod is not initialized: call hvd.init() (import horovod.tensorflow as hvd) before this."
            )
        self.rank, self.size, self.local_rank = self._hvd.rank(), self._hvd.size(), self._hvd.local_rank()
        peers.watch(self._hvd)

    def alltoall(self, tensor, splits):
        return self._hvd.alltoall(tensor, splits=tf.cast(splits, tf.int32))

    def allreduce(self, tensor, op):
        ops = {"sum": self._hvd.Sum, "average": self._hvd.Average, "max": self._hvd.Max, "min": self._hvd.Min}
        return self._hvd.allreduce(tensor, op=ops[checked_op(op)])

    def allgather(self, tensor):
        return self._hvd.allgather(tensor)

    def broadcast(self, tensor, root):
        return self._hvd.broadcast(tensor, root_rank=root)


def import_horovod():
    """The module `horovod.tensorflow`.

    Raises:
      ImportError: with the command that builds it.
    """
    try:
        import horovod.tensorflow as hvd
    except ImportError as e:
        raise ImportError(
            f"Horovod is asked for, but `import horovod.tensorflow` fails ({e}). Build and install the Horovod of this "
            f"TensorFlow with: {BUILD_COMMAND}"
        ) from e
    return hvd


def _padded(tensor):
    """With one row more: the runtime's all-gather of replicas that all have none ends the process."""
    return tf.pad(tensor, [[0, 1]] + [[0, 0]] * (tensor.shape.rank - 1))


class Replicas:
    """The replicas of a MirroredStrategy or MultiWorkerMirroredStrategy: the runtime's own collectives.

    Its methods are called in a replica. All-to-all is put together of all-gathers, as the runtime's own stops at pieces of
    different sizes: a rank gets what all ranks send, and takes its part.
    """

    local_rank = 0

    def __init__(self, strategy):
        self.strategy = strategy
        self.size = strategy.num_replicas_in_sync
        self.name = type(strategy).__name__

    @property
    def rank(self):
        """An int, or a scalar int32 tensor where one graph serves several replicas."""
        rank = self._context().replica_id_in_sync_group
        known = rank if isinstance(rank, int) else tensor_util.constant_value(rank)
        return rank if known is None else int(known)

    def _context(self):
        context = tf.distribute.get_replica_context()
        if context is None or context.strategy is not self.strategy:
            raise RuntimeError(f"This must be called in a replica of the {self.name}: inside strategy.run.")
        return context

    def alltoall(self, tensor, splits):
        splits = tf.cast(splits, tf.int32)
        # What each rank sends to each, [size, size].
        table = tf.reshape(self._gather(splits), [self.size, self.size])

        @tf.custom_gradient
        def exchanged(tensor):
            def gradient(upstream):
                return self._pick(self._gather(_padded(tf.convert_to_tensor(upstream))), tf.transpose(table), self.rank)

            return self._pick(self._gather(_padded(tensor)), table, self.rank), gradient

        return exchanged(tf.convert_to_tensor(tensor)), table[:, self.rank]

    def _gather(self, tensor):
        # Without its gradient: that of an all-to-all is the one back.
        return self._context().all_gather(tf.stop_gradient(tensor), axis=0)

    def _pick(self, gathered, table, receiver):
        """Of the `_padded` rows that all ranks sent, in order of rank and then of receiver, those for one.

        `table[rank, receiver]` is how many there are.
        """
        counts = tf.reshape(tf.pad(table, [[0, 0], [0, 1]], constant_values=1), [-1])
        receivers = tf.repeat(tf.tile(tf.range(tf.shape(table)[1] + 1), [self.size]), counts)
        return tf.boolean_mask(gathered, tf.equal(receivers, receiver))

    def allreduce(self, tensor, op):
        checked_op(op)
        if op in ("sum", "average"):
            reduce = tf.distribute.ReduceOp.SUM if op == "sum" else tf.distribute.ReduceOp.MEAN
            return self._context().all_reduce(reduce, tensor)
        of_ranks = self._gather(tf.expand_dims(tensor, 0))
        return tf.reduce_max(of_ranks, 0) if op == "max" else tf.reduce_min(of_ranks, 0)

    def allgather(self, tensor):
        sizes = self._gather(tf.shape(tensor)[:1])
        return self._pick(self._context().all_gather(_padded(tensor), axis=0), sizes[:, tf.newaxis], 0)

    def broadcast(self, tensor, root):
        return self._gather(tf.expand_dims(tensor, 0))[root]


def horovod_is_meant() -> bool:
    """Whether the program is one of several processes, or has imported Horovod."""
    return "horovod.tensorflow" in sys.modules or launched_size() > 1
