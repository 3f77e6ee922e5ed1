"""Processes that benchmarks time in turn, one for each Python that is compared."""

import json
import os
import pathlib
import platform
import subprocess


class Worker:
    """A script that answers each line of JSON with one, under a Python of its own."""

    def __init__(self, python: str, script: pathlib.Path):
        env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "TF_DEEPREC_LAZY_ADAM")}
        self.process = subprocess.Popen(
            [os.path.abspath(python), str(script.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=env,
            cwd="/",
        )

    def ask(self, request: dict) -> dict:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker under {self.process.args[0]} ended with code {self.process.wait()}")
        return json.loads(line)

    def stop(self) -> None:
        self.process.stdin.write('{"stop": true}\n')
        self.process.stdin.close()
        self.process.wait()


def cpu_name() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(": ", 1)[1] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
