"""One side of the EmbeddingVariable benchmark; run.py starts it once per Python and asks it for timings in turn.

Reads one JSON request per line from standard input and answers with one JSON line: {"setup": case} builds a graph and fills
the table, {"measure": runs} times that many session.run calls on fresh ids, {"stop": true} ends. The side is
"ours" (an EmbeddingVariable of this wheel), "stock" (tf.get_variable of a fixed number of rows) or "tfra"
(tensorflow-recommenders-addons).
"""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # what tensorflow-recommenders-addons asks for

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

_FILL = 1 << 17
_BATCHES = 32


def zipf_rows(rng, count, rows, exponent):
    """Rows whose frequencies follow a Zipf law; which are frequent is random."""
    cumulative = np.cumsum(np.arange(1, rows + 1) ** -exponent)
    return rng.permutation(rows)[np.searchsorted(cumulative, rng.random(count) * cumulative[-1])]


def keys_of(rows, side):
    """Hashed keys, spread over 64 bits; a table of fixed size takes row numbers."""
    if side == "stock":
        return rows.astype(np.int64)
    return (rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)).view(np.int64)


OPTIMIZERS = {"adam": lambda: tf.train.AdamOptimizer(1e-3), "adagrad": lambda: tf.train.AdagradOptimizer(1e-2)}


class Bench:
    def __init__(self, side, keys, dim, batch, optimizer, threads):
        self.batches = [
            keys_of(rows, side)
            for rows in zipf_rows(np.random.default_rng(7), batch * _BATCHES, keys, 1.05).reshape(_BATCHES, batch)
        ]
        self.next = 0
        tf.reset_default_graph()
        self.ids = tf.placeholder(tf.int64, [None])
        rows, minimize = getattr(self, f"_{side}")(keys, dim)
        train = minimize(OPTIMIZERS[optimizer or "adagrad"]())
        self.fetch = train if optimizer else rows.op
        self.session = tf.Session(
            config=tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
        )
        self.session.run(tf.global_variables_initializer())
        if side != "stock":
            for begin in range(0, keys, _FILL):
                self.session.run(train, {self.ids: keys_of(np.arange(begin, min(keys, begin + _FILL)), side)})

    def _ours(self, keys, dim):
        table = tf.get_embedding_variable("table", embedding_dim=dim, initializer=tf.ones_initializer())
        rows = tf.nn.embedding_lookup(table, self.ids)
        return rows, lambda optimizer: optimizer.minimize(tf.reduce_sum(rows))

    def _stock(self, keys, dim):
        table = tf.get_variable("table", [keys, dim], initializer=tf.ones_initializer())
        rows = tf.nn.embedding_lookup(table, self.ids)
        return rows, lambda optimizer: optimizer.minimize(tf.reduce_sum(rows))

    def _tfra(self, keys, dim):
        import tensorflow_recommenders_addons as tfra

        de = tfra.dynamic_embedding
        table = de.get_variable("table", dim=dim, initializer=1.0, init_size=keys, devices=["/CPU:0"])
        # Training wants unique ids.
        unique, index = tf.unique(self.ids)
        trainable, wrapper = de.embedding_lookup(table, unique, return_trainable=True, name="rows")

        def minimize(optimizer):
            loss = tf.reduce_sum(tf.gather(trainable, index))
            return de.DynamicEmbeddingOptimizer(optimizer).minimize(loss, var_list=[wrapper])

        return table.lookup(self.ids), minimize

    def measure(self, runs):
        seconds = []
        for _ in range(runs):
            feed = {self.ids: self.batches[self.next % _BATCHES]}
            self.next += 1
            start = time.perf_counter()
            self.session.run(self.fetch, feed)
            seconds.append(time.perf_counter() - start)
        return seconds


def main():
    answers, sys.stdout = sys.stdout, sys.stderr  # libraries print
    bench = None
    for line in sys.stdin:
        request = json.loads(line)
        if "stop" in request:
            return
        if "setup" in request:
            if bench is not None:
                bench.session.close()
            bench = Bench(**request["setup"])
            answer = {}
        else:
            answer = {"seconds": bench.measure(request["measure"])}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
