"""One side of the SparseOperationKit benchmark; run.py starts it once per Python and asks it for timings in turn.

Reads one JSON request per line from standard input and answers with one JSON line: {"steps": n} times n training steps of each case,
{"stop": true} ends. A step looks a batch up, combines it, and applies the gradient of the sum of squares. Under horovodrun, which passes
no input on, rank 0 reads from the pipe that is its first argument and answers to that which is its second; ranks share the batch.
"""

import importlib.util
import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
BATCH, HOTNESS, KEYS, DIMS = 8192, 2, 2**20, (4, 64)
# Learning rates do not change the work.
OPTIMIZERS = {
    "SGD": lambda: tf.train.GradientDescentOptimizer(0.01),
    "Adagrad": lambda: tf.train.AdagradOptimizer(0.01),
}
_BATCHES = 8
_OURS = importlib.util.find_spec("sparse_operation_kit") is not None


class Case:
    """A graph with one table and one optimizer.

    Args:
      kind: "variable" or "dynamic"; stock has one table for both.
      dim: elements of a row.
      optimizer: one of OPTIMIZERS.
      rank, ranks: of this process.
    """

    def __init__(self, kind, dim, optimizer, rank, ranks):
        random = np.random.default_rng([dim, rank])
        samples = BATCH // ranks
        self.batches = [random.integers(0, KEYS, samples * HOTNESS) for _ in range(_BATCHES)]
        indices = np.stack(np.divmod(np.arange(samples * HOTNESS), HOTNESS), 1)
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.keys = tf.placeholder(tf.int64, [None])
            ids = tf.SparseTensor(indices, self.keys, [samples, HOTNESS])
            initial = tf.random.stateless_uniform([KEYS, dim], [1, 2], -0.05, 0.05)
            opt = OPTIMIZERS[optimizer]()
            fill = tf.no_op()
            if not _OURS:
                table = tf.get_variable("table", initializer=initial, use_resource=True)
                rows = tf.nn.embedding_lookup_sparse(table, ids, None, combiner="mean")
            else:
                from sparse_operation_kit import experiment as sok

                if kind == "variable":
                    table = sok.Variable(initial, dtype=tf.float32)
                else:
                    table, opt = sok.DynamicVariable(dim), sok.OptimizerWrapper(opt)
                    opt.create_slots([table])
                    own = tf.range(sok.rank(), KEYS, sok.num_ranks(), dtype=tf.int64)
                    fill = table.insert(own, tf.gather(initial, own))
                rows = sok.lookup_sparse(table, ids, combiners="mean")
            (gradient,) = tf.gradients(tf.reduce_sum(tf.square(rows)), [table])
            train = opt.apply_gradients([(gradient, table)])
            start = tf.global_variables_initializer()
        self.session = tf.Session(graph=self.graph)
        self.session.run(start)
        self.session.run(fill)
        self.step = self.session.make_callable(train, [self.keys])
        self.number = 0
        self.seconds(3)

    def seconds(self, steps) -> list:
        times = []
        for _ in range(steps):
            self.number += 1
            start = time.perf_counter()
            self.step(self.batches[self.number % _BATCHES])
            times.append(time.perf_counter() - start)
        return times


def _ranks():
    """`(rank, ranks, callable(number) -> that of rank 0)`."""
    if "HOROVOD_SIZE" not in os.environ:
        return 0, 1, lambda value: value
    import horovod.tensorflow as hvd

    hvd.init()
    with tf.Graph().as_default():
        number = tf.placeholder(tf.int64)
        told = hvd.broadcast(number, root_rank=0)
        session = tf.Session()
    return hvd.rank(), hvd.size(), lambda value: int(session.run(told, {number: value}))


def main():
    # What is printed by others goes to standard error.
    requests, answers = sys.stdin, os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    rank, ranks, told = _ranks()
    if ranks > 1 and rank == 0:
        requests, answers = open(sys.argv[1]), open(sys.argv[2], "w")
    if _OURS:
        from sparse_operation_kit import experiment as sok

        sok.init()
    kinds = ("variable", "dynamic") if _OURS else ("variable",)
    cases = {}
    while True:
        line = requests.readline() if rank == 0 else ""
        steps = told(json.loads(line).get("steps", 0) if line else 0)
        if not steps:
            return
        if not cases:
            for kind in kinds:
                for dim in DIMS:
                    for optimizer in OPTIMIZERS:
                        cases[f"{kind} {dim} {optimizer}"] = Case(kind, dim, optimizer, rank, ranks)
        answer = {name: case.seconds(steps) for name, case in cases.items()}
        if rank == 0:
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
