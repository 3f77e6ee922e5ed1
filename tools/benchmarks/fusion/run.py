#!/usr/bin/env python3
"""What graph fusion saves, template by template: this wheel with and without it, and the stock one, interleaved.

python run.py --ours VENV/bin/python --stock STOCK_VENV/bin/python
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from workers import Worker, cpu_name, medians_in_turn, ours_and_stock

_WORKER = pathlib.Path(__file__).with_name("worker.py")
_CALLS = 50


def main() -> None:
    args = ours_and_stock(__doc__)
    sides = {"stock": (args.stock, False), "without": (args.ours, False), "with": (args.ours, True)}
    workers = {}
    for name, (python, fusion) in sides.items():
        workers[name] = Worker(python, _WORKER)
        workers[name].ask({"fusion": fusion})
    medians = medians_in_turn(workers, args.repeats, {"measure": _CALLS})
    print(f"{cpu_name()}, 2 threads; median of {args.repeats} interleaved turns of {_CALLS} calls of session.run.\n")
    print("| template: case | stock us | without us | with us | without / with |\n|---|---|---|---|---|")
    for case in medians["with"]:
        stock, without, fused = (medians[name][case] for name in sides)
        print(f"| {case} | {stock:.0f} | {without:.0f} | {fused:.0f} | {without / fused:.2f} |")


if __name__ == "__main__":
    main()
