#!/usr/bin/env python3
"""Sparse optimizer steps of this wheel against the stock wheel, interleaved.

    python run.py --ours VENV/bin/python --stock STOCK_VENV/bin/python --out results [--roofline sparse_apply_bench]

Two workers, one per Python, live side by side and are timed in turn (A B A B ...); a turn is one untimed call, which
brings the caches and thread pools back from the other side, and two timed ones. Each case is timed with many train steps
in one session.run, so that the cost of a run does not hide the op, and with one step per run. Writes OUT/sparse_apply.md
and OUT/sparse_apply.json.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from workers import Worker, cpu_name

_WORKER = pathlib.Path(__file__).with_name("worker.py")

SLOTS = {"sgd": 0, "adagrad": 1, "momentum": 1, "ftrl": 2, "rmsprop": 2, "adam": 2, "adam lazy": 2}
# (optimizer, rows, steps per run, moments all zero)
CASES = [
    ("sgd", 1_000_000, 32, False),
    ("adagrad", 1_000_000, 32, False),
    ("momentum", 1_000_000, 32, False),
    ("ftrl", 1_000_000, 32, False),
    ("rmsprop", 1_000_000, 32, False),
    ("adam", 1_000_000, 4, False),
    ("adam", 1_000_000, 4, True),
    ("adam lazy", 1_000_000, 4, False),
    ("adam lazy", 10_000_000, 2, False),
]


def compare(ours: Worker, stock: Worker, setup: dict, repeats: int) -> dict:
    """Median seconds per step of both, from `repeats` alternating timings."""
    info = ours.ask({"setup": setup})
    stock.ask({"setup": setup})
    seconds = {"ours": [], "stock": []}
    for _ in range(repeats):
        seconds["stock"] += stock.ask({"measure": 3})["seconds"][1:]
        seconds["ours"] += ours.ask({"measure": 3})["seconds"][1:]
    return {
        "distinct": info["distinct"],
        **{k: statistics.median(v) for k, v in seconds.items()},
        "fastest": {k: min(v) for k, v in seconds.items()},
    }


def bytes_moved(optimizer: str, rows: int, dim: int, batch: int, distinct: float, fresh: bool) -> float:
    """Bytes one step must move: gradients and ids once, table and slots read and written where they change."""
    gradient = batch * (dim * 4 + 8)
    if optimizer == "adam":
        # A table without history is read (m and v) and not written.
        return gradient + rows * dim * (8 if fresh else 24)
    return gradient + distinct * dim * 8 * (1 + SLOTS[optimizer])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="a Python with this wheel")
    parser.add_argument("--stock", required=True, help="a Python with tensorflow-cpu 2.21.0")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--roofline", help="the built //tensorflow/core/sparse:sparse_apply_bench")
    parser.add_argument("--only", help="optimizers, comma separated")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--batch", type=int, default=13312)
    parser.add_argument("--dim", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    if args.repeats < 1 or args.batch < 1 or args.dim < 1 or args.threads < 1:
        parser.error("--repeats, --batch, --dim and --threads must be positive")
    only = args.only.split(",") if args.only else None
    if only and not set(only) <= SLOTS.keys():
        parser.error(f"--only takes {', '.join(SLOTS)}; got {args.only}")

    roofline = []
    if args.roofline:
        done = subprocess.run(
            [os.path.abspath(args.roofline), "1000000", str(args.dim), str(args.batch), str(args.threads)],
            capture_output=True,
            text=True,
            check=True,
        )
        roofline = done.stdout.splitlines()

    ours, stock = Worker(args.ours, _WORKER), Worker(args.stock, _WORKER)
    results = []
    for optimizer, rows, steps, fresh in CASES:
        if only and optimizer not in only:
            continue
        for resource in (False, True):
            setup = {
                "optimizer": optimizer,
                "rows": rows,
                "dim": args.dim,
                "batch": args.batch,
                "resource": resource,
                "threads": args.threads,
                "fresh": fresh,
            }
            many = compare(ours, stock, {**setup, "steps": steps}, args.repeats)
            one = compare(ours, stock, {**setup, "steps": 1}, args.repeats)
            moved = bytes_moved(optimizer, rows, args.dim, args.batch, many["distinct"], fresh)
            results.append({**setup, "steps": steps, "many": many, "one": one, "bytes": moved})
            print(row_of(results[-1]), flush=True)
    ours.stop()
    stock.stop()

    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "sparse_apply.json").write_text(
        json.dumps({"cpu": cpu_name(), "roofline": roofline, "results": results}, indent=1) + "\n"
    )
    lines = [
        f"{cpu_name()}, {args.threads} threads; {args.batch} gradients of {args.dim} floats, ids Zipf(1.05); "
        f"median of {args.repeats} interleaved turns of two calls.",
        "",
        "Many steps: that many train steps in one `session.run`, time per step. One step: one per `session.run`.",
        "Stock has no lazy Adam: there the exact one is compared. Bytes and GB/s are of ours, many steps.",
        "",
        "| optimizer | rows | variable | steps | stock us | ours us | ratio | one step: stock us | ours us | ratio "
        "| MB moved | GB/s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
        *map(row_of, results),
    ]
    if roofline:
        lines += ["", "Rooflines and the kernels alone, from `sparse_apply_bench`:", "", "```", *roofline, "```"]
    (args.out / "sparse_apply.md").write_text("\n".join(lines) + "\n")
    return 0


def row_of(r: dict) -> str:
    many, one = r["many"], r["one"]
    name = r["optimizer"] + (" (rows without history)" if r["fresh"] else "")
    return (
        f"| {name} | {r['rows']:,} | {'resource' if r['resource'] else 'ref'} | {r['steps']} "
        f"| {many['stock'] * 1e6:,.0f} | {many['ours'] * 1e6:,.0f} | {many['stock'] / many['ours']:.1f} "
        f"| {one['stock'] * 1e6:,.0f} | {one['ours'] * 1e6:,.0f} | {one['stock'] / one['ours']:.1f} "
        f"| {r['bytes'] / 1e6:.1f} | {r['bytes'] / many['ours'] / 1e9:.1f} |"
    )


if __name__ == "__main__":
    sys.exit(main())
