"""What a model trains and evaluates on, from its flags: files of its format or the generated set."""

import argparse
import os
import time
from typing import List, Optional, Sequence

import tensorflow as tf

from common import clusters, flags, synthetic, text_file, text_reader
from common.cli import StopRequest
from common.errors import InputError
from common.progress import Progress, log
from common.text_format import Format

_ROWS_OF_A_WORK = 10_000
# Reading a work reads its file up to there.
_WORKS_OF_A_FILE = 16


class TextInput:
    """Training and evaluation rows.

    train_rows, eval_rows: lines in each part, malformed ones included; eval_rows is 0 with --no_eval.
    description: facts for the result file.
    training_only: see graph.Input.

    Args:
      text_format: of the files.
      generator: makes the set that is used without --data.
      args: flags of common.flags.add_data_flags and add_run_flags.
    """

    training_only: Sequence[str] = ()

    def __init__(
        self, text_format: Format, generator: synthetic.Generator, args: argparse.Namespace, stop: StopRequest
    ):
        train_paths, eval_paths = flags.data_files(args, text_format.files)
        generated = not train_paths
        if generated:
            train_paths, eval_paths = ([path] for path in self._generate(generator, args, stop))
        self._format = text_format
        self._args = args
        self._train_files = text_file.inspect_all(text_format, train_paths)
        rows = sum(file.rows for file in self._train_files)
        if args.no_eval:
            self._eval_files, self._eval_skip, self.eval_rows = [], 0, 0
        elif eval_paths:
            self._eval_files, self._eval_skip = text_file.inspect_all(text_format, eval_paths), 0
            self.eval_rows = sum(file.rows for file in self._eval_files)
        else:
            self.eval_rows = rows_held_out(rows, args.holdout)
            self._eval_files, self._eval_skip = self._train_files, rows - self.eval_rows
        self.train_rows = self._eval_skip or rows

        skip = args.bad_rows == "skip"
        self._bad_train_rows = text_reader.BadRows(skip, log.warning)
        self._bad_eval_rows = text_reader.BadRows(skip, log.warning)
        held_out = f", the last {self.eval_rows:,} rows of them held out" if self._eval_skip else ""
        log.info("training on %s rows of %s%s", f"{self.train_rows:,}", _names(self._train_files), held_out)
        if eval_paths and not args.no_eval:
            log.info("evaluating on %s rows of %s", f"{self.eval_rows:,}", _names(self._eval_files))
        self.description = {
            "generated": generated,
            "train_rows": self.train_rows,
            "eval_rows": self.eval_rows,
            "train_files": [file.path for file in self._train_files],
            "eval_files": [file.path for file in self._eval_files],
        }

    @staticmethod
    def _generate(generator: synthetic.Generator, args: argparse.Namespace, stop: StopRequest) -> synthetic.Files:
        directory = os.path.join(clusters.of(args).data_dir if clusters.of(args) else args.output_dir, "data")
        parameters = (generator, directory, args.synthetic_rows, args.synthetic_eval_rows, args.seed)
        if clusters.of(args) and not clusters.of(args).is_chief:
            while not synthetic.is_cached(*parameters):
                stop.raise_if_set("the chief has not generated the data yet")
                time.sleep(0.5)
        if synthetic.is_cached(*parameters):
            return synthetic.generate(*parameters)
        log.info("no --data: generating a %s-like set in %s", generator.name, directory)
        with Progress("generated", args.synthetic_rows + args.synthetic_eval_rows, quiet_seconds=2.0) as progress:

            def wrote(rows: int) -> None:
                progress.advance(rows)
                stop.raise_if_set("the data set is unfinished and will be generated again")

            return synthetic.generate(*parameters, wrote)

    def training(self, start_line: int, end_line: int) -> tf.data.Dataset:
        """Batches of the lines [start_line, end_line) of the shuffled passes over the training rows."""
        return text_reader.training_batches(
            self._format,
            self._train_files,
            self._args.batch_size,
            self._bad_train_rows,
            rows=self.train_rows,
            shuffle_buffer=self._args.shuffle_buffer,
            seed=self._args.seed,
            start_line=start_line,
            end_line=end_line,
        )

    def works(self) -> List[str]:
        """The training rows in ranges, for a WorkQueue."""
        works, left = [], self.train_rows
        for file in self._train_files:
            rows = min(left, file.rows)
            left -= rows
            pieces = min(_WORKS_OF_A_FILE, -(-rows // _ROWS_OF_A_WORK))
            bounds = [rows * i // pieces for i in range(pieces + 1)] if pieces else []
            works += [f"{file.path}?start={start}&end={end}" for start, end in zip(bounds, bounds[1:])]
        return works

    def of_works(self, works: tf.data.Dataset) -> tf.data.Dataset:
        """Batches of the rows of works, each shuffled by itself."""
        return text_reader.batches_of_works(
            self._format,
            self._train_files,
            self._args.batch_size,
            self._bad_train_rows,
            works=works,
            shuffle_buffer=self._args.shuffle_buffer,
            seed=self._args.seed,
        )

    def evaluation(self, limit: tf.Tensor, batch_size: int) -> tf.data.Dataset:
        """The first `limit` evaluation rows (all, if negative), in order."""
        lines = text_reader.lines_dataset(self._eval_files).skip(self._eval_skip).take(limit)
        return text_reader.batches(self._format, lines, self._eval_files, batch_size, self._bad_eval_rows)

    @property
    def train_failure(self) -> Optional[str]:
        return self._bad_train_rows.failure

    @property
    def eval_failure(self) -> Optional[str]:
        return self._bad_eval_rows.failure


def rows_held_out(rows: int, holdout: float) -> int:
    """The last rows, of all, that are for evaluation.

    Raises:
      InputError: that leaves none to train on, or none to evaluate.
    """
    eval_rows = round(rows * holdout)
    if not 0 < eval_rows < rows:
        raise InputError(
            f"--holdout {holdout:g} of {rows} rows leaves {rows - eval_rows} to train and {eval_rows} to evaluate; "
            "give --eval_data, --no_eval or another --holdout"
        )
    return eval_rows


def _names(files: List[text_file.TextFile]) -> str:
    return files[0].path if len(files) == 1 else f"{files[0].path} and {len(files) - 1} more files"
