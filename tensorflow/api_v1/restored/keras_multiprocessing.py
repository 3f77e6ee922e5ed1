"""`terminate_keras_multiprocessing_pools`: ends worker processes that Keras' data loading left behind."""

import multiprocessing
import os
import signal
import time

# Keras' enqueuers register their pools here.
from tf_keras.src.utils import data_utils


def terminate_keras_multiprocessing_pools(grace_period=0.1, use_sigkill=False):
    """Ends the worker processes of all pools that Keras started in this process.

    Args:
      grace_period: seconds to wait for them after the polite request.
      use_sigkill: whether those still there get SIGKILL.

    Returns:
      A list of strings, one for each worker that did not end: its name and process id.
    """
    workers = [p for p in multiprocessing.active_children() if p.pid in _pids_of_pools()]
    for worker in workers:
        worker.terminate()
    end = time.monotonic() + grace_period
    for worker in workers:
        worker.join(max(0.0, end - time.monotonic()))
    left = [worker for worker in workers if worker.is_alive()]
    if use_sigkill:
        for worker in left:
            os.kill(worker.pid, signal.SIGKILL)
            worker.join()
    return [f"{worker.name} ({worker.pid})" for worker in left if worker.is_alive()]


def _pids_of_pools() -> set:
    return {worker.pid for pool in data_utils._DATA_POOLS or () for worker in pool._pool}
