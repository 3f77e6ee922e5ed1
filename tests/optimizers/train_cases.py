"""Trains one variable per case on a random sequence of sparse gradients and pickles all variables; a script, so that it
can run in processes with different kernels.

    python train_cases.py results.pkl [--wide] [--save=DIR] [--restore=DIR] [--first=STEP] [--last=STEP]
"""

import argparse
import dataclasses
import os
import pickle

import numpy as np

ROWS, STEPS, BATCH = 50, 12, 40
WIDE = ("float32", "float64")


@dataclasses.dataclass(frozen=True)
class Case:
    """An optimizer with its arguments, and the variable it trains."""

    optimizer: str
    arguments: tuple = ()
    resource: bool = False
    dtype: str = "float32"
    index_dtype: str = "int64"
    width: int = 7
    partitions: int = 1

    @property
    def name(self) -> str:
        parts = [self.optimizer, "resource" if self.resource else "ref", self.dtype, self.index_dtype, str(self.width)]
        return "-".join(parts + [f"{k}={v}" for k, v in self.arguments] + ["partitioned"] * (self.partitions > 1))


VARIANTS = [
    ("GradientDescent", (("learning_rate", 0.1),)),
    ("Adagrad", (("learning_rate", 0.1),)),
    ("Momentum", (("learning_rate", 0.1), ("momentum", 0.9))),
    ("Momentum", (("learning_rate", 0.1), ("momentum", 0.9), ("use_nesterov", True))),
    ("Ftrl", (("learning_rate", 0.1), ("l1_regularization_strength", 0.01), ("l2_regularization_strength", 0.02))),
    ("Ftrl", (("learning_rate", 0.1), ("learning_rate_power", -0.7), ("l2_shrinkage_regularization_strength", 0.01))),
    ("RMSProp", (("learning_rate", 0.01), ("momentum", 0.5), ("epsilon", 1e-3))),
    ("RMSProp", (("learning_rate", 0.01), ("momentum", 0.5), ("epsilon", 1e-2), ("centered", True))),
    ("Adam", (("learning_rate", 0.01),)),
    ("Adam", (("learning_rate", 0.01), ("lazy", True))),
]


def _cases():
    for optimizer, arguments in VARIANTS:
        for resource in (False, True):
            for dtype in ("float16", "bfloat16", "float32", "float64"):
                yield Case(optimizer, arguments, resource, dtype)
            yield Case(optimizer, arguments, resource, index_dtype="int32", width=16)
            yield Case(optimizer, arguments, resource, partitions=3)


CASES = {case.name: case for case in _cases()}


def batch(step: int, width: int):
    """Indices with many duplicates and their gradients, as float64."""
    rng = np.random.default_rng(step)
    indices = rng.integers(0, ROWS, BATCH) * (rng.random(BATCH) > 0.25)
    return indices, rng.normal(size=(BATCH, width)).round(3)


def initial(width: int):
    return np.random.default_rng(99).normal(size=(ROWS, width)).round(3)


def build(case: Case):
    """Returns (placeholders of indices and values, train op)."""
    import tensorflow as tf

    dtype = tf.as_dtype(case.dtype)
    with tf.variable_scope(case.name.replace("=", "_"), use_resource=case.resource):
        partitioner = tf.fixed_size_partitioner(case.partitions) if case.partitions > 1 else None
        start = tf.constant(initial(case.width), dtype)

        def initializer(shape, dtype=None, partition_info=None):
            offset = partition_info.var_offset[0] if partition_info else 0
            return start[offset : offset + int(shape[0])]

        table = tf.get_variable("table", [ROWS, case.width], dtype, initializer, partitioner=partitioner)
    indices = tf.placeholder(case.index_dtype, [None])
    values = tf.placeholder(dtype, [None, case.width])
    optimizer = getattr(tf.train, case.optimizer + "Optimizer")(
        **dict(case.arguments), name=case.name.replace("=", "_")
    )
    if case.partitions == 1:
        train = optimizer.apply_gradients([(tf.IndexedSlices(values, indices), table)])
    else:
        # Through the gradient of a lookup, which sends each partition its part.
        looked_up = tf.nn.embedding_lookup(table, indices, partition_strategy="div")
        train = optimizer.minimize(tf.reduce_sum(looked_up * values))
    return indices, values, train


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--wide", action="store_true", help="only float32 and float64")
    parser.add_argument("--save")
    parser.add_argument("--restore")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=STEPS)
    arguments = parser.parse_args()
    import tensorflow as tf

    cases = [case for case in CASES.values() if case.dtype in WIDE or not arguments.wide]
    built = [(case, *build(case)) for case in cases]
    saver = tf.train.Saver(sharded=True)
    with tf.Session() as session:
        if arguments.restore:
            saver.restore(session, os.path.join(arguments.restore, "model"))
        else:
            session.run(tf.global_variables_initializer())
        for step in range(arguments.first, arguments.last):
            feeds, trains = {}, []
            for case, indices, values, train in built:
                ids, gradients = batch(step, case.width)
                feeds[indices], feeds[values] = ids, gradients.astype(values.dtype.as_numpy_dtype)
                trains.append(train)
            session.run(trains, feeds)
        if arguments.save:
            saver.save(session, os.path.join(arguments.save, "model"))
        variables = tf.global_variables()
        results = {v.op.name: value.astype(np.float64) for v, value in zip(variables, session.run(variables))}
    with open(arguments.out, "wb") as f:
        pickle.dump(results, f)


if __name__ == "__main__":
    main()
