"""Command-line flags that every model of the zoo has, named as in DeepRec's modelzoo where the meaning is the same."""

import argparse
import math
import os
import sys
from typing import Callable, NoReturn, Optional, Sequence

_SYNTHETIC_ROWS = 400_000
_SYNTHETIC_EVAL_ROWS = 40_000
_CURVE_ROWS = 20_000


class _Formatter(argparse.HelpFormatter):
    """Appends the default where there is one and the text does not tell it."""

    def _get_help_string(self, action: argparse.Action) -> str:
        if not action.default or action.default is argparse.SUPPRESS or "default:" in action.help:
            return action.help
        return f"{action.help} (default: %(default)s)".strip()


class Parser(argparse.ArgumentParser):
    """argparse with whole flag names only and one-line errors."""

    def __init__(self, description: str):
        super().__init__(description=description, allow_abbrev=False, formatter_class=_Formatter)

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: error: {message} (--help lists the flags)", file=sys.stderr)
        sys.exit(2)


def _number(kind, accept: Callable[[float], bool], expected: str):
    def parse(text: str):
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not accept(value):
            raise argparse.ArgumentTypeError(f"got {text!r}, expected {expected}")
        return value

    return parse


positive_int = _number(int, lambda x: 0 < x < 2**63, "a positive integer")
non_negative_int = _number(int, lambda x: 0 <= x < 2**63, "an integer of at least 0")
positive_float = _number(float, lambda x: 0 < x < math.inf, "a positive number")
non_negative_float = _number(float, lambda x: 0 <= x < math.inf, "a number of at least 0")
fraction = _number(float, lambda x: 0 < x < 1, "a number between 0 and 1")
# Of threads, and of batches a step: what ConfigProto takes, and a process can have.
up_to_1024 = _number(int, lambda x: 0 <= x <= 1024, "an integer from 0 to 1024")
seed = _number(int, lambda x: 0 <= x < 2**31, "an integer from 0 to 2147483647")


def boolean(text: str) -> bool:
    """DeepRec's switches take a word."""
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"got {text!r}, expected true or false")
    return text.lower() == "true"


def int_list(text: str) -> tuple:
    """`256,128` -> (256, 128)."""
    return tuple(positive_int(part) for part in text.split(","))


def add_data_flags(parser: argparse.ArgumentParser):
    """Adds the flags; returns the group, for those of a format."""
    group = parser.add_argument_group("data")
    group.add_argument("--data", nargs="+", metavar="FILE", help="training files; without it a set is generated")
    group.add_argument("--eval_data", nargs="+", metavar="FILE", help="evaluation files of the same format")
    group.add_argument(
        "--data_location",
        metavar="DIR",
        help="instead of --data and --eval_data: a folder with both under the names of DeepRec's modelzoo, see README.md",
    )
    add_switch(
        group, "--parquet_dataset", False, "--data and --eval_data are Parquet files, made by modelzoo/to_parquet.py"
    )
    add_switch(
        group,
        "--parquet_dataset_shuffle",
        None,
        "whether rows of --parquet_dataset are shuffled; false: --shuffle_buffer 0",
    )
    group.add_argument(
        "--holdout",
        type=fraction,
        metavar="F",
        help="with --data but no --eval_data: the last part of the rows, held out for evaluation (default: 0.1)",
    )
    group.add_argument(
        "--synthetic_rows",
        type=positive_int,
        metavar="N",
        help=f"rows of the generated training set (default: {_SYNTHETIC_ROWS})",
    )
    group.add_argument(
        "--synthetic_eval_rows",
        type=positive_int,
        metavar="N",
        help=f"rows of the generated held-out set (default: {_SYNTHETIC_EVAL_ROWS})",
    )
    group.add_argument(
        "--bad_rows",
        choices=("fail", "skip"),
        default="fail",
        help="a malformed row ends the program, or is counted and left out",
    )
    group.add_argument(
        "--shuffle_buffer",
        type=non_negative_int,
        default=20_000,
        metavar="N",
        help="rows to shuffle among; 0 keeps the order of the files",
    )
    group.add_argument(
        "--workqueue",
        action="store_true",
        help="files are cut into works that a WorkQueue hands out, to all workers of a cluster; checkpoints have what is left",
    )
    return group


def add_run_flags(parser: argparse.ArgumentParser, output_dir: str) -> None:
    group = parser.add_argument_group("run")
    group.add_argument("--output_dir", default=output_dir, metavar="DIR", help="where everything is written")
    group.add_argument("--checkpoint", metavar="DIR", help="checkpoints (default: OUTPUT_DIR/checkpoint)")
    group.add_argument("--restart", action="store_true", help="remove the checkpoints and begin again")
    group.add_argument(
        "--steps",
        type=non_negative_int,
        default=0,
        metavar="N",
        help="train up to this global step; 0: as --epochs says",
    )
    group.add_argument("--epochs", type=positive_int, metavar="N", help="passes over the data (default: 1)")
    group.add_argument("--batch_size", type=positive_int, default=512, metavar="N", help="rows per step")
    group.add_argument(
        "--save_steps",
        type=positive_int,
        default=500,
        metavar="N",
        help="steps between checkpoints; the last step is always saved",
    )
    group.add_argument(
        "--incremental_ckpt",
        type=non_negative_int,
        default=0,
        metavar="S",
        help="seconds between incremental checkpoints: what has changed since the last whole one; 0: none",
    )
    group.add_argument(
        "--keep_checkpoint_max", type=non_negative_int, default=2, metavar="N", help="checkpoints to keep; 0: all"
    )
    group.add_argument(
        "--log_steps", type=positive_int, default=100, metavar="N", help="steps between log lines and between summaries"
    )
    group.add_argument(
        "--eval_steps",
        type=non_negative_int,
        default=0,
        metavar="N",
        help="steps between points of the curve; 0: a tenth of the steps",
    )
    group.add_argument(
        "--curve_rows",
        type=positive_int,
        metavar="N",
        help=f"rows evaluated for a point of the curve (default: {_CURVE_ROWS}); the result uses all",
    )
    group.add_argument("--no_eval", action="store_true", help="train only")
    group.add_argument(
        "--export",
        action="store_true",
        help="write a SavedModel of the last checkpoint to OUTPUT_DIR/saved_model, load it, and predict from it",
    )
    group.add_argument(
        "--timeline", type=non_negative_int, default=0, metavar="N", help="write a Chrome trace every N steps; 0: none"
    )
    group.add_argument(
        "--protocol",
        choices=("grpc", "grpc++", "star_server"),
        default="grpc",
        help="of the cluster in TF_CONFIG; those of DeepRec are not there, and grpc serves in their place",
    )
    group.add_argument("--seed", type=seed, default=2021, metavar="N", help="of data, shuffle and initial weights")
    group.add_argument(
        "--inter", type=up_to_1024, default=0, metavar="N", help="threads that run ops; 0: TensorFlow's choice"
    )
    group.add_argument(
        "--intra", type=up_to_1024, default=0, metavar="N", help="threads within an op; 0: TensorFlow's choice"
    )
    group.add_argument("--xla", action="store_true", help="compile clusters of ops with XLA")
    add_switch(group, "--op_fusion", True, "graph fusion (do_op_fusion)")
    add_switch(group, "--smartstaged", False, "read, parse and hash ahead of the step: tf.staged and SmartStage")
    group.add_argument(
        "--micro_batch",
        type=up_to_1024,
        default=0,
        metavar="N",
        help="a step trains on the rows of N batches together; 0 or 1: of one",
    )


def data_files(args: argparse.Namespace, names: Sequence[str]):
    """The training and the evaluation files that are asked for, lists of paths or None.

    Args:
      args: checked flags.
      names: of the two text files in a folder of --data_location; those of Parquet files end in .parquet instead.
    """
    if args.data_location is None:
        return args.data, args.eval_data
    if args.parquet_dataset:
        names = [os.path.splitext(name)[0] + ".parquet" for name in names]
    return tuple([os.path.join(args.data_location, name)] for name in names)


def add_switch(group, name: str, default: Optional[bool], what: str) -> None:
    """A flag that is true without a word, as in `--op_fusion false`; without a default it tells it in `what`."""
    group.add_argument(
        name,
        type=boolean,
        nargs="?",
        const=True,
        default=default,
        metavar="true|false",
        help=what if default is None else f"{what} (default: {str(default).lower()})",
    )


def lines_per_step(args: argparse.Namespace) -> int:
    return args.batch_size * max(1, args.micro_batch)


def check(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Rejects flags that would have no effect, and fills in the defaults that depend on others."""

    def reject(flag: str, because: str) -> None:
        if getattr(args, flag) is not None:
            parser.error(f"--{flag} has no effect {because}")

    if args.data_location is not None:
        for flag in ("data", "eval_data", "holdout", "synthetic_rows", "synthetic_eval_rows"):
            reject(flag, "with --data_location")
    elif args.data:
        reject("synthetic_rows", "with --data")
        reject("synthetic_eval_rows", "with --data")
    elif args.eval_data:
        parser.error("--eval_data needs --data")
    if args.parquet_dataset and not args.data and args.data_location is None:
        parser.error("--parquet_dataset needs --data or --data_location")
    if not args.parquet_dataset:
        reject("parquet_dataset_shuffle", "without --parquet_dataset")
    elif args.parquet_dataset_shuffle and not args.shuffle_buffer:
        parser.error("--parquet_dataset_shuffle and --shuffle_buffer 0 contradict each other")
    elif args.parquet_dataset_shuffle is False:
        args.shuffle_buffer = 0
    if args.parquet_dataset and args.workqueue:
        parser.error("--workqueue hands out pieces of text files; leave it or --parquet_dataset out")
    if args.parquet_dataset and args.bad_rows == "skip":
        parser.error("--bad_rows skip has no effect with --parquet_dataset")
    if not args.data:
        reject("holdout", "without --data")
    if args.eval_data:
        reject("holdout", "with --eval_data")
    if args.no_eval:
        reject("eval_data", "with --no_eval")
        reject("holdout", "with --no_eval")
        reject("curve_rows", "with --no_eval")
        reject("synthetic_eval_rows", "with --no_eval")
    if args.steps:
        reject("epochs", "with --steps")
    args.holdout = args.holdout or 0.1
    args.synthetic_rows = args.synthetic_rows or _SYNTHETIC_ROWS
    args.synthetic_eval_rows = args.synthetic_eval_rows or _SYNTHETIC_EVAL_ROWS
    args.curve_rows = args.curve_rows or _CURVE_ROWS
    args.epochs = args.epochs or 1
    args.checkpoint = args.checkpoint or os.path.join(args.output_dir, "checkpoint")
