"""Checks that files have one schema and can be read.

    python -m hybridbackend.tensorflow.data.validate [--fields a,b] [--lower] [--peek 32] FILE...

Exits with 1 and says which file and column, where they do not.
"""

import argparse
import sys

import tensorflow as tf
from hybridbackend.tensorflow.data.tabular import Dataset
from tensorflow.deeprec.data import field_search
from tensorflow.deeprec.data.reader import CorruptedError


def format_of(filename) -> str:
    """ "orc" where the name ends with .orc, else "parquet"."""
    return "orc" if filename.lower().endswith(".orc") else "parquet"


def validate(filenames, fields=None, lower=False, peek=32) -> list:
    """Checks files.

    Args:
      filenames: Parquet files (or ORC, where the name ends with .orc).
      fields: names of columns; None: all.
      lower: whether names are tried in lower case.
      peek: rows to read of each file.

    Returns:
      The fields.

    Raises:
      CorruptedError, OSError, ValueError, tf.errors.OpError: a file is none, has another schema than the first, or cannot be read.
    """
    first = None
    for name in filenames:
        format_ = format_of(name)
        found, _ = field_search.in_file(name, fields, format_, lower)
        kinds = {field.name: (field.dtype.name, field.ragged_rank, field.shape.as_list()) for field in found}
        first = first or (name, found, kinds)
        for column in sorted(set(kinds) | set(first[2])):
            if kinds.get(column) != first[2].get(column):
                raise ValueError(
                    f"{name}: column {column!r} is {kinds.get(column, 'missing')}, in {first[0]} {first[2].get(column, 'missing')} "
                    "(dtype, list levels, shape)"
                )
        _peek(name, format_, found, peek)
    return list(first[1])


def _peek(name, format_, fields, rows) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = Dataset(format_, name, fields=fields).batch(rows)
        try:
            session.run(tf.data.make_one_shot_iterator(dataset).get_next())
        except tf.errors.OutOfRangeError:
            print(f"{name}: no rows")


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m hybridbackend.tensorflow.data.validate",
        description="Checks that Parquet and ORC files have one schema and can be read.",
    )
    parser.add_argument("filenames", nargs="+", metavar="FILE")
    parser.add_argument("--fields", help="names of columns, comma separated; all by default")
    parser.add_argument("--lower", action="store_true", help="try names in lower case")
    parser.add_argument("--peek", type=int, default=32, metavar="ROWS", help="rows to read of each file (32)")
    args = parser.parse_args(argv)
    if args.peek < 1:
        parser.error(f"--peek must be at least 1, got {args.peek}")
    fields = args.fields.split(",") if args.fields else None
    try:
        found = validate(args.filenames, fields, args.lower, args.peek)
    except (CorruptedError, OSError, ValueError, ImportError) as e:
        print(e, file=sys.stderr)
        return 1
    except tf.errors.OpError as e:
        print(e.message, file=sys.stderr)
        return 1
    for field in found:
        print(f"{field.name}\t{field.dtype.name}\tragged_rank {field.ragged_rank}\tshape {field.shape.as_list()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
