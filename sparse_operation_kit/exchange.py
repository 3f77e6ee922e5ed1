"""Rows of tables on other ranks: keys go to the ranks that hold them, rows come back.

Of each key a rank asks once. The rank that holds it reads it once, whoever asks, so the gradient that arrives there is the sum
over all ranks, in the order of the ranks.
"""

import zlib

import numpy as np
import tensorflow as tf

from sparse_operation_kit import evaluation, placement, runtime

# Descriptions of tables that are the same on all ranks.
_agreed = set()


def fetch(variable, keys, read=None, transport=None):
    """Reads rows of a table, on whichever ranks they are. All ranks must call it.

    Args:
      variable: sok.Variable, DynamicVariable, or what has their `target_gpu`, `dimension` and `description`.
      keys: `[n]`, all different.
      read: callable(variable, keys this rank holds, all different) -> rows; None: `read_rows`.
      transport: what moves data; None: that of `sok.init()`.

    Returns:
      `(rows [n, dim], positions [n] int32)`: the row of keys[i] is rows[positions[i]].

    Raises:
      tf.errors.InvalidArgumentError: another rank asks for rows of another table, or of one of another size, dtype or mode. Of
        Horovod; in graphs when they are built.
    """
    read = read_rows if read is None else read
    transport = runtime.transport() if transport is None else transport
    if transport.size == 1:
        return read(variable, keys), tf.range(tf.size(keys))
    order, splits = _route(keys, variable.target_gpu, transport)
    # Ops of graphs have names, by which Horovod tells them apart; eager ones have none.
    send = _send
    if transport.name == "Horovod" and tf.executing_eagerly():
        send = _send_with_tags
    elif transport.name == "Horovod" and not for_shapes_alone() and variable.description not in _agreed:
        _compare(variable, transport)
        _agreed.add(variable.description)
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
    """Sends keys, and ahead of each rank's a number that says of which table they are."""
    tag = zlib.crc32(variable.description.encode())
    starts = np.cumsum(splits.numpy()) - splits.numpy()
    # Of one dtype for all tables.
    tagged, counts = transport.alltoall(tf.constant(np.insert(keys.numpy().astype(np.int64), starts, tag)), splits + 1)
    ends = np.cumsum(counts.numpy())
    if (tagged.numpy()[ends - counts.numpy()] != tag).any():
        # Ranks whose tags differ see that they do, all of them.
        _compare(variable, transport)
    received = np.delete(tagged.numpy(), ends - counts.numpy())
    return tf.constant(received.astype(keys.dtype.as_numpy_dtype)), counts - 1


def _compare(variable, transport):
    """Raises InvalidArgumentError, on all ranks, if they look up different tables. All ranks must call it."""
    text = np.frombuffer(variable.description.encode(), np.uint8)
    ends = np.cumsum(evaluation.gathered(np.array([len(text)]), transport))
    texts = np.split(evaluation.gathered(text, transport), ends[:-1])
    for rank, other in enumerate(texts):
        if not np.array_equal(other, text):
            raise tf.errors.InvalidArgumentError(
                None,
                None,
                f"rank {rank} looks up keys of {other.tobytes().decode()} where rank {transport.rank} looks up those of "
                f"{variable.description}: all ranks must make the same calls in the same order, on the same tables",
            )


def for_shapes_alone() -> bool:
    """Whether Keras makes a functional model: what is built is thrown away, and other ranks need not build it."""
    return getattr(tf.compat.v1.get_default_graph(), "name", "").endswith("_scratch_graph")


def _route(keys, target, transport):
    """In which order keys are sent, and how many to each rank: `([n] int32, [size] int32)`."""
    if target != placement.DISTRIBUTED:
        number = tf.size(keys)
        return tf.range(number), number * tf.cast(tf.equal(tf.range(transport.size), target), tf.int32)
    owners = tf.cast(tf.math.floormod(keys, tf.cast(transport.size, keys.dtype)), tf.int32)
    parts = tf.dynamic_partition(tf.range(tf.size(keys)), owners, transport.size)
    return tf.concat(parts, 0), tf.stack([tf.size(part) for part in parts])
