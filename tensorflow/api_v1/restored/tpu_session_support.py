"""Watchdogs of TPU sessions: exist for the imports of TPUEstimator, and raise RuntimeError when used."""

_NO_TPU = "watching TPU workers needs a TPU, and this build has no TPU support"


class CoordinatorShutdownException(Exception):
    """The coordinator of a TPU pod went away."""


class WorkerHeartbeatManager:
    def __init__(self, *args, **kwargs):
        raise RuntimeError(_NO_TPU)

    @staticmethod
    def from_devices(session, devices):
        raise RuntimeError(_NO_TPU)


class WatchdogManager:
    def __init__(self, *args, **kwargs):
        raise RuntimeError(_NO_TPU)


class GracefulShutdownHook:
    def __init__(self, *args, **kwargs):
        raise RuntimeError(_NO_TPU)


ResetComputation = ShutdownLameWorkers = ShutdownAllWorkers = GracefulShutdownHook


def start_worker_watchdog(*args, **kwargs):
    raise RuntimeError(_NO_TPU)


stop_worker_watchdog = start_worker_watchdog
