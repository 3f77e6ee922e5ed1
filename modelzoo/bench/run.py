"""Trains models of the zoo with this wheel and with the released TensorFlow, in turn, and compares time, memory and AUC.

Each round trains each model once in each of three ways, in a process of its own, on the same files with the same flags:

  ours    this wheel; --ours_flags are added
  plain   this wheel with its kernels, fusions and executor off, and --tf
  stock   tensorflow-cpu with tf_keras in a venv of its own, through tf.compat.v1, and --tf

Flags behind `--` go to every train.py. Writes bench.md, bench.json and bench.png into --output_dir; the logs stay there.
"""

import argparse
import json
import os
import sys
from typing import List

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import comparison, ways
from common import cli, flags
from common.progress import log, start_logging
from common.report import write_json


def parse(arguments: List[str]) -> argparse.Namespace:
    parser = flags.Parser(__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=flags.positive_int, default=3, metavar="N", help="the median of these counts")
    return ways.parse(parser, arguments)


def train(model: str, way: str, number: int, args: argparse.Namespace, stop: cli.StopRequest) -> dict:
    """One training; the content of its result.json."""
    ways.run(model, way, f"{number}.log", args, stop)
    with open(os.path.join(ways.folder(model, way, args), "result.json"), encoding="utf-8") as file:
        return json.load(file)


def main(arguments: List[str], stop: cli.StopRequest) -> None:
    args = parse(arguments)
    start_logging()
    trainings = []
    for number in range(args.rounds):
        for model in args.models:
            for way in args.ways:
                log.info("round %s of %s: %s, %s", number + 1, args.rounds, model, way)
                trainings.append(comparison.Training.of(model, way, train(model, way, number, args, stop)))
    rows = comparison.rows(trainings)
    title = f"{comparison.machine()}; {args.threads} threads, median of {args.rounds} rounds"
    text = comparison.table(rows)
    with open(os.path.join(args.output_dir, "bench.md"), "w", encoding="utf-8") as file:
        file.write(f"{title}\n\n{text}\n")
    content = {
        "machine": comparison.machine(),
        "flags": args.flags,
        "ours_flags": args.ours_flags,
        "trainings": [training._asdict() for training in trainings],
    }
    write_json(os.path.join(args.output_dir, "bench.json"), content)
    comparison.plot(os.path.join(args.output_dir, "bench.png"), title, rows)
    print(f"{title}\n{text}")


if __name__ == "__main__":
    cli.run(main)
