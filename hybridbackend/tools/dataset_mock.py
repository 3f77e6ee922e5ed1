"""Writes a file of random integers, for measuring how fast it is read.

    python -m hybridbackend.tools.dataset_mock [-f parquet|csv|tfrecord] [--samples 20000000] [--cols 200] [--min 0] [--max 100] FILE

Columns are col0, col1, ..., int64, uniform in [min, max) and the same for one seed. A CSV file has no line of names; a record is a
tf.train.Example. The file appears under its name when it is whole.
"""

import argparse
import contextlib
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.deeprec.data import arrow
from tensorflow.deeprec.data.progress import Bar

_ROWS_AT_ONCE = 20_000


def mock(filename, file_format="parquet", samples=20_000_000, cols=200, low=0, high=100, seed=0, progress=None) -> None:
    """Writes the file.

    Args:
      filename: where.
      file_format: "parquet", "csv" or "tfrecord".
      samples: rows.
      cols: columns.
      low, high: values are in [low, high).
      seed: of the values.
      progress: called with the rows that are done.

    Raises:
      ImportError: Parquet, and there is no pyarrow.
      OSError: the file cannot be written.
      ValueError: an argument does not fit.
    """
    for name, value in (("samples", samples), ("cols", cols)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    if high <= low:
        raise ValueError(f"max must be above min, {low}, got {high}")
    if file_format not in _WRITERS:
        raise ValueError(f"format must be of {', '.join(_WRITERS)}, got {file_format!r}")
    random = np.random.default_rng(seed)
    unfinished = f"{filename}.unfinished"
    try:
        with contextlib.closing(_WRITERS[file_format](unfinished, [f"col{i}" for i in range(cols)])) as writer:
            for start in range(0, samples, _ROWS_AT_ONCE):
                rows = min(_ROWS_AT_ONCE, samples - start)
                writer.write(random.integers(low, high, (cols, rows)))
                if progress is not None:
                    progress(start + rows)
        os.replace(unfinished, filename)
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)


class _Parquet:
    def __init__(self, path, names):
        self._pa = arrow.module("pyarrow")
        self._schema = self._pa.schema([(name, self._pa.int64()) for name in names])
        self._writer = arrow.module("pyarrow.parquet").ParquetWriter(path, self._schema)

    def write(self, columns):
        self._writer.write_table(self._pa.table(list(map(self._pa.array, columns)), schema=self._schema))

    def close(self):
        self._writer.close()


class _Csv:
    def __init__(self, path, names):
        del names
        self._file = open(path, "w", encoding="ascii")

    def write(self, columns):
        self._file.writelines(",".join(map(str, row)) + "\n" for row in columns.T.tolist())

    def close(self):
        self._file.close()


class _Records:
    def __init__(self, path, names):
        self._example, self._names = tf.train.Example, names
        self._writer = tf.io.TFRecordWriter(path)

    def write(self, columns):
        for row in columns.T.tolist():
            example = self._example()
            for name, value in zip(self._names, row):
                example.features.feature[name].int64_list.value.append(value)
            self._writer.write(example.SerializeToString())

    def close(self):
        self._writer.close()


_WRITERS = {"parquet": _Parquet, "csv": _Csv, "tfrecord": _Records}


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m hybridbackend.tools.dataset_mock",
        description="Writes a file of random integers.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("filename", metavar="FILE")
    parser.add_argument("-f", "--format", choices=list(_WRITERS), default="parquet", help="of the file")
    parser.add_argument("--samples", type=int, default=20_000_000, metavar="N", help="rows")
    parser.add_argument("--cols", type=int, default=200, metavar="N", help="columns")
    parser.add_argument("--min", type=int, default=0, metavar="N", help="the smallest value")
    parser.add_argument("--max", type=int, default=100, metavar="N", help="values are below it")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the values")
    args = parser.parse_args(argv)
    try:
        with Bar(args.filename, args.samples, "rows") as progress:
            mock(args.filename, args.format, args.samples, args.cols, args.min, args.max, args.seed, progress)
    except (ImportError, OSError, ValueError) as e:
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
