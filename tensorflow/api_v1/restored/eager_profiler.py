"""`tensorflow.python.eager.profiler` of 1.15, on today's profiler: one profile at a time, for the whole process."""

import os
import shutil
import tempfile

from tensorflow.python.profiler import profiler_v2

_logdir = None


class ProfilerAlreadyRunningError(Exception):
    """start() while a profile is being taken."""


class ProfilerNotRunningError(Exception):
    """stop() without start()."""


def start():
    """Starts a profile."""
    global _logdir
    if _logdir is not None:
        raise ProfilerAlreadyRunningError("Another profiler is running.")
    _logdir = tempfile.mkdtemp(prefix="tf_profile_")
    profiler_v2.start(_logdir)


def stop():
    """Ends the profile; returns its serialized XSpace (bytes), for `save`."""
    global _logdir
    if _logdir is None:
        raise ProfilerNotRunningError("Cannot stop profiling. No profiler is running.")
    folder, _logdir = _logdir, None
    profiler_v2.stop()
    try:
        for path, _, files in os.walk(folder):
            for name in files:
                if name.endswith(".xplane.pb"):
                    with open(os.path.join(path, name), "rb") as source:
                        return source.read()
        return b""
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def save(logdir, result):
    """Writes the result of `stop` where TensorBoard's profile plugin finds it."""
    import datetime

    run = os.path.join(logdir, "plugins", "profile", datetime.datetime.now().strftime("%Y-%m-%d_%H-%M-%S"))
    os.makedirs(run, exist_ok=True)
    with open(os.path.join(run, "local.xplane.pb"), "wb") as out:
        out.write(result)


def start_profiler_server(port):
    """Starts a server that takes profiles for remote clients."""
    profiler_v2.start_server(port)


class Profiler:
    """Takes a profile of the code in its `with` block and writes it to `logdir`."""

    def __init__(self, logdir):
        self._logdir = logdir

    def __enter__(self):
        start()

    def __exit__(self, *unused):
        save(self._logdir, stop())
