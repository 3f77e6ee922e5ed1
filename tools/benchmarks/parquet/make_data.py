"""Makes the data of the benchmark: `make_data.py FOLDER [wide] [criteo]`, each as Parquet, CSV and TFRecord."""

import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import pyarrow as pa
import tensorflow as tf
from pyarrow import csv, parquet


def wide():
    random = np.random.default_rng(0)
    return pa.table({f"c{i:03}": random.integers(0, 100, 100000) for i in range(200)}), 20000


def criteo():
    random = np.random.default_rng(1)
    rows = 200000
    columns = {"label": random.integers(0, 2, rows)}
    for i in range(13):
        columns[f"I{i + 1}"] = random.exponential(10, rows).astype(np.float32).round(2)
    words = np.array([f"{word:08x}" for word in random.integers(0, 1 << 32, 100000)])
    weights = 1 / np.arange(1, len(words) + 1) ** 1.05
    for i in range(26):
        columns[f"C{i + 1}"] = words[random.choice(len(words), rows, p=weights / weights.sum())]
    return pa.table(columns), 4096 * 8


def write_examples(table, path) -> None:
    columns = {name: table[name].to_pylist() for name in table.column_names}
    kinds = {}
    for name, values in columns.items():
        first = values[0]
        kinds[name] = (
            "int64_list" if isinstance(first, int) else "float_list" if isinstance(first, float) else "bytes_list"
        )
        if kinds[name] == "bytes_list":
            columns[name] = [value.encode() for value in values]
    with tf.io.TFRecordWriter(path) as writer:
        for row in range(table.num_rows):
            example = tf.train.Example()
            feature = example.features.feature
            for name, values in columns.items():
                getattr(feature[name], kinds[name]).value.append(values[row])
            writer.write(example.SerializeToString())


def main(folder: pathlib.Path, cases: list) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for make in (wide, criteo):
        if make.__name__ not in cases:
            continue
        name = folder / make.__name__
        done = name.with_suffix(".done")
        if done.exists():
            continue
        print(f"making {name}", flush=True)
        table, group = make()
        parquet.write_table(table, f"{name}.parquet", row_group_size=group)
        csv.write_csv(table, f"{name}.csv", csv.WriteOptions(include_header=False, quoting_style="none"))
        write_examples(table, f"{name}.tfrecord")
        done.touch()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
