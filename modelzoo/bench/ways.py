"""The ways a model is trained in, as commands and environments: see run.py."""

import argparse
import os
import subprocess
import sys
from typing import Dict, List

from bench import comparison
from common import cli, flags, processes
from common.errors import InputError

ZOO = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIX = ("wide_and_deep", "dlrm", "deepfm", "din", "dien", "mmoe")
_START = os.path.join(ZOO, "bench", "start.py")
_OFF = {"TF_DEEPREC_DISABLE_KERNELS": "all", "TF_DEEPREC_DISABLE_FUSIONS": "all", "TF_DEEPREC_CALLER_THREAD": "0"}
# Read by TensorFlow or by this wheel: what the shell sets must not decide for one side.
_CLEARED = ("TF_", "PYTHONPATH", "OMP_", "KMP_", "ONEDNN_", "DNNL_")


def parse(parser: flags.Parser, arguments: List[str], only_ours: bool = False) -> argparse.Namespace:
    """Parses the flags of `parser` and those of every comparison; `flags` are those behind `--`.

    Args:
      only_ours: leaves out the flags that choose other ways than this wheel's.
    """
    if not only_ours:
        parser.add_argument(
            "--stock", required=True, metavar="PYTHON", help="of a venv with tensorflow-cpu and tf_keras"
        )
        parser.add_argument("--ways", nargs="+", choices=comparison.WAYS, default=list(comparison.WAYS))
    parser.add_argument("--ours", default=sys.executable, metavar="PYTHON", help="of a venv with this wheel")
    parser.add_argument("--models", nargs="+", default=list(SIX), metavar="NAME")
    parser.add_argument("--threads", type=flags.positive_int, default=2, metavar="N", help="--inter and --intra")
    parser.add_argument(
        "--ours_flags", nargs="*", default=[], metavar="FLAG", help="without the dashes, as in group_embedding bf16"
    )
    parser.add_argument("--output_dir", default="bench_output", metavar="DIR")
    parser.add_argument("--timeout", type=flags.positive_float, default=3600.0, metavar="S", help="of one training")
    split = arguments.index("--") if "--" in arguments else len(arguments)
    args = parser.parse_args(arguments[:split])
    args.flags = arguments[split + 1 :]
    for name in args.models:
        if not os.path.exists(script(name)):
            parser.error(f"argument --models: got {name!r}, expected a folder of modelzoo with a train.py")
    for name in ("ours",) if only_ours else ("stock", "ours"):
        if not os.access(getattr(args, name), os.X_OK):
            parser.error(f"argument --{name}: got {getattr(args, name)!r}, expected a Python")
    return args


def script(model: str) -> str:
    return os.path.join(ZOO, model, "train.py")


def folder(model: str, way: str, args: argparse.Namespace) -> str:
    """Where such a training writes; the generated set in it is made once for all ways."""
    path = os.path.join(args.output_dir, model, way)
    shared, link = os.path.join(args.output_dir, model, "data"), os.path.join(path, "data")
    os.makedirs(path, exist_ok=True)
    os.makedirs(shared, exist_ok=True)
    if not os.path.islink(link):
        os.symlink(os.path.abspath(shared), link)
    return path


def run(
    model: str, way: str, log_name: str, args: argparse.Namespace, stop: cli.StopRequest, runner: List[str] = ()
) -> None:
    """One training, by `runner`, a script and its arguments that run a train.py, if there is one.

    Raises:
      InputError: it failed, or took longer than --timeout; names the log.
      Stopped: by a signal.
    """
    path = folder(model, way, args)
    python = args.stock if way == "stock" else args.ours
    own = [f"--{flag}" for flag in args.ours_flags] if way == "ours" else ["--tf"]
    threads = ["--inter", str(args.threads), "--intra", str(args.threads)]
    start = [python, *(runner or [_START, way])]
    command = [*start, script(model), "--restart", "--output_dir", path, *threads, *args.flags, *own]
    log_path = os.path.join(path, log_name)
    try:
        code = processes.run(command, log_path, args.timeout, stop, environment(way))
    except subprocess.TimeoutExpired:
        raise InputError(f"{model}, {way}: not done after {args.timeout:g} s; {log_path}") from None
    stop.raise_if_set("nothing was compared")
    if code:
        raise InputError(f"{model}, {way}: exit code {code}: {processes.last_line(log_path)}; {log_path}")


def environment(way: str) -> Dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_CLEARED)}
    return {**kept, **(_OFF if way == "plain" else {})}
