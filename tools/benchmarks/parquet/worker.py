"""One form of reading; run.py starts it. A request {folder, case, form, threads} is answered with {ms: [of a batch], mb: [of the file]}."""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

# Batch size, and batches that are timed of each form: many more than are made ahead.
_BATCH = {"wide": 20000, "criteo": 4096}
_BATCHES = {
    "wide": {"csv_dataset": 3, "csv": 20, "tfrecord": 20, "pyarrow": 40, "parquet": 40},
    "criteo": {"csv_dataset": 20, "csv": 60, "tfrecord": 60, "pyarrow": 150, "parquet": 150},
}


def defaults(case: str) -> dict:
    if case == "wide":
        return {f"c{i:03}": tf.constant([], tf.int64) for i in range(200)}
    floats = {f"I{i + 1}": tf.constant([], tf.float32) for i in range(13)}
    texts = {f"C{i + 1}": tf.constant([], tf.string) for i in range(26)}
    return {"label": tf.constant([], tf.int64), **floats, **texts}


def dataset(path: str, case: str, form: str):
    batch = _BATCH[case]
    if form == "parquet":
        from tensorflow.python.data.experimental.ops.parquet_dataset_ops import ParquetDataset

        return ParquetDataset(path, batch_size=batch).repeat()
    columns = defaults(case)
    if form == "csv_dataset":
        rows = tf.data.experimental.CsvDataset(path, list(columns.values())).repeat().batch(batch)
        return rows.map(lambda *values: dict(zip(columns, values)))
    if form == "csv":
        rows = tf.data.TextLineDataset(path).repeat().batch(batch)
        return rows.map(
            lambda lines: dict(zip(columns, tf.io.decode_csv(lines, list(columns.values())))), num_parallel_calls=2
        )
    features = {name: tf.io.FixedLenFeature([], value.dtype) for name, value in columns.items()}
    rows = tf.data.TFRecordDataset(path).repeat().batch(batch)
    return rows.map(lambda examples: tf.io.parse_example(examples, features), num_parallel_calls=2)


def plain(path: str, batch: int, threads: int | None):
    from pyarrow import parquet

    while True:
        yield from parquet.ParquetFile(path).iter_batches(batch, use_threads=threads is None)


def milliseconds(path: str, case: str, form: str, threads: int | None) -> float:
    """Of a batch, the opening of the file included where it is read again."""
    batches = _BATCHES[case][form]
    if form == "pyarrow":
        reader = plain(path, _BATCH[case], threads)
        return timed(lambda: next(reader), form, batches)
    with tf.Graph().as_default():
        element = tf.data.make_one_shot_iterator(dataset(path, case, form).prefetch(1)).get_next()
        fetch = tf.group(*tf.nest.flatten(element))
        config = tf.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2)
        with tf.Session(config=config) as session:
            return timed(lambda: session.run(fetch), form, batches)


def timed(step, form: str, batches: int) -> float:
    # Until what is made ahead is: a batch is made for each that is taken from then on. CsvDataset has one made ahead.
    for _ in range(2 if form == "csv_dataset" else 6):
        step()
    start = time.perf_counter()
    for _ in range(batches):
        step()
    return (time.perf_counter() - start) * 1000 / batches


def main():
    answers, sys.stdout = sys.stdout, sys.stderr  # libraries print
    for line in sys.stdin:
        request = json.loads(line)
        if "stop" in request:
            return
        os.environ.pop("ARROW_NUM_THREADS", None)
        if request["threads"] is not None:
            os.environ["ARROW_NUM_THREADS"] = str(request["threads"])
        suffix = {"pyarrow": "parquet", "csv_dataset": "csv"}.get(request["form"], request["form"])
        path = f"{request['folder']}/{request['case']}.{suffix}"
        ms = milliseconds(path, request["case"], request["form"], request["threads"])
        print(json.dumps({"ms": ms, "mb": os.path.getsize(path) / 1e6}), file=answers, flush=True)


if __name__ == "__main__":
    main()
