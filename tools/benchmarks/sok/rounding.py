"""How far sharded training is from that of one process, and both from float64: 100 steps of SparseOperationKit in a tf.function.

    horovodrun -np 2 -H localhost:2 --gloo python rounding.py

Prints of each optimizer the largest difference of an element from one process' float32, that from NumPy in float64, and the latter of one
process: elementwise, over max(|x|, 1e-3), and in parts of the largest element.
"""

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf
from tf_keras.src.optimizers.legacy import adagrad, adam, gradient_descent

tf.compat.v1.enable_v2_behavior()
from sparse_operation_kit import experiment as sok

ROWS, DIM, BATCH, STEPS = 300, 8, 32, 100
OPTIMIZERS = {
    "SGD": lambda: gradient_descent.SGD(0.3),
    "Adagrad": lambda: adagrad.Adagrad(0.3, initial_accumulator_value=0.1, epsilon=1e-7),
    "Adam": lambda: adam.Adam(0.05, beta_1=0.9, beta_2=0.999, epsilon=1e-7),
}


class Data:
    """The same on all ranks: a table, targets, and of each step keys with weights."""

    def __init__(self):
        random = np.random.default_rng(5)
        self.start = random.standard_normal([ROWS, DIM]).astype(np.float32)
        self.target = random.standard_normal([BATCH, DIM]).astype(np.float32)
        self.steps = [self._step(random) for _ in range(STEPS)]

    @staticmethod
    def _step(random):
        lengths = random.integers(1, 5, BATCH)
        rows, n = np.repeat(np.arange(BATCH), lengths), lengths.sum()
        columns = np.concatenate([np.arange(length) for length in lengths])
        return rows, columns, random.integers(0, ROWS, n), random.uniform(0.5, 2, n).astype(np.float32)


def in_float64(data, name):
    """The table after all steps, by the formulas of Keras' legacy optimizers."""
    table, m, v, total = data.start.astype(np.float64), 0.0, 0.0, np.full([ROWS, DIM], 0.1)
    for step, (rows, _, keys, weights) in enumerate(data.steps, 1):
        mean = np.zeros([BATCH, ROWS])
        np.add.at(mean, (rows, keys), weights.astype(np.float64))
        mean /= mean.sum(1, keepdims=True)
        gradient = mean.T @ (2 * (mean @ table - data.target) / BATCH)
        if name == "SGD":
            table -= np.float32(0.3) * gradient
        elif name == "Adagrad":
            total += gradient**2
            table -= np.float32(0.3) * gradient / (np.sqrt(total) + 1e-7)
        else:
            b1, b2 = float(np.float32(0.9)), float(np.float32(0.999))
            m, v = b1 * m + (1 - b1) * gradient, b2 * v + (1 - b2) * gradient**2
            table -= np.float32(0.05) * np.sqrt(1 - b2**step) / (1 - b1**step) * m / (np.sqrt(v) + 1e-7)
    return table


def trained(data, optimizer, make, lookup, first, last):
    """The variable after all steps on the samples [first, last) of each batch."""
    variable = make(data.start)

    @tf.function(
        input_signature=[tf.TensorSpec([None, 2], tf.int64), tf.TensorSpec([None], tf.int64), tf.TensorSpec([None])]
    )
    def step(indices, keys, weights):
        shape = [last - first, 4]
        with tf.GradientTape() as tape:
            combined = lookup(variable, tf.SparseTensor(indices, keys, shape), tf.SparseTensor(indices, weights, shape))
            loss = tf.reduce_sum(tf.square(combined - data.target[first:last])) / BATCH
        optimizer.apply_gradients(zip(tape.gradient(loss, [variable]), [variable]))

    for rows, columns, keys, weights in data.steps:
        own = (rows >= first) & (rows < last)
        step(np.stack([rows[own] - first, columns[own]], 1), keys[own], weights[own])
    return variable


def shown(found, expected):
    off = np.abs(found - expected)
    return f"{(off / np.maximum(np.abs(expected), 1e-3)).max():.1e} ({off.max() / np.abs(expected).max():.1e} of the largest)"


def main():
    hvd.init()
    sok.init()
    rank, ranks, data = hvd.rank(), hvd.size(), Data()
    variable = (lambda x: tf.Variable(x, use_resource=True)) if hasattr(tf, "Session") else tf.Variable
    for name, make in OPTIMIZERS.items():
        exact = in_float64(data, name)
        one = trained(
            data, make(), variable, lambda *a: tf.nn.embedding_lookup_sparse(*a, combiner="mean"), 0, BATCH
        ).numpy()
        table = trained(
            data,
            make(),
            lambda x: sok.Variable(x, name=name),
            lambda v, ids, w: sok.lookup_sparse(v, ids, sp_weights=w, combiners="mean"),
            rank * BATCH // ranks,
            (rank + 1) * BATCH // ranks,
        )
        keys, rows = (x.numpy() for x in sok.export(table))
        print(
            f"{name}: rank {rank} of {ranks} from one process {shown(rows, one[keys])}, from float64 {shown(rows, exact[keys])}; "
            f"one process from float64 {shown(one, exact)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
