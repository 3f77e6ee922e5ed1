"""Splits the training step of models of the zoo by op type and by cause, and holds it against the roofline of this machine.

Each model is trained once in each of the ways of run.py; every tenth step from the 30th on is traced. Times of ops are busy times of all
threads, so they add up to more than the step where ops run side by side, and the threads of tf.data are not in them. Flags behind
`--` go to every train.py. Writes steps.md, steps.json and steps.png into --output_dir.
"""

import json
import os
import subprocess
import sys
from typing import List

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import comparison, step_report, ways
from bench.step_report import Machine, Step
from bench.traced import Cost
from common import cli, flags
from common.errors import InputError
from common.progress import log, start_logging
from common.report import write_json

_ROOFLINE, _TRACED = (os.path.join(ways.ZOO, "bench", name) for name in ("roofline.py", "traced.py"))
_SECONDS_OF_ROOFLINE = 300


def measure_machine(python: str, threads: int) -> Machine:
    command = [python, _ROOFLINE, str(threads)]
    done = subprocess.run(command, text=True, capture_output=True, timeout=_SECONDS_OF_ROOFLINE)
    if done.returncode:
        raise InputError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return Machine(**json.loads(done.stdout.splitlines()[-1]))


def trace(model: str, way: str, args, stop: cli.StopRequest) -> Step:
    out = os.path.abspath(os.path.join(ways.folder(model, way, args), "trace.json"))
    ways.run(model, way, "trace.log", args, stop, [_TRACED, out, way])
    with open(out, encoding="utf-8") as file:
        content = json.load(file)
    return Step(model, way, content["step_microseconds"], {op: Cost(*cost) for op, cost in content["ops"].items()})


def main(arguments: List[str], stop: cli.StopRequest) -> None:
    parser = flags.Parser(__doc__.split("\n\n")[0])
    parser.add_argument("--most", type=flags.positive_int, default=15, metavar="N", help="op types listed of a step")
    args = ways.parse(parser, arguments)
    start_logging()
    os.makedirs(args.output_dir, exist_ok=True)
    machine = measure_machine(args.ours, args.threads)
    steps = []
    for model in args.models:
        for way in args.ways:
            log.info("tracing %s, %s", model, way)
            steps.append(trace(model, way, args, stop))
    title = (
        f"{comparison.machine()}; {args.threads} threads: {machine.gflops:.0f} GFLOP/s of float32 products, "
        f"{machine.gigabytes:.1f} GB/s of copies"
    )
    text = step_report.table(steps, machine, args.threads)
    lists = "\n\n".join(
        f"{step.model}, {step.way}:\n\n{step_report.op_table(step, machine, args.threads, args.most)}" for step in steps
    )
    with open(os.path.join(args.output_dir, "steps.md"), "w", encoding="utf-8") as file:
        file.write(f"{title}\n\n{text}\n\n{lists}\n")
    write_json(
        os.path.join(args.output_dir, "steps.json"),
        {"machine": machine._asdict(), "flags": args.flags, "steps": [step._asdict() for step in steps]},
    )
    step_report.plot(os.path.join(args.output_dir, "steps.png"), title, steps)
    print(f"{title}\n{text}")


if __name__ == "__main__":
    cli.run(main)
