"""The table of a layer: on each replica a dense shard, and which of its rows is which key's."""

import itertools

import tensorflow as tf
from tensorflow.deeprec.embedding.key_numbers import KeyNumbers
from tensorflow.python.ops import resource_variable_ops

from sparse_operation_kit import exchange, placement, transports
from sparse_operation_kit.legacy import backend

_numbers = itertools.count()
# Attribute of an embedding variable: its Table.
_TABLE = "_sok_table"


class EmbeddingVariable(resource_variable_ops.ResourceVariable):
    """The shard of this process, `[max_vocabulary_size_per_gpu, dim]`: to TensorFlow an ordinary variable."""

    @classmethod
    def _variable_call(cls, *unused_args, **unused_kwargs):
        """Tells the metaclass of variables to call this class, not the creators of `tf.Variable`."""
        return None

    @property
    def emb_handle(self):
        """The handle of the variable."""
        return self.handle

    tf_handle = m_handle = emb_handle


class Table:
    """Key k lives on rank k mod n of n. Its row there is the next free one when it is first seen in training, or k // n.

    Attributes:
      variable: the embedding variable; of a strategy, one whose replicas differ.
      dimension: elements of a row.
      rows: of a shard.
      use_hashtable: whether keys get rows as they come.
      key_dtype: of keys in files.
    """

    target_gpu = placement.DISTRIBUTED

    def __init__(self, name, rows, dimension, use_hashtable, initializer, key_dtype):
        self.transport = backend.transport()
        self.rows, self.dimension, self.use_hashtable = rows, dimension, use_hashtable
        self.name, self.key_dtype = name, key_dtype
        number = next(_numbers)
        if isinstance(self.transport, transports.Replicas):
            self.variable = self._make_replicas(initializer, number)
            local = len(self.transport.strategy.experimental_local_results(self.variable))
        else:
            local = 1
            rank = self.transport.rank
            with tf.init_scope():
                value = lambda: self._initial(initializer, rank, number)  # noqa: E731
                self.variable = EmbeddingVariable(
                    value() if tf.executing_eagerly() else value, trainable=True, name=f"{name}/EmbeddingVariable"
                )
        setattr(self.variable, _TABLE, self)
        # In a graph there may be other layers of this name; the variables differ in theirs.
        unique = self.variable.name.split(":")[0].removesuffix("/EmbeddingVariable")
        self._key_rows = [KeyNumbers(f"layer {unique}", rows) for _ in range(local)] if use_hashtable else []

    @property
    def description(self) -> str:
        """What is the same on all ranks, in words."""
        kind = "hash table" if self.use_hashtable else "rows by number"
        return f"layer {self.name} {[self.rows, self.dimension]} on each rank, {kind}"

    def _initial(self, initializer, rank, number):
        shape = [self.rows, self.dimension]
        if initializer is None:
            seeds = tf.stack([backend.seed(), tf.constant(number * 65536 + rank, tf.int64)])
            return tf.random.stateless_uniform(shape, seeds, -0.05, 0.05)
        return tf.cast(initializer(shape, dtype=tf.float32), tf.float32)

    def _make_replicas(self, initializer, number):
        strategy = self.transport.strategy
        with strategy.scope():
            variable = tf.Variable(
                lambda: tf.zeros([self.rows, self.dimension]),
                trainable=True,
                name=f"{self.name}/EmbeddingVariable",
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
            )
        # All replicas of a new variable have one value.
        for i, shard in enumerate(strategy.experimental_local_results(variable)):
            shard.assign(self._initial(initializer, self.first_rank() + i, number))
        return variable

    def first_rank(self) -> int:
        """The rank of this process' first replica."""
        if not isinstance(self.transport, transports.Replicas):
            return self.transport.rank
        strategy = self.transport.strategy
        resolver = strategy.cluster_resolver
        several = resolver is not None and resolver.task_id is not None and resolver.cluster_spec().jobs
        return int(resolver.task_id) * len(strategy.extended.worker_devices) if several else 0

    # Reading, in a replica.

    def fetch(self, keys, training):
        """The rows of `[n]` int64 keys, all different, of whichever ranks: see `exchange.fetch`."""

        def read(_, own_keys):
            return self._read(own_keys, training)

        return exchange.fetch(self, keys, read, self.transport)

    def shard(self):
        """The shard of this replica, and its number among those of the process."""
        if not isinstance(self.transport, transports.Replicas):
            return self.variable, 0
        shards = self.transport.strategy.experimental_local_results(self.variable)
        if len(shards) == 1:
            return shards[0], 0
        at = self.transport.rank - self.first_rank()
        return shards[at], at

    def _read(self, keys, training):
        shard, at = self.shard()
        if not self.use_hashtable:
            ranks, limit = self.transport.size, self.rows * self.transport.size
            message = f"keys of layer {self.name} must be in [0, {limit})"
            checks = [
                tf.debugging.assert_non_negative(keys, message=message),
                tf.debugging.assert_less(keys, tf.constant(limit, tf.int64), message=message),
            ]
            with tf.control_dependencies([check for check in checks if check is not None]):
                return shard.sparse_read(tf.math.floordiv(keys, tf.constant(ranks, tf.int64)))
        rows = self._key_rows[at].find(keys, training)
        if training is True:
            return shard.sparse_read(rows)
        # Keys that are not known have no row: they read 0, and train none.
        known = tf.where(rows >= 0)
        found = shard.sparse_read(tf.gather(rows, known[:, 0]))
        shape = tf.stack([tf.size(keys, out_type=tf.int64), tf.constant(self.dimension, tf.int64)])
        return tf.scatter_nd(known, found, shape)

    # All rows of the process' shards, for files.

    def export_local(self, shard, at, rank):
        """`(keys [n], rows [n, dim])` of one shard."""
        value = tf.convert_to_tensor(shard.read_value())
        if self.use_hashtable:
            keys = self._key_rows[at].export()
            return keys, value[: tf.size(keys)]
        return tf.range(self.rows, dtype=tf.int64) * self.transport.size + tf.cast(rank, tf.int64), value

    def assign_local(self, shard, at, keys, values):
        """Sets the rows of keys `[n]`, all of this shard; with a hash table they replace all. Returns the op."""
        if not self.use_hashtable:
            return shard.scatter_update(tf.IndexedSlices(values, keys // self.transport.size))
        numbered = self._key_rows[at].assign(keys)
        with tf.control_dependencies([numbered] if numbered is not None else []):
            rows = tf.range(tf.size(keys, out_type=tf.int64))
            return shard.scatter_update(tf.IndexedSlices(values, rows))

    def shards(self):
        """`[(shard, its number in the process, its rank)]` of this process."""
        if not isinstance(self.transport, transports.Replicas):
            return [(self.variable, 0, self.transport.rank)]
        local = self.transport.strategy.experimental_local_results(self.variable)
        return [(shard, i, self.first_rank() + i) for i, shard in enumerate(local)]


def table_of(variable):
    """The Table of an embedding variable, or None for another variable."""
    return getattr(variable, _TABLE, None)
