#!/usr/bin/env python3
"""Embedding columns looked up one by one against one op for all of them, interleaved.

    VENV/bin/python grouped.py

26 columns of one id each, batch 512, dim 16, ids by Zipf's law: `input_layer` alone, and with a step of Adagrad. The lookups of
ordinary variables one by one are those of the released TensorFlow, with this wheel's Adagrad.
"""

import argparse
import contextlib
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

_COLUMNS, _BATCH, _DIM, _BUCKETS = 26, 512, 16, 100_000


class Side:
    def __init__(self, kind: str, grouped: bool):
        fc = tf.feature_column
        with tf.Graph().as_default():
            with fc.group_embedding_column_scope() if grouped else contextlib.nullcontext():
                columns = [fc.embedding_column(_category(kind, f"c{i}"), _DIM) for i in range(_COLUMNS)]
            self.inputs = {f"c{i}": tf.placeholder(tf.int64, [None, 1]) for i in range(_COLUMNS)}
            rows = fc.input_layer(self.inputs, columns)
            train = tf.train.AdagradOptimizer(0.01).minimize(tf.reduce_sum(tf.square(rows)))
            self.fetches = {"lookup": rows.op, "lookup + Adagrad": train}
            self.session = tf.Session(
                config=tf.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=2)
            )
            self.session.run(tf.global_variables_initializer())

    def seconds(self, what: str, ids) -> float:
        feeds = dict(zip(self.inputs.values(), ids))
        start = time.perf_counter()
        self.session.run(self.fetches[what], feeds)
        return time.perf_counter() - start


def _category(kind: str, name: str):
    if kind == "EmbeddingVariable":
        return tf.feature_column.categorical_column_with_embedding(name, dtype=tf.int64)
    return tf.feature_column.categorical_column_with_identity(name, _BUCKETS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    args = parser.parse_args()
    if args.repeats < 1:
        parser.error("--repeats must be positive")
    tf.logging.set_verbosity(tf.logging.ERROR)
    random = np.random.RandomState(0)
    batches = [random.zipf(1.2, (_COLUMNS, _BATCH, 1)) % _BUCKETS for _ in range(8)]
    print("| tables | what | one by one ms | grouped ms | ratio |\n|---|---|---|---|---|")
    for kind in ("EmbeddingVariable", "tf.get_variable"):
        sides = [Side(kind, grouped) for grouped in (False, True)]
        for what in sides[0].fetches:
            times = [[], []]
            for i in range(args.repeats + 20):
                for side, of_side in zip(sides, times):
                    of_side.append(side.seconds(what, batches[i % 8]))
            one_by_one, grouped = (1e3 * statistics.median(t[20:]) for t in times)
            print(f"| {kind} | {what} | {one_by_one:.2f} | {grouped:.2f} | {one_by_one / grouped:.2f} |")


if __name__ == "__main__":
    main()
