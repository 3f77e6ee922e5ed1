"""One side of the sparse optimizer benchmark; run.py starts it once per Python and asks it for timings in turn.

Reads one JSON request per line from standard input and answers with one JSON line: {"setup": case} builds a graph and
warms it up, {"measure": runs} times that many session.run calls, {"stop": true} ends.
"""

import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

OPTIMIZERS = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.01),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.01),
    "momentum": lambda: tf.train.MomentumOptimizer(0.01, 0.9),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.01),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.01),
    "adam": lambda: tf.train.AdamOptimizer(0.01),
    "adam lazy": None,  # the stock side has only the exact form
}


def zipf_ids(rng, count: int, rows: int, exponent: float) -> np.ndarray:
    """Ids whose frequencies follow a Zipf law; which rows are frequent is random."""
    weights = np.arange(1, rows + 1) ** -exponent
    cumulative = np.cumsum(weights)
    return rng.permutation(rows)[np.searchsorted(cumulative, rng.random(count) * cumulative[-1])]


class Bench:
    """A graph with `steps` train steps one after the other, each with its own ids."""

    def __init__(
        self,
        optimizer: str,
        rows: int,
        dim: int,
        batch: int,
        steps: int,
        resource: bool,
        threads: int,
        fresh: bool,
        lazy_available: bool,
    ):
        rng = np.random.default_rng(7)
        self.graph = tf.Graph()
        self.distinct = 0.0
        with self.graph.as_default():
            table = tf.get_variable(
                "table", [rows, dim], initializer=tf.random_uniform_initializer(-0.05, 0.05), use_resource=resource
            )
            if optimizer == "adam lazy":
                opt = tf.train.AdamOptimizer(0.01, lazy=True) if lazy_available else tf.train.AdamOptimizer(0.01)
            else:
                opt = OPTIMIZERS[optimizer]()
            # Variables, not constants: a constant's Unique and sum would be computed while the graph is optimized.
            ids = zipf_ids(rng, batch * steps, rows, 1.05).reshape(steps, batch)
            self.distinct = float(np.mean([len(np.unique(row)) for row in ids]))
            id_variables = [tf.Variable(row, trainable=False, use_resource=False) for row in ids]
            gradients = [
                tf.Variable(rng.normal(0, 0.01, (batch, dim)).astype(np.float32), trainable=False, use_resource=False)
                for _ in range(min(steps, 4))
            ]
            self.step = None
            for i in range(steps):
                with tf.control_dependencies([self.step] if self.step is not None else []):
                    slices = tf.IndexedSlices(tf.identity(gradients[i % len(gradients)]), tf.identity(id_variables[i]))
                    self.step = opt.apply_gradients([(slices, table)])
            history = []
            if not fresh:
                # Moments of a table in the middle of training: no row is without history.
                for name in opt.get_slot_names():
                    slot = opt.get_slot(table, name)
                    history.append(slot.assign(tf.random_uniform([rows, dim], 1e-4, 1e-3)))
            init = tf.global_variables_initializer()
        self.steps = steps
        self.session = tf.Session(
            graph=self.graph,
            config=tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads),
        )
        self.session.run(init)
        if history:
            self.session.run(history)
        self.call = self.session.make_callable(self.step)

    def measure(self, runs: int) -> list:
        """Seconds per train step of each of `runs` calls."""
        seconds = []
        for _ in range(runs):
            start = time.perf_counter()
            self.call()
            seconds.append((time.perf_counter() - start) / self.steps)
        return seconds


def main() -> None:
    # Logs of the runtime go to standard error; answers get the real standard output for themselves.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        tf.train.AdamOptimizer(lazy=True)
        lazy_available = True
    except TypeError:
        lazy_available = False
    bench = None
    for line in sys.stdin:
        request = json.loads(line)
        if "stop" in request:
            break
        if "setup" in request:
            if bench is not None:
                bench.session.close()
            bench = None  # before the next tables are made
            bench = Bench(**request["setup"], lazy_available=lazy_available)
            bench.measure(3)
            answer = {"distinct": bench.distinct, "lazy": lazy_available}
        else:
            answer = {"seconds": bench.measure(request["measure"])}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
