#!/usr/bin/env python3
"""EmbeddingVariables against tensorflow-recommenders-addons and against tf.get_variable of the stock wheel, interleaved.

    python run.py --ours VENV/bin/python --stock STOCK_VENV/bin/python --tfra TFRA_VENV/bin/python --out results

The workers, one per Python, live side by side and are timed in turn (A B A B ...); a turn is one untimed call and four
timed ones, each on fresh ids by Zipf's law. Forty untimed calls of each come first: while the other side fills its table,
the machine lets go of what it held of this one, and the first calls take several times as long. Writes OUT/embedding_variable.md and .json. A venv for --tfra:

    pip install tensorflow==2.16.2 "tf_keras~=2.16.0" tensorflow-recommenders-addons==0.8.1
"""

import argparse
import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from workers import Worker, cpu_name

_WORKER = pathlib.Path(__file__).with_name("worker.py")
_WARM_UP = 4
# (what, optimizer or None for the lookup alone, keys, the other side)
CASES = [
    ("lookup", None, 1_000_000, "tfra"),
    ("lookup", None, 10_000_000, "tfra"),
    ("lookup + Adam", "adam", 1_000_000, "tfra"),
    ("lookup + Adam", "adam", 10_000_000, "tfra"),
    ("lookup", None, 1_000_000, "stock"),
    ("lookup + Adagrad", "adagrad", 1_000_000, "stock"),
    ("lookup + Adagrad", "adagrad", 10_000_000, "stock"),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="a Python with this wheel")
    parser.add_argument("--stock", help="a Python with tensorflow-cpu 2.21.0")
    parser.add_argument("--tfra", help="a Python with tensorflow-recommenders-addons")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--batch", type=int, default=13312)
    parser.add_argument("--dim", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    if min(args.repeats, args.batch, args.dim, args.threads) < 1:
        parser.error("--repeats, --batch, --dim and --threads must be positive")
    results = []
    for what, optimizer, keys, side in CASES:
        if getattr(args, side) is None:
            continue
        # Fresh processes: a table of ten million keys is not to be in the way of the next case.
        workers = {"ours": Worker(args.ours, _WORKER), side: Worker(getattr(args, side), _WORKER)}
        common = {"keys": keys, "dim": args.dim, "batch": args.batch, "optimizer": optimizer, "threads": args.threads}
        for name, worker in workers.items():
            worker.ask({"setup": {"side": name, **common}})
        for _ in range(_WARM_UP):
            for worker in workers.values():
                worker.ask({"measure": 10})
        seconds = {name: [] for name in workers}
        for _ in range(args.repeats):
            for name, worker in workers.items():
                seconds[name] += worker.ask({"measure": 5})["seconds"][1:]
        for worker in workers.values():
            worker.stop()
        results.append({"case": what, "other": side, **common, "seconds": seconds})
        print(row_of(results[-1]), flush=True)

    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "embedding_variable.json").write_text(
        json.dumps({"cpu": cpu_name(), "results": results}, indent=1) + "\n"
    )
    lines = [
        f"{cpu_name()}, {args.threads} threads; {args.batch} ids by Zipf(1.05), rows of {args.dim} floats; median of "
        f"{args.repeats} interleaved turns of four calls.",
        "",
        "| case | keys | against | its us | ours us | ratio |",
        "|---|---|---|---|---|---|",
        *map(row_of, results),
    ]
    (args.out / "embedding_variable.md").write_text("\n".join(lines) + "\n")
    return 0


def row_of(result: dict) -> str:
    ours, other = (statistics.median(result["seconds"][side]) * 1e6 for side in ("ours", result["other"]))
    return f"| {result['case']} | {result['keys']:,} | {result['other']} | {other:,.0f} | {ours:,.0f} | {other / ours:.1f} |"


if __name__ == "__main__":
    sys.exit(main())
