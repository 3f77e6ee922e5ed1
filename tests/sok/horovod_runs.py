"""Starts programs under horovodrun."""

import importlib.util
import os
import subprocess
import sys

import pytest

needs_horovod = pytest.mark.skipif(
    importlib.util.find_spec("horovod") is None, reason="needs Horovod: tf-deeprec-horovod --install"
)


def run(ranks, arguments, cwd, timeout=240, **settings):
    """Runs `python arguments` as `ranks` processes; returns the CompletedProcess, with the output of all in stdout.

    Args:
      ranks: number of processes.
      arguments: of each.
      cwd: working folder.
      timeout: seconds.
      **settings: environment variables.
    """
    env = {k: v for k, v in os.environ.items() if not k.startswith("TF_") and k != "PYTHONPATH"}
    env.update({"TF_CPP_MIN_LOG_LEVEL": "2", "HOROVOD_CYCLE_TIME": "0", **settings})
    command = [sys.executable, "-m", "horovod.runner.launch", "-np", str(ranks), "-H", f"localhost:{ranks}", "--gloo"]
    return subprocess.run(
        [*command, sys.executable, *arguments],
        cwd=cwd,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=timeout,
        check=False,
    )


def check(*args, **kwargs) -> str:
    """As `run`, but the program must succeed; returns its output."""
    done = run(*args, **kwargs)
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout
