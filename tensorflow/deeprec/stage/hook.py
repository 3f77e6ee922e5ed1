"""`tf.make_prefetch_hook`."""

from tensorflow.deeprec.stage import runner
from tensorflow.deeprec.stage.buffer import boolean
from tensorflow.python.training import session_run_hook


class PrefetchHook(session_run_hook.SessionRunHook):
    """Starts the threads of every stage in the graph of a session, also of one that is made anew after a failure."""

    def __init__(self, daemon: bool, start: bool):
        self._daemon, self._start = daemon, start
        self.threads = []

    def after_create_session(self, session, coord):
        self.threads = []
        for stage in session.graph.get_collection(runner.PREFETCH):
            self.threads += stage.create_threads(session, coord, daemon=self._daemon, start=self._start)


def make_prefetch_hook(daemon=True, start=True) -> PrefetchHook:
    """Makes the hook that starts the threads of `tf.staged` in monitored sessions and Estimators, for evaluation too.

    Without it in `hooks`, a step warns, waits for a record until `timeout_millis` of the stage, and then raises DeadlineExceededError.

    Args:
      daemon: whether the threads are daemons.
      start: False: the threads are made but not started; `hook.threads` holds those of the session made last.

    Returns:
      A `tf.train.SessionRunHook`.

    Raises:
      TypeError: an argument is no bool.
    """
    return PrefetchHook(boolean("daemon", daemon), boolean("start", start))
