"""Runs a train.py with one more hook in its training session."""

import functools
from typing import Callable, List

from bench import stock


def run_with(make_hook: Callable, out: str, way: str, arguments: List[str]) -> None:
    """Runs the script and flags `arguments` in this process.

    Args:
      make_hook: (tensorflow, out) -> SessionRunHook, which writes to `out`.
      way: of ways.py; "stock" if the 1.x API of a released package is to be made first.
    """
    if way == "stock":
        stock.as_version_1()
    import tensorflow as tf

    released = tf.train.MonitoredTrainingSession

    @functools.wraps(released)
    def session(*args, hooks=None, **kwargs):
        return released(*args, hooks=[*(hooks or []), make_hook(tf, out)], **kwargs)

    tf.train.MonitoredTrainingSession = session
    stock.run_script(arguments)
