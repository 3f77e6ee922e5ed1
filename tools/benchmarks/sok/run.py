#!/usr/bin/env python3
"""Lookups of SparseOperationKit, with the training step behind them, against tf.nn.embedding_lookup_sparse of the stock wheel.

    python run.py --ours VENV/bin/python --stock STOCK_VENV/bin/python [--repeats 20] [--ranks 2]

2^20 keys, batch 8192, two keys a sample, drawn uniformly; "mean"; one `session.run` a step, with keys that are fed. Workers live side by
side and are timed in turn (A B A B ...), after one turn that is not counted. With --ranks above 1, ours is also timed under horovodrun, its
processes sharing the batch; that Python needs Horovod.
"""

import argparse
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from workers import Worker, cpu_name, medians_in_turn

_WORKER = pathlib.Path(__file__).with_name("worker.py")
_STEPS = 6


class Ranks(Worker):
    """The worker as several processes of Horovod."""

    def __init__(self, python, ranks):
        self._folder = tempfile.TemporaryDirectory()
        pipes = [os.path.join(self._folder.name, name) for name in ("requests", "answers")]
        for pipe in pipes:
            os.mkfifo(pipe)
        launcher = [python, "-m", "horovod.runner.launch", "-np", str(ranks), "-H", f"localhost:{ranks}", "--gloo"]
        self.process = subprocess.Popen(
            [*launcher, python, str(_WORKER.resolve()), *pipes],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOROVOD_CYCLE_TIME": "0"},
            cwd="/",
        )
        # For both directions: opening them must not wait for the other side, which may never come.
        self.process.stdin, self.process.stdout = (
            os.fdopen(os.open(pipe, os.O_RDWR), mode) for pipe, mode in zip(pipes, "wr")
        )

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        while not select.select([self.process.stdout], [], [], 1)[0]:
            if self.process.poll() is not None:
                raise RuntimeError(
                    f"the workers under {self.process.args[0]} ended with code {self.process.returncode}"
                )
        return json.loads(self.process.stdout.readline())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="a Python with this wheel")
    parser.add_argument("--stock", required=True, help="a Python with tensorflow-cpu 2.21.0")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=1, help="processes of Horovod that share the batch, too")
    args = parser.parse_args()
    if args.repeats < 1 or args.ranks < 1:
        parser.error("--repeats and --ranks must be positive")
    workers = {"stock": Worker(args.stock, _WORKER), "ours": Worker(args.ours, _WORKER)}
    if args.ranks > 1:
        workers["ranks"] = Ranks(os.path.abspath(args.ours), args.ranks)
    medians = medians_in_turn(workers, args.repeats, {"steps": _STEPS})
    print(f"{cpu_name()}; median of {args.repeats} interleaved turns of {_STEPS} steps.\n")
    header = "| table | dim | optimizer | stock us | ours us | ratio |"
    print(header + (f" ours, {args.ranks} processes us | ratio |" if args.ranks > 1 else ""))
    print("|---" * (6 + 2 * (args.ranks > 1)) + "|")
    for case, seconds in medians["ours"].items():
        kind, dim, optimizer = case.split()
        stock = medians["stock"][f"variable {dim} {optimizer}"]
        name = {"variable": "sok.Variable", "dynamic": "sok.DynamicVariable"}[kind]
        row = f"| {name} | {dim} | {optimizer} | {stock * 1e6:,.0f} | {seconds * 1e6:,.0f} | {stock / seconds:.1f} |"
        if args.ranks > 1:
            row += f" {medians['ranks'][case] * 1e6:,.0f} | {stock / medians['ranks'][case]:.1f} |"
        print(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
