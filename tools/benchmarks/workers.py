"""Processes that benchmarks time in turn, one for each Python that is compared."""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
from typing import Mapping

from interleave import interleaved


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


def medians_in_turn(workers: Mapping[str, Worker], rounds: int, request: dict) -> dict:
    """What the workers answer to a request, {case: [values]}, in turn and after one answer that is not counted; ends them.

    Returns:
      {worker: {case: the median of the values of all rounds}}
    """
    answers = interleaved({name: lambda worker=worker: worker.ask(request) for name, worker in workers.items()}, rounds)
    for worker in workers.values():
        worker.stop()
    return {
        name: {case: statistics.median(sum(lists, [])) for case, lists in cases.items()}
        for name, cases in answers.items()
    }


def ours_and_stock(description: str) -> argparse.Namespace:
    """The command line of a benchmark of this wheel against the stock one: ours, stock, repeats."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="a Python with this wheel")
    parser.add_argument("--stock", required=True, help="a Python with tensorflow-cpu 2.21.0")
    parser.add_argument("--repeats", type=int, default=20)
    args = parser.parse_args()
    if args.repeats < 1:
        parser.error("--repeats must be positive")
    return args


def compare(description: str, script: pathlib.Path, request: dict, case: str, turn: str) -> None:
    """The whole of a benchmark that times cases with this wheel and with the stock one: prints a table.

    Args:
      description: of the command line.
      script: answers `request` with {case: [milliseconds]}.
      case: title of the column of cases.
      turn: what one turn measures.
    """
    args = ours_and_stock(description)
    workers = {name: Worker(python, script) for name, python in (("stock", args.stock), ("ours", args.ours))}
    medians = medians_in_turn(workers, args.repeats, request)
    print(f"{cpu_name()}, 2 threads; median of {args.repeats} interleaved turns of {turn}.\n")
    print(f"| {case} | stock ms | ours ms | stock / ours |\n|---|---|---|---|")
    for name, ours in medians["ours"].items():
        stock = medians["stock"][name]
        print(f"| {name} | {stock:.2f} | {ours:.2f} | {stock / ours:.2f} |")


def cpu_name() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(": ", 1)[1] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
