"""A train.py in a process of its own."""

import ctypes
import signal
import subprocess
import time
from typing import List, Mapping, Optional

from common import cli

_PR_SET_PDEATHSIG = 1  # of Linux's prctl


def run(
    command: List[str],
    log_path: str,
    timeout: Optional[float],
    stop: cli.StopRequest,
    environment: Optional[Mapping[str, str]] = None,
) -> int:
    """Runs a program to its end.

    A signal that comes to this process is handed on, so that a model saves its step. If this process dies, the program gets a SIGTERM.

    Args:
      log_path: where its output goes.
      timeout: seconds after which it is killed.
      environment: instead of this process's.

    Returns:
      The exit code.

    Raises:
      subprocess.TimeoutExpired: it took longer.
    """
    with open(log_path, "wb") as log_file:
        return _wait(_start(command, log_file, environment), timeout, stop)


def last_line(log_path: str) -> str:
    """What a program said last, by its log."""
    with open(log_path, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    return lines[-1] if lines else "no output"


def _start(command: List[str], log_file, environment: Optional[Mapping[str, str]]) -> subprocess.Popen:
    """In a session of its own: a terminal would give its SIGINT to the program too, which takes the one that is handed on for the
    second, by which it ends at once."""
    prctl = ctypes.CDLL(None).prctl
    return subprocess.Popen(
        command,
        stdout=log_file,
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
        preexec_fn=lambda: prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM)),
    )


def _wait(process: subprocess.Popen, timeout: Optional[float], stop: cli.StopRequest) -> int:
    deadline = time.monotonic() + timeout if timeout else None
    handed_on = False
    while True:
        try:
            return process.wait(0.2)
        except subprocess.TimeoutExpired:
            if deadline and time.monotonic() > deadline:
                process.kill()
                process.wait()
                raise
        if stop.signum is not None and not handed_on:
            handed_on = True
            if process.poll() is None:
                process.send_signal(stop.signum)
