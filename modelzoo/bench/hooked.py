"""Runs a train.py with one more hook in its training session."""

import functools
from typing import Callable, List

from bench import start


def run_with(make_hook: Callable, out: str, way: str, arguments: List[str]) -> None:
    """Runs the script and flags `arguments` in this process.

    Args:
      make_hook: (tensorflow, out) -> SessionRunHook, which writes to `out`.
      way: of ways.py.
    """
    start.prepare(way)
    import tensorflow as tf

    released = tf.train.MonitoredTrainingSession

    @functools.wraps(released)
    def session(*args, hooks=None, **kwargs):
        return released(*args, hooks=[*(hooks or []), make_hook(tf, out)], **kwargs)

    tf.train.MonitoredTrainingSession = session
    start.run_script(arguments)
