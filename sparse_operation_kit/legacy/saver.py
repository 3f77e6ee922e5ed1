"""`sok.Saver`: a layer's table in two files of raw numbers.

`<variable>_keys.file` has the keys, int64 or uint32 as the layer's key_dtype says, and `<variable>_values.file` their rows, float32, in the same
order; both of all ranks, in the byte order of the machine.
"""

import gc
import os
import weakref

import numpy as np
import tensorflow as tf

from sparse_operation_kit import evaluation, partial_files, transports
from sparse_operation_kit.legacy.table import table_of


def _paths(folder, variable):
    stem = os.path.join(folder, variable.name.split(":")[0].replace("/", "_"))
    return f"{stem}_keys.file", f"{stem}_values.file"


def _checked(variable):
    table = table_of(variable)
    if table is None:
        raise ValueError(f"embedding_variable must be that of an embedding layer, got {variable!r}")
    return table


class Saver:
    """Writes and reads the tables of layers. All ranks must call its methods, outside of `strategy.run`."""

    def __init__(self):
        # The tables that it has written, by their files.
        self._written = weakref.WeakValueDictionary()

    def dump_to_file(self, embedding_variable, filepath):
        """Writes a table into the folder `filepath`, which is made if it is not there; rank 0 writes.

        A dump that is cut short leaves the earlier one, or none: its files are not mixed with others.

        Returns:
          The status "OK"; in a TF1 graph the op.

        Raises:
          ValueError: embedding_variable is no layer's, or this Saver has written that of another layer of its name there.
          OSError: (when run; in a graph a tf.errors.OpError) rank 0 cannot write the files.
        """
        table = _checked(embedding_variable)
        paths = _paths(filepath, embedding_variable)
        if self._written.setdefault(paths[0], table) is not table:
            # Layers that nobody uses any more may not be gone yet.
            gc.collect()
            if self._written.setdefault(paths[0], table) is not table:
                raise ValueError(
                    f"{paths[0]} has the keys of another layer of the name {table.name}: name them differently"
                )
        transport = table.transport
        if isinstance(transport, transports.Replicas):
            keys, values = _gathered(table)
            if table.first_rank() == 0:
                _write(table, filepath, paths, keys.numpy(), values.numpy())
            return _status(table, tf.size(keys))

        def gather_and_write(keys, values):
            # The exchange is in here, and not in the graph, so that the graphs of all ranks are alike.
            keys, values = evaluation.gathered(keys, transport), evaluation.gathered(values, transport)
            evaluation.on_first_rank(lambda: _write(table, filepath, paths, keys, values), transport)
            return np.int32(len(keys))

        keys, values = table.export_local(*table.shards()[0])
        written = tf.numpy_function(gather_and_write, [keys, values], tf.int32)
        with tf.control_dependencies([written]):
            return tf.constant("OK")

    def restore_from_file(self, embedding_variable, filepath):
        """Reads what `dump_to_file` has written, of any number of ranks. With a hash table it replaces what was there.

        Returns:
          The status "OK"; in a TF1 graph the op.

        Raises:
          ValueError: embedding_variable is no layer's.
          FileNotFoundError, ValueError: (eagerly; in a session as tf.errors.OpError) there are no files, or they do not fit each other.
          tf.errors.InvalidArgumentError: (when run) the table has too few rows, or a key is out of its range.
        """
        table = _checked(embedding_variable)
        paths = _paths(filepath, embedding_variable)
        return self._assign(table, lambda: _read(paths, table))

    def load_embedding_values(self, embedding_variable, tensors):
        """Sets rows: row i of the table becomes that of key i.

        Args:
          embedding_variable: of a layer.
          tensors: `[n, dim]`, or a list of `[n_i, dim]`, which are joined.

        Returns, raises: as `restore_from_file`.
        """
        table = _checked(embedding_variable)
        if isinstance(tensors, (list, tuple)) and not tensors:
            raise ValueError(f"tensors must be one of shape [n, {table.dimension}], or a list of such, got {tensors!r}")
        values = tf.concat(list(tensors), 0) if isinstance(tensors, (list, tuple)) else tf.convert_to_tensor(tensors)
        values = tf.cast(values, tf.float32)
        if not values.shape.is_compatible_with([None, table.dimension]):
            raise ValueError(f"tensors must have shape [n, {table.dimension}], got {values.shape}")
        return self._assign(table, lambda: (tf.range(tf.size(values[:, 0]), dtype=tf.int32), values))

    @staticmethod
    def _assign(table, read):
        keys, values = read()
        keys = tf.cast(keys, tf.int64)
        size, done = table.transport.size, []
        limit = table.rows * size
        for shard, at, rank in table.shards():
            own = tf.equal(tf.math.floormod(keys, tf.constant(size, tf.int64)), tf.constant(rank, tf.int64))
            own_keys, own_values = tf.boolean_mask(keys, own), tf.boolean_mask(values, own)
            if table.use_hashtable:
                fits = tf.debugging.assert_less_equal(
                    tf.size(own_keys),
                    table.rows,
                    message=f"layer {table.name} has {table.rows} rows on a rank, which are too few for the keys",
                )
            else:
                fits = tf.debugging.assert_less(
                    keys, tf.constant(limit, tf.int64), message=f"keys of layer {table.name} must be in [0, {limit})"
                )
            with tf.control_dependencies([] if fits is None else [fits]):
                done.append(table.assign_local(shard, at, tf.identity(own_keys), own_values))
        with tf.control_dependencies([] if tf.executing_eagerly() else done):
            return _status(table, tf.size(keys))


def _write(table, folder, paths, keys, values):
    if not table.use_hashtable:
        order = np.argsort(keys)
        keys, values = keys[order], values[order]
    os.makedirs(folder, exist_ok=True)
    for path, array in zip(paths, (keys.astype(table.key_dtype.as_numpy_dtype), values)):
        array.tofile(partial_files.partial(path))
    # Keys of one dump beside rows of another would pass for a dump. Without rows nothing is read.
    partial_files.commit(paths, paths[1:])


def _gathered(table):
    """Keys and rows of all replicas of a strategy."""
    transport = table.transport
    keys, values = zip(*[table.export_local(*shard) for shard in table.shards()])
    keys, values = tf.concat(keys, 0), tf.concat(values, 0)
    if len(table.shards()) == transport.size:
        return keys, values
    everybody = transport.strategy.run(lambda: (transport.allgather(keys), transport.allgather(values)))
    return tuple(transport.strategy.experimental_local_results(x)[0] for x in everybody)


def _status(table, written):
    """ "OK", once all ranks are done."""
    transport = table.transport
    if isinstance(transport, transports.Replicas):
        if len(table.shards()) < transport.size:
            transport.strategy.run(lambda: transport.allreduce(tf.cast(written, tf.float32), "sum"))
        return tf.constant("OK")
    met = transport.allreduce(tf.cast(written, tf.float32), "sum")
    with tf.control_dependencies([met]):
        return tf.constant("OK")


def _read(paths, table):
    dim = table.dimension

    def read():
        for path in paths[1:] if not table.use_hashtable else paths:
            if not os.path.exists(path):
                cut = ": a dump was cut short" if os.path.exists(partial_files.partial(path)) else ""
                raise FileNotFoundError(f"there is no {path}{cut}")
        values = np.fromfile(paths[1], np.float32)
        if values.size % dim:
            raise ValueError(f"{paths[1]} has {values.size} numbers, which is no multiple of {dim}, the size of a row")
        values = values.reshape(-1, dim)
        if not os.path.exists(paths[0]):
            return np.arange(len(values), dtype=np.int64), values
        size = os.path.getsize(paths[0])
        if not len(values):
            return np.zeros([0], np.int64), values
        width, rest = divmod(size, len(values))
        if rest or width not in (4, 8):
            raise ValueError(
                f"{paths[0]} has {size} bytes, which are not 4 or 8 for each of the {len(values)} rows in {paths[1]}"
            )
        return np.fromfile(paths[0], np.uint32 if width == 4 else np.int64).astype(np.int64), values

    keys, values = tf.numpy_function(read, [], [tf.int64, tf.float32])
    return tf.ensure_shape(keys, [None]), tf.ensure_shape(values, [None, dim])
