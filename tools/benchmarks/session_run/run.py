#!/usr/bin/env python3
"""What a call of session.run costs on small graphs: this wheel against the stock one, interleaved.

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
    workers = {"ours": Worker(args.ours, _WORKER), "stock": Worker(args.stock, _WORKER)}
    medians = medians_in_turn(workers, args.repeats, {"measure": _CALLS})
    print(f"{cpu_name()}, 2 threads; median of {args.repeats} interleaved turns of {_CALLS} calls.\n")
    print("| graph | stock us | ours us | ratio |\n|---|---|---|---|")
    for case, ours in medians["ours"].items():
        stock = medians["stock"][case]
        print(f"| {case} | {stock:.0f} | {ours:.0f} | {stock / ours:.1f} |")


if __name__ == "__main__":
    main()
