"""Trains models of the zoo with and without XLA, in turn, and tells what a step takes once everything is compiled, and what compiling took.

A step is the median of the second half of all steps; compiling is what the first half took beyond that. Flags behind `--` go to every train.py. Writes xla.md and xla.json into --output_dir.
"""

import json
import os
import statistics
import sys
from typing import List, NamedTuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import comparison, ways
from common import cli, flags
from common.progress import log, start_logging
from common.report import write_json

_STEP_TIMES = os.path.join(ways.ZOO, "bench", "step_times.py")


class Times(NamedTuple):
    """Milliseconds and CPU milliseconds of a step, seconds of compiling and of its CPU time."""

    step: float
    step_cpu: float
    compiling: float
    compiling_cpu: float


def times(seconds: List[float], cpu_seconds: List[float]) -> Times:
    """Of all steps of a training, in order."""
    half = len(seconds) // 2
    step, cpu = (statistics.median(values[half:]) for values in (seconds, cpu_seconds))
    return Times(step * 1e3, cpu * 1e3, sum(seconds[:half]) - half * step, sum(cpu_seconds[:half]) - half * cpu)


def table(found: dict) -> str:
    """Markdown, a line for each model; found: model -> (Times without, Times with XLA)."""
    lines = [
        "| model | step ms | with XLA | without / with | CPU ms | with XLA | first steps s | with XLA |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for model, (without, compiled) in found.items():
        lines.append(
            f"| {model} | {without.step:.1f} | {compiled.step:.1f} | {without.step / compiled.step:.2f} | "
            f"{without.step_cpu:.1f} | {compiled.step_cpu:.1f} | {without.compiling:.1f} | {compiled.compiling:.1f} |"
        )
    return "\n".join(lines)


def main(arguments: List[str], stop: cli.StopRequest) -> None:
    args = ways.parse(flags.Parser(__doc__.split("\n\n")[0]), arguments, only_ours=True)
    start_logging()
    found = {}
    own = args.ours_flags
    for model in args.models:
        pair = []
        for more in ([], ["xla"]):
            log.info("training %s %s XLA", model, "with" if more else "without")
            args.ours_flags = own + more
            out = os.path.abspath(os.path.join(ways.folder(model, "ours", args), "step_times.json"))
            ways.run(model, "ours", "xla.log" if more else "plain.log", args, stop, [_STEP_TIMES, out, "ours"])
            with open(out, encoding="utf-8") as file:
                pair.append(times(**json.load(file)))
        found[model] = pair
    title = f"{comparison.machine()}; {args.threads} threads"
    text = table(found)
    with open(os.path.join(args.output_dir, "xla.md"), "w", encoding="utf-8") as file:
        file.write(f"{title}\n\n{text}\n")
    write_json(os.path.join(args.output_dir, "xla.json"), {"machine": title, "flags": args.flags, "models": found})
    print(f"{title}\n{text}")


if __name__ == "__main__":
    cli.run(main)
