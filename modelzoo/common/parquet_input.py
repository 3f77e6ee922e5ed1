"""Parquet files of a format's columns: read in place of its text files, batch for batch the same where rows are not shuffled.

Rows of all files are counted through, so that a resumed run continues on exactly the next row, as with text.
"""

import argparse
import os
from typing import Optional, Sequence

import tensorflow as tf

from common import flags
from common.errors import InputError
from common.progress import log
from common.text_format import LABEL, NUMBER, TEXT, Format
from common.text_input import rows_held_out

_PREFETCH = 4
_as_it_is = tf.autograph.experimental.do_not_convert


class ParquetInput:
    """Training and evaluation rows; the attributes are those of text_input.TextInput.

    Args:
      text_format: whose columns the files have, labels and numbers of any number type.
      args: flags of common.flags.add_data_flags and add_run_flags.

    Raises:
      InputError: the format has columns that are checked as text only; a file is no Parquet file, has no rows, or lacks a
        column; there is no pyarrow.
    """

    training_only: Sequence[str] = ()
    # A value that does not fit ends the reading with an error of its own.
    train_failure: Optional[str] = None
    eval_failure: Optional[str] = None

    def __init__(self, text_format: Format, args: argparse.Namespace):
        check_format(text_format)
        self._format, self._args = text_format, args
        train_paths, eval_paths = flags.data_files(args, text_format.files)
        self._train_files, rows = self._inspect(train_paths)
        self._eval_skip, self.eval_rows, self._eval_files = 0, 0, []
        if eval_paths and not args.no_eval:
            self._eval_files, self.eval_rows = self._inspect(eval_paths)
        elif not args.no_eval:
            self.eval_rows = rows_held_out(rows, args.holdout)
            self._eval_files, self._eval_skip = self._train_files, rows - self.eval_rows
        self.train_rows = self._eval_skip or rows
        log.info("training on %s rows of %d Parquet files", f"{self.train_rows:,}", len(self._train_files))
        self.description = {
            "generated": False,
            "train_rows": self.train_rows,
            "eval_rows": self.eval_rows,
            "train_files": self._train_files,
            "eval_files": self._eval_files,
        }

    def _inspect(self, paths: Sequence[str]):
        """Absolute names of the files, and their number of rows."""
        try:
            from pyarrow import ArrowException, parquet
            from tensorflow.deeprec.data import field_search, reader
        except ImportError as error:
            raise InputError(f"--parquet_dataset needs pyarrow: pip install 'pyarrow<26' ({error})") from None
        rows = 0
        for path in paths:
            try:
                found, _ = field_search.in_file(path, self._format.names)
                file_rows = parquet.read_metadata(path).num_rows
            except (ArrowException, OSError, ValueError, reader.CorruptedError) as error:
                text = str(error)
                raise InputError(text if path in text else f"{path}: {text}") from None
            for field, column in zip(found, self._format.columns):
                is_text = field.dtype == tf.string
                if field.ragged_rank or field.shape.rank or is_text is not (column.kind == TEXT):
                    raise InputError(f"{path}: column {column.name} holds {field.dtype.name}, expected a {column.kind}")
            if not file_rows:
                raise InputError(f"{path}: has no rows")
            rows += file_rows
        self._fields = found
        return [os.path.abspath(path) for path in paths], rows

    def _rows(self, files: Sequence[str], batch_size, begin, end) -> tf.data.Dataset:
        """Rows [begin, end) of the files, one after another, in batches of batch_size."""
        from tensorflow.deeprec.data.parquet_dataset import ParquetDataset
        from tensorflow.deeprec.data.rebatch import rebatch

        names = tf.data.Dataset.from_tensor_slices(files)
        batches = ParquetDataset(names, batch_size=batch_size, fields=self._fields).apply(rebatch(batch_size))
        return _cut(batches, batch_size, begin, end)

    def training(self, start_line: int, end_line: int) -> tf.data.Dataset:
        """Rows [start_line, end_line) of the endless sequence of shuffled passes over the training rows.

        Pass p is shuffled with the seed (seed, p), so the sequence depends on files, seed and buffer only.
        """
        from tensorflow.deeprec.data.rebatch import RebatchDataset, rebatch

        args = self._args
        size = args.batch_size
        start_pass, start_in_pass = divmod(start_line, self.train_rows)

        @_as_it_is
        def one_pass(number):
            rows = self._rows(self._train_files, size, 0, self.train_rows)
            if args.shuffle_buffer > 1:
                rows = RebatchDataset(
                    rows, None, size, shuffle_buffer_size=args.shuffle_buffer, shuffle_seed=args.seed + number,
                    reshuffle_each_iteration=False,
                )  # fmt: skip
            begin = tf.where(tf.equal(number, start_pass), tf.constant(start_in_pass, tf.int64), 0)
            return _cut(rows, size, begin, tf.constant(self.train_rows, tf.int64))

        passes = tf.data.Dataset.range(start_pass, 2**62).flat_map(one_pass)
        return self._decoded(_cut(passes.apply(rebatch(size)), size, 0, end_line - start_line))

    def evaluation(self, limit: tf.Tensor, batch_size: int) -> tf.data.Dataset:
        """The first `limit` evaluation rows (all, if negative), in order."""
        limit = tf.where(limit < 0, tf.constant(self.eval_rows, tf.int64), limit)
        from tensorflow.deeprec.data.rebatch import rebatch

        end = self._eval_skip + tf.minimum(limit, self.eval_rows)
        rows = self._rows(self._eval_files, batch_size, self._eval_skip, end)
        return self._decoded(rows.apply(rebatch(batch_size)))

    def _decoded(self, batches: tf.data.Dataset) -> tf.data.Dataset:
        @_as_it_is
        def decode(batch):
            features = {}
            for column in self._format.columns:
                value = batch[column.name]
                features[column.name] = value if column.kind == TEXT else tf.cast(value, tf.float32)
            labels = {name: features.pop(name) for name in self._format.labels}
            lines = tf.shape(next(iter(features.values())), out_type=tf.int64)[:1]
            # Of unknown length: micro batches have several of them.
            lines = tf.placeholder_with_default(lines, [None])
            return features, labels if len(labels) > 1 else labels[self._format.labels[0]], lines

        options = tf.data.Options()
        options.autotune.enabled = False
        return batches.map(decode).prefetch(_PREFETCH).with_options(options)


def check_format(text_format: Format) -> None:
    """Raises InputError for a format whose rows are checked as text, which Parquet files do not have."""
    kinds = {column.kind for column in text_format.columns}
    if not kinds <= {LABEL, NUMBER, TEXT} or text_format.aligned or text_format.beside:
        raise InputError(f"--parquet_dataset: {text_format.name} rows have lists, which are checked as text only")


def _cut(batches: tf.data.Dataset, batch_size: int, begin, end) -> tf.data.Dataset:
    """Rows [begin, end) of batches that have batch_size rows but for the last one."""
    begin, end = (tf.convert_to_tensor(value, tf.int64) for value in (begin, end))
    skipped = begin // batch_size

    @_as_it_is
    def cut(number, batch):
        first = (skipped + number) * batch_size
        inside = slice(tf.maximum(begin - first, 0), tf.maximum(end - first, 0))
        return {name: rows[inside] for name, rows in batch.items()}

    count = tf.maximum((end + batch_size - 1) // batch_size - skipped, 0)
    return batches.skip(skipped).take(count).enumerate().map(cut)
