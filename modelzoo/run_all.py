"""Trains models of the zoo one after another, each in a process of its own, and compares them.

Flags behind `--` go to every train.py. Prints a table; writes results.json, results.png and, for each model, NAME.log and what
train.py leaves behind in NAME/. A model that fails is reported and the others still run.
"""

import argparse
import json
import os
import subprocess
import sys
from typing import List, Optional

from common import cli, comparison, flags, processes
from common.comparison import Run
from common.errors import InputError
from common.progress import log, start_logging
from common.report import write_json

_HERE = os.path.dirname(os.path.abspath(__file__))
_FLOORS = "floors.json"


def models() -> List[str]:
    """Names of all models: the folders with a train.py."""
    return sorted(name for name in os.listdir(_HERE) if os.path.exists(os.path.join(_HERE, name, "train.py")))


def parse(arguments: List[str]) -> argparse.Namespace:
    parser = flags.Parser(__doc__)
    parser.add_argument("--models", nargs="+", metavar="NAME", help=f"(default: all, which are {', '.join(models())})")
    parser.add_argument("--output_dir", default="run_all_output", metavar="DIR", help="where everything is written")
    parser.add_argument(
        "--resume", action="store_true", help="go on from the checkpoints of an earlier run, instead of beginning again"
    )
    parser.add_argument(
        "--no_floors",
        action="store_true",
        help="don't compare with the models' AUC floors, which hold for the default flags and the generated sets",
    )
    parser.add_argument(
        "--timeout", type=flags.positive_float, metavar="S", help="seconds after which a model counts as failed"
    )
    split = arguments.index("--") if "--" in arguments else len(arguments)
    args = parser.parse_args(arguments[:split])
    args.flags = arguments[split + 1 :]
    args.models = args.models or models()
    for name in args.models:
        if name not in models():
            parser.error(f"argument --models: got {name!r}, expected some of {', '.join(models())}")
    for flag in ("--output_dir", "--restart", "--checkpoint"):
        if any(given.split("=")[0] == flag for given in args.flags):
            parser.error(f"{flag} behind -- contradicts what this command gives each model")
    return args


def floors_of(name: str) -> Optional[dict]:
    """AUC that a run with the default flags on the generated set reaches, by task; None if the model states none."""
    path = os.path.join(_HERE, name, _FLOORS)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def run_model(name: str, args: argparse.Namespace, stop: cli.StopRequest) -> Run:
    folder = os.path.join(args.output_dir, name)
    command = [sys.executable, os.path.join(_HERE, name, "train.py"), "--output_dir", folder, *args.flags]
    if not args.resume:
        command.append("--restart")
    result_path = os.path.join(folder, "result.json")
    if os.path.exists(result_path):
        os.remove(result_path)
    floors = None if args.no_floors else floors_of(name)
    log_path = f"{folder}.log"
    try:
        code = processes.run(command, log_path, args.timeout, stop)
    except subprocess.TimeoutExpired:
        return Run(name, error=f"not done after {args.timeout:g} s; {log_path}", floors=floors)
    if code:
        return Run(name, error=f"exit code {code}: {processes.last_line(log_path)}; {log_path}", floors=floors)
    if not os.path.exists(result_path):
        # Such as with --help.
        return Run(name, error=f"no result.json: {processes.last_line(log_path)}; {log_path}", floors=floors)
    with open(result_path, encoding="utf-8") as file:
        return comparison.from_result(name, json.load(file), floors)


def main(arguments: List[str], stop: cli.StopRequest) -> None:
    args = parse(arguments)
    start_logging()
    try:
        os.makedirs(args.output_dir, exist_ok=True)
    except OSError as error:
        raise InputError(f"--output_dir: {args.output_dir}: {error.strerror}") from None
    runs = []
    for name in args.models:
        log.info("%s: %s of %s", name, len(runs) + 1, len(args.models))
        runs.append(run_model(name, args, stop))
        if stop.signum is not None:
            break
        if runs[-1].error:
            log.warning("%s failed: %s", name, runs[-1].error)
    json_path, plot_path = (os.path.join(args.output_dir, f"results.{kind}") for kind in ("json", "png"))
    write_json(json_path, {"flags": args.flags, "runs": [run._asdict() for run in runs]})
    drawn = comparison.plot(plot_path, runs)
    print(comparison.table(runs))
    print(f"details: {json_path}" + (f"   plot: {plot_path}" if drawn else ""))
    stop.raise_if_set(f"{len(runs)} of {len(args.models)} models were started; --resume goes on")
    wrong = [run.model for run in runs if run.error or run.reached is False]
    if wrong:
        raise InputError(f"failed, or below the AUC floor: {', '.join(wrong)}")


if __name__ == "__main__":
    cli.run(main)
