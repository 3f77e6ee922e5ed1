"""Values of tensors as arrays, and exchanges of arrays, in eager programs and in TF1 sessions alike."""

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context

from sparse_operation_kit import runtime


def values(tensors, sess=None):
    """The values of a structure of tensors and ops.

    Args:
      tensors: of this graph, or eager.
      sess: in a graph, the session; None: the default one.

    Raises:
      RuntimeError: in a function, or in a graph without a session.
    """
    if tf.executing_eagerly():
        return tf.nest.map_structure(lambda t: t.numpy() if tf.is_tensor(t) else t, tensors)
    sess = sess or tf.compat.v1.get_default_session()
    if sess is None:
        raise RuntimeError("In a graph this needs a session: pass sess, or call it in `with sess.as_default():`")
    return sess.run(tensors)


def to_first_rank(array: np.ndarray) -> list:
    """Sends an array `[n, ...]` to rank 0; there, those of all ranks, elsewhere []. All ranks must call it."""
    transport = runtime.transport()
    if transport.size == 1:
        return [array]
    with context.eager_mode():
        splits = [len(array)] + [0] * (transport.size - 1)
        received, counts = transport.alltoall(tf.constant(_as_sent(array)), tf.constant(splits, tf.int32))
        received, counts = received.numpy().view(array.dtype), counts.numpy()
    return np.split(received, np.cumsum(counts)[:-1]) if transport.rank == 0 else []


def gathered(array: np.ndarray, transport=None) -> np.ndarray:
    """The arrays `[n, ...]` of all ranks, joined. All ranks must call it. transport: None: that of `sok.init()`."""
    transport = runtime.transport() if transport is None else transport
    if transport.size == 1:
        return array
    with context.eager_mode():
        return transport.allgather(tf.constant(_as_sent(array))).numpy().view(array.dtype)


def largest(value: int, transport=None) -> int:
    """The largest of all ranks' values. All ranks must call it. transport: as of `gathered`."""
    return int(gathered(np.array([value], np.int64), transport).max())


def on_first_rank(call, transport=None) -> None:
    """Calls it on rank 0; an OSError is raised on all ranks. All ranks must call it. transport: as of `gathered`."""
    error = None
    if (runtime.transport() if transport is None else transport).rank == 0:
        try:
            call()
        except OSError as failed:
            error = failed
    raise_together(error, transport)


def raise_together(error, transport=None) -> None:
    """Raises on all ranks if one has an error: there its own, elsewhere an OSError with its text. All ranks must call it.

    Args:
      error: the exception, or None.
      transport: as of `gathered`.
    """
    if not largest(error is not None, transport):
        return
    texts = gathered(np.frombuffer(f"{error or ''}".encode(), np.uint8), transport)
    raise error or OSError(f"another rank: {texts.tobytes().decode()}")


def _as_sent(array):
    # What Horovod does not send, in the guise of something it does.
    return array.view(np.int64) if array.dtype == np.uint64 else array
