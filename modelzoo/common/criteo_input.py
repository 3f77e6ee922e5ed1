"""What a Criteo model trains and evaluates on, from its flags: real files or the generated set."""

import argparse
import os
from typing import List, Optional

import tensorflow as tf

from common import criteo, criteo_reader, criteo_synthetic
from common.cli import StopRequest
from common.errors import InputError
from common.progress import Progress, log


class CriteoInput:
    """Training and evaluation rows.

    train_rows, eval_rows: lines in each part, malformed ones included; eval_rows is 0 with --no_eval.
    description: facts for the result file.
    """

    def __init__(self, args: argparse.Namespace, stop: StopRequest):
        if args.data:
            train_paths, eval_paths = args.data, args.eval_data
        else:
            train_paths, eval_paths = ([path] for path in self._generate(args, stop))
        self._args = args
        self._train_files = criteo.inspect_all(train_paths)
        rows = sum(file.rows for file in self._train_files)
        if args.no_eval:
            self._eval_files, self._eval_skip, self.eval_rows = [], 0, 0
        elif eval_paths:
            self._eval_files, self._eval_skip = criteo.inspect_all(eval_paths), 0
            self.eval_rows = sum(file.rows for file in self._eval_files)
        else:
            self.eval_rows = round(rows * args.holdout)
            self._eval_files, self._eval_skip = self._train_files, rows - self.eval_rows
            if not 0 < self.eval_rows < rows:
                raise InputError(
                    f"--holdout {args.holdout:g} of {rows} rows leaves {rows - self.eval_rows} to train and "
                    f"{self.eval_rows} to evaluate; give --eval_data, --no_eval or another --holdout"
                )
        self.train_rows = self._eval_skip or rows

        skip = args.bad_rows == "skip"
        self._bad_train_rows = criteo_reader.BadRows(skip, log.warning)
        self._bad_eval_rows = criteo_reader.BadRows(skip, log.warning)
        held_out = f", the last {self.eval_rows:,} rows of them held out" if self._eval_skip else ""
        log.info("training on %s rows of %s%s", f"{self.train_rows:,}", _names(self._train_files), held_out)
        if eval_paths and not args.no_eval:
            log.info("evaluating on %s rows of %s", f"{self.eval_rows:,}", _names(self._eval_files))
        self.description = {
            "generated": not args.data,
            "train_rows": self.train_rows,
            "eval_rows": self.eval_rows,
            "train_files": [file.path for file in self._train_files],
            "eval_files": [file.path for file in self._eval_files],
        }

    @staticmethod
    def _generate(args: argparse.Namespace, stop: StopRequest) -> criteo_synthetic.SyntheticSet:
        directory = os.path.join(args.output_dir, "data")
        parameters = (directory, args.synthetic_rows, args.synthetic_eval_rows, args.seed)
        if criteo_synthetic.is_cached(*parameters):
            return criteo_synthetic.generate(*parameters)
        log.info("no --data: generating a Criteo-like set in %s", directory)
        with Progress("generated", args.synthetic_rows + args.synthetic_eval_rows, quiet_seconds=2.0) as progress:

            def wrote(rows: int) -> None:
                progress.advance(rows)
                stop.raise_if_set("the data set is unfinished and will be generated again")

            return criteo_synthetic.generate(*parameters, wrote)

    def training(self, start_line: int, end_line: int) -> tf.data.Dataset:
        """Batches of the lines [start_line, end_line) of the shuffled passes over the training rows."""
        return criteo_reader.training_batches(
            self._train_files,
            self._args.batch_size,
            self._bad_train_rows,
            rows=self.train_rows,
            shuffle_buffer=self._args.shuffle_buffer,
            seed=self._args.seed,
            start_line=start_line,
            end_line=end_line,
        )

    def evaluation(self, limit: tf.Tensor, batch_size: int) -> tf.data.Dataset:
        """The first `limit` evaluation rows (all, if negative), in order."""
        lines = criteo_reader.lines_dataset(self._eval_files).skip(self._eval_skip).take(limit)
        return criteo_reader.batches(lines, self._eval_files, batch_size, self._bad_eval_rows)

    @property
    def train_failure(self) -> Optional[str]:
        return self._bad_train_rows.failure

    @property
    def eval_failure(self) -> Optional[str]:
        return self._bad_eval_rows.failure


def _names(files: List[criteo.CriteoFile]) -> str:
    return files[0].path if len(files) == 1 else f"{files[0].path} and {len(files) - 1} more files"
