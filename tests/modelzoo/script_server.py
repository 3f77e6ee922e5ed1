"""Runs scripts in processes of their own that find TensorFlow imported: `python script_server.py`, see `ScriptServer`.

Importing it and what scripts import beside it is half of a small training. This process imports them once, starts no session and no
thread, and forks for each script; the copy is then what `python SCRIPT ARGUMENTS` is.
"""

import atexit
import json
import os
import runpy
import signal
import subprocess
import sys
import threading
import traceback
from typing import Sequence


class ScriptServer:
    """Runs scripts one at a time."""

    def __init__(self):
        self._process = None

    def run(self, command: Sequence[str], cwd, timeout: float) -> subprocess.CompletedProcess:
        """Like `subprocess.run(command, cwd=cwd, timeout=timeout, text=True, capture_output=True)` of [python, script, ...]."""
        if self._process is None:
            environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "1", "MPLBACKEND": "Agg"}
            self._process = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
            atexit.register(self._process.kill)
        outputs = [os.path.join(cwd, f".{name}-of-script") for name in ("stdout", "stderr")]
        self._process.stdin.write(json.dumps({"argv": list(command[1:]), "cwd": str(cwd), "outputs": outputs}) + "\n")
        self._process.stdin.flush()
        pid, killed = int(self._process.stdout.readline()), threading.Event()

        def kill():
            killed.set()
            os.kill(pid, signal.SIGKILL)

        timer = threading.Timer(timeout, kill)
        timer.start()
        code = int(self._process.stdout.readline())
        timer.cancel()
        texts = []
        for path in outputs:
            with open(path, encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
            os.remove(path)
        if killed.is_set():
            raise subprocess.TimeoutExpired(command, timeout, *texts)
        return subprocess.CompletedProcess(command, code, *texts)


def _become(argv, cwd, outputs) -> None:
    """Turns a fork into the script's process; does not return."""
    code = 1
    try:
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        for number, path in enumerate(outputs, 1):
            with open(path, "wb") as file:
                os.dup2(file.fileno(), number)
        os.chdir(cwd)
        sys.argv, sys.path[0] = argv, os.path.dirname(argv[0])
        runpy.run_path(argv[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _serve() -> None:
    import matplotlib.pyplot  # noqa: F401
    import tensorflow  # noqa: F401
    import tensorflow.contrib  # noqa: F401
    import tf_keras  # noqa: F401
    import tqdm  # noqa: F401
    from tensorflow.deeprec import library
    from tensorflow.python.autograph.impl import api  # noqa: F401

    library.ops()  # generated
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _become(**json.loads(line))
        print(pid, file=replies, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), file=replies, flush=True)


if __name__ == "__main__":
    _serve()
