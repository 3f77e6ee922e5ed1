#!/usr/bin/env python3
"""Four micro batches a step: put together behind the iterator, as copies of the graph, and as one plain batch; interleaved.

VENV/bin/python run.py      with the wheel of this project in VENV
"""

import argparse
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from workers import Worker, cpu_name

_WORKER = pathlib.Path(__file__).with_name("worker.py")
_FORMS = ("plain batch", "micro batches", "copies of the graph")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[128, 1024], help="rows of a micro batch")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--steps", type=int, default=30)
    args = parser.parse_args()
    for name in ("repeats", "steps"):
        if getattr(args, name) < 1:
            parser.error(f"--{name} must be positive")
    print(f"{cpu_name()}, 2 threads; medians of {args.repeats} interleaved turns of {args.steps} steps.\n")
    print(
        "| rows of a micro batch | form | nodes | ms a step | samples/s | peak memory (MB) |\n|---|---|---|---|---|---|"
    )
    for rows in args.rows:
        workers = {form: Worker(sys.executable, _WORKER) for form in _FORMS}
        nodes = {form: worker.ask({"form": form, "rows": rows})["nodes"] for form, worker in workers.items()}
        times, peaks = {form: [] for form in _FORMS}, {}
        for _ in range(args.repeats):
            for form, worker in workers.items():
                answer = worker.ask({"steps": args.steps})
                times[form] += answer["ms"]
                peaks[form] = answer["peak_mb"]
        for worker in workers.values():
            worker.stop()
        for form in _FORMS:
            ms = statistics.median(times[form])
            print(f"| {rows} | {form} | {nodes[form]} | {ms:.2f} | {4000 * rows / ms:,.0f} | {peaks[form]:.0f} |")


if __name__ == "__main__":
    main()
