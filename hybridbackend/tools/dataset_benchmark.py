"""Measures how fast a Parquet or ORC file is read.

    python -m hybridbackend.tools.dataset_benchmark [--batch-size 200000] [--rebatch-size N] [--epochs 1] [--num-steps 100] FILE...

Prints milliseconds a batch and rows a second, without the first batch, which opens the file. Reading ends with the data, or behind
--num-steps batches.
"""

import argparse
import sys
import time

import tensorflow as tf
from hybridbackend.tensorflow import data
from hybridbackend.tensorflow.data.validate import format_of
from tensorflow.deeprec.data.reader import CorruptedError


def benchmark(filenames, batch_size=200_000, rebatch_size=None, epochs=1, num_steps=100) -> tuple:
    """Reads files.

    Args:
      filenames: Parquet files (or ORC, where the name of the first ends with .orc).
      batch_size: rows of a batch.
      rebatch_size: rows of a batch that `hb.data.rebatch` makes of those; None: it does not.
      epochs: how often the files are read.
      num_steps: batches to read at most; 0: all.

    Returns:
      `(batches, rows, seconds)` behind the first batch.

    Raises:
      CorruptedError, OSError, ValueError, tf.errors.OpError: a file is none of these, or cannot be read; there is only one batch.
    """
    sizes = {"batch_size": batch_size, "rebatch_size": rebatch_size, "epochs": epochs, "num_steps": num_steps}
    for name, value in sizes.items():
        least = 0 if name == "num_steps" else 1
        if value is not None and value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = data.Dataset(format_of(filenames[0]), list(filenames)).batch(batch_size)
        if rebatch_size is not None:
            dataset = dataset.apply(data.rebatch(rebatch_size))
        batch = tf.data.make_one_shot_iterator(dataset.repeat(epochs).prefetch(1)).get_next()
        first = next(iter(batch.values()))
        splits = getattr(first, "nested_row_splits", None)
        # Only a number leaves the session: what is measured is the reading.
        length = tf.shape(splits[0], out_type=tf.int64)[0] - 1 if splits else tf.shape(first, out_type=tf.int64)[0]
        with tf.control_dependencies(tf.nest.flatten(batch, expand_composites=True)):
            length = tf.identity(length)
        steps, rows, started = 0, 0, None
        try:
            while not num_steps or steps < num_steps:
                read = session.run(length)
                if started is None:
                    started = time.perf_counter()
                    continue
                steps, rows = steps + 1, rows + int(read)
        except tf.errors.OutOfRangeError:
            pass
        seconds = time.perf_counter() - started if started is not None else 0.0
    if not steps:
        raise ValueError(f"{', '.join(filenames)}: one batch at most, of {batch_size} rows; more are needed to measure")
    return steps, rows, seconds


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m hybridbackend.tools.dataset_benchmark",
        description="Measures how fast Parquet and ORC files are read.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("filenames", nargs="+", metavar="FILE")
    parser.add_argument("--batch-size", type=int, default=200_000, metavar="N", help="rows of a batch")
    parser.add_argument("--rebatch-size", type=int, metavar="N", help="rows of a batch that rebatch makes of those")
    parser.add_argument("--epochs", type=int, default=1, metavar="N", help="how often the files are read")
    parser.add_argument("--num-steps", type=int, default=100, metavar="N", help="batches to read at most; 0: all")
    args = parser.parse_args(argv)
    try:
        steps, rows, seconds = benchmark(
            args.filenames, args.batch_size, args.rebatch_size, args.epochs, args.num_steps
        )
    except tf.errors.OpError as e:
        print(e.message, file=sys.stderr)
        return 1
    except (CorruptedError, ImportError, OSError, ValueError) as e:
        print(e, file=sys.stderr)
        return 1
    print(f"{1000 * seconds / steps:.3f} ms a batch, {rows / seconds:,.0f} rows/s ({steps} batches, {rows:,} rows)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
