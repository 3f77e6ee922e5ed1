"""Random tables, and what a dataset gives, as Python lists."""

import contextlib
import random

import numpy as np
import pyarrow as pa
import tensorflow as tf
from pyarrow import parquet
from tensorflow.deeprec.data.dataframe import Value

_INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
SCALARS = [*_INTEGERS, "bool", "float16", "float32", "float64", "string", "binary", "large_string", "large_binary"]


def writer(folder):
    """A function that writes Parquet files: write(table, name="a.parquet", **options of pyarrow.parquet.write_table) -> path."""

    def write(table, name="a.parquet", **kwargs):
        path = str(folder / name)
        parquet.write_table(table, path, **kwargs)
        return path

    return write


def scalar_values(name: str, count: int, rng: random.Random) -> list:
    if name in _INTEGERS:
        info = np.iinfo(name)
        return [rng.choice([info.min, info.max, rng.randint(info.min, info.max)]) for _ in range(count)]
    if name == "bool":
        return [rng.random() < 0.5 for _ in range(count)]
    if name.startswith("float"):
        # Exact in all widths.
        return [rng.randint(-1000, 1000) / 4 for _ in range(count)]
    if name.endswith("string"):
        return ["é%d" % rng.randint(0, 99) * rng.randint(0, 20) for _ in range(count)]
    return [rng.randbytes(rng.randint(0, 40)) for _ in range(count)]


def arrow_type(name: str):
    return {"float16": pa.float16(), "bool": pa.bool_()}.get(name) or getattr(pa, name)()


def random_column(rng: random.Random, rows: int, depth=None):
    """An array of a random type of list levels, fixed sizes and dictionaries among them, without nulls."""
    name = rng.choice(SCALARS)
    type_ = arrow_type(name)
    levels = [
        rng.choice(["list", "list", "large", "fixed"])
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3]) if depth is None else depth)
    ]
    sizes = [rng.randint(1, 3) for _ in levels]

    def value(level):
        if level == len(levels):
            return scalar_values(name, 1, rng)[0]
        length = sizes[level] if levels[level] == "fixed" else rng.choice([0, 1, 2, 5])
        return [value(level + 1) for _ in range(length)]

    data = [value(0) for _ in range(rows)]
    if not levels and name in ("string", "int64") and rng.random() < 0.5:
        return pa.array(data, type_).dictionary_encode()
    for level, size in zip(reversed(levels), reversed(sizes)):
        type_ = {"list": pa.list_(type_), "large": pa.large_list(type_), "fixed": pa.list_(type_, size)}[level]
    if name == "float16":
        data = _halves(data)
    return pa.array(data, type_)


def _halves(data):
    return [_halves(item) for item in data] if isinstance(data, list) else np.float16(data)


def random_table(seed: int, rows: int, columns: int):
    rng = random.Random(seed)
    return pa.table({f"c{i}": random_column(rng, rows) for i in range(columns)})


def as_lists(value) -> list:
    """A fetched component of a batch as `to_pydict` has it, texts as bytes."""
    return value.to_list() if isinstance(value, Value) else value.tolist()


def expected(table) -> dict:
    def plain(item):
        if isinstance(item, list):
            return [plain(i) for i in item]
        return item.encode() if isinstance(item, str) else item

    return {name: plain(values) for name, values in table.to_pydict().items()}


@contextlib.contextmanager
def session():
    with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2)) as sess:
        yield sess


def read_raw(make_dataset, limit=10000) -> list:
    """Fetched elements of make_dataset(), in a graph of their own."""
    with tf.Graph().as_default(), session() as sess:
        element = tf.data.make_one_shot_iterator(make_dataset()).get_next()
        found = []
        for _ in range(limit):
            try:
                found.append(sess.run(element))
            except tf.errors.OutOfRangeError:
                return found
    raise AssertionError(f"more than {limit} elements")


def read(make_dataset, limit=10000) -> list[dict]:
    """The same with lists in place of arrays."""
    return [{name: as_lists(value) for name, value in batch.items()} for batch in read_raw(make_dataset, limit)]


def joined(batches: list[dict]) -> dict:
    return {name: [row for batch in batches for row in batch[name]] for name in batches[0]} if batches else {}
