"""Which threads fill stages in which session: they end when it is closed."""

import atexit
import functools
import threading
import weakref

from tensorflow.python.platform import tf_logging as logging

_JOIN_SECONDS = 30.0

_lock = threading.Lock()
# Session -> its fillings, which hold it as long as their threads run.
_fillings = weakref.WeakKeyDictionary()


def add(session, filling) -> bool:
    """Notes the threads of a session; False if its stage has threads there already.

    Raises:
      RuntimeError: the session is closed.
    """
    with _lock:
        if session._closed:
            raise RuntimeError("Attempted to start a stage in a closed Session.")
        known = [other for other in _fillings.setdefault(session, []) if other.runner is filling.runner]
        if any(other.alive() for other in known):
            return False
        _fillings[session].append(filling)
    for other in known:
        # It may be about to stop the buffer.
        other.join(_JOIN_SECONDS)
    return True


def has(session, runner) -> bool:
    """Whether threads for a stage were made in a session."""
    with _lock:
        return any(filling.runner is runner for filling in _fillings.get(session, ()))


def _end(session, close) -> None:
    with _lock:
        ending = _fillings.pop(session, [])
        for filling in ending:
            filling.stop()
    try:
        # Ends the runs that wait in a stage or in its input.
        close()
    finally:
        for filling in ending:
            if not filling.join(_JOIN_SECONDS):
                logging.warning("A thread of stage %r still runs after its session was closed.", filling.runner.name)


def _close_all() -> None:
    """Before the interpreter goes: a thread that comes back from a run then would find none."""
    for session in list(_fillings):
        session.close()


def install() -> None:
    """Makes `session.close()` end the threads, and a fetch of what a stage reads an error that says so."""
    from tensorflow.python.client import session
    from tensorflow.python.framework import errors

    close, check = session.BaseSession.close, session._FetchHandler._assert_fetchable

    @functools.wraps(close)
    def close_with_stages(self):
        _end(self, functools.partial(close, self))

    @functools.wraps(check)
    def _assert_fetchable(self, graph, op):
        if op.type == "IteratorGetNext" and not graph.is_fetchable(op):
            # The runtime's own message speaks of functions.
            raise errors.InaccessibleTensorError(
                f"{op.name} is not fetchable: SmartStage reads it ahead of the step, so a fetch would take a batch away. "
                "Fetch a tf.identity of it that was made before the session, or put it through tf.staged."
            )
        check(self, graph, op)

    session.BaseSession.close = close_with_stages
    session._FetchHandler._assert_fetchable = _assert_fetchable
    # Before Python waits for threads that are no daemons; atexit comes after that.
    getattr(threading, "_register_atexit", atexit.register)(_close_all)
