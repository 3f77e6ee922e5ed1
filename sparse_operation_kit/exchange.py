"""Rows of tables on other ranks: keys go to the ranks that hold them, rows come back.

Of each key a rank asks once. The rank that holds it reads it once, whoever asks, so the gradient that arrives there is the sum
over all ranks, in the order of the ranks.
"""

import zlib

import numpy as np
import tensorflow as tf

from sparse_operation_kit import placement, runtime

# The tables that this process has looked up, by the numbers that stand for them.
_names = {}


def fetch(variable, keys, read=None, transport=None):
    """Reads rows of a table, on whichever ranks they are. All ranks must call it.

    Args:
      variable: sok.Variable, DynamicVariable, or what has their `target_gpu` and `dimension`.
      keys: `[n]`, all different.
      read: callable(variable, keys this rank holds, all different) -> rows; None: `read_rows`.
      transport: what moves data; None: that of `sok.init()`.

    Returns:
      `(rows [n, dim], positions [n] int32)`: the row of keys[i] is rows[positions[i]].
    """
    read = read_rows if read is None else read
    transport = runtime.transport() if transport is None else transport
    if transport.size == 1:
        return read(variable, keys), tf.range(tf.size(keys))
    order, splits = _route(keys, variable.target_gpu, transport)
    # Ops of graphs have names, by which Horovod tells them apart; eager ones have none.
    send = _send_with_tags if tf.executing_eagerly() and transport.name == "Horovod" else _send
    received, counts = send(variable, tf.gather(keys, order), splits, transport)
    asked, position = tf.unique(received)
    rows = read(variable, asked)
    answers, _ = transport.alltoall(tf.gather(rows, position), counts)
    answers = tf.ensure_shape(answers, [None, variable.dimension])
    return answers, tf.math.invert_permutation(order)


def read_rows(variable, keys):
    """The rows of keys that this rank holds."""
    return variable.sparse_read(variable.key_map(keys))


def _send(variable, keys, splits, transport):
    del variable
    return transport.alltoall(keys, splits)


def _send_with_tags(variable, keys, splits, transport):
    """Sends keys, and ahead of each rank's a number that says of which table they are.

    Raises:
      tf.errors.InvalidArgumentError: another rank asks for rows of another table.
    """
    tag = zlib.crc32(variable.name.encode()) & 0x7FFFFFFF
    _names[tag] = variable.name
    starts = np.cumsum(splits.numpy()) - splits.numpy()
    tagged, counts = transport.alltoall(tf.constant(np.insert(keys.numpy(), starts, tag)), splits + 1)
    ends = np.cumsum(counts.numpy())
    tags = tagged.numpy()[ends - counts.numpy()]
    for rank in np.flatnonzero(tags != tag):
        other = _names.get(int(tags[rank]), "another table")
        raise tf.errors.InvalidArgumentError(
            None,
            None,
            f"rank {rank} looks up keys of {other} where rank {transport.rank} looks up those of {variable.name}: all ranks must make "
            "the same calls in the same order",
        )
    return tf.constant(np.delete(tagged.numpy(), ends - counts.numpy())), counts - 1


def _route(keys, target, transport):
    """In which order keys are sent, and how many to each rank: `([n] int32, [size] int32)`."""
    if target != placement.DISTRIBUTED:
        number = tf.size(keys)
        return tf.range(number), number * tf.cast(tf.equal(tf.range(transport.size), target), tf.int32)
    owners = tf.cast(tf.math.floormod(keys, tf.cast(transport.size, keys.dtype)), tf.int32)
    parts = tf.dynamic_partition(tf.range(tf.size(keys)), owners, transport.size)
    return tf.concat(parts, 0), tf.stack([tf.size(part) for part in parts])
