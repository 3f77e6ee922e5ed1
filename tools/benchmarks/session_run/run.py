#!/usr/bin/env python3
"""What a call of session.run costs on small graphs: this wheel against the stock one, interleaved.

python run.py --ours VENV/bin/python --stock STOCK_VENV/bin/python
"""

import argparse
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from workers import Worker, cpu_name

_WORKER = pathlib.Path(__file__).with_name("worker.py")
_CALLS = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="a Python with this wheel")
    parser.add_argument("--stock", required=True, help="a Python with tensorflow-cpu 2.21.0")
    parser.add_argument("--repeats", type=int, default=20)
    args = parser.parse_args()
    if args.repeats < 1:
        parser.error("--repeats must be positive")
    workers = {"ours": Worker(args.ours, _WORKER), "stock": Worker(args.stock, _WORKER)}
    for worker in workers.values():
        worker.ask({"measure": _CALLS})
    times = {name: {} for name in workers}
    for _ in range(args.repeats):
        for name, worker in workers.items():
            for case, values in worker.ask({"measure": _CALLS}).items():
                times[name].setdefault(case, []).extend(values)
    for worker in workers.values():
        worker.stop()
    print(f"{cpu_name()}, 2 threads; median of {args.repeats} interleaved turns of {_CALLS} calls.\n")
    print("| graph | stock us | ours us | ratio |\n|---|---|---|---|")
    for case in times["ours"]:
        ours, stock = (statistics.median(times[name][case]) for name in ("ours", "stock"))
        print(f"| {case} | {stock:.0f} | {ours:.0f} | {stock / ours:.1f} |")


if __name__ == "__main__":
    main()
