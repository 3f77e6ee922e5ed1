"""Random batches of keys, and what NumPy makes of them."""

import numpy as np
import tensorflow as tf


class Batch:
    """Ragged keys, with weights, as arrays: `rows[i]` are the keys of sample i."""

    def __init__(self, rows, weights=None):
        self.rows = [np.asarray(row, np.int64) for row in rows]
        self.weights = weights or [np.ones(len(row), np.float32) for row in rows]

    @classmethod
    def random(cls, random, samples, keys, hotness):
        """`samples` rows of up to `hotness` keys below `keys`; some are empty."""
        lengths = random.integers(0, hotness + 1, samples)
        rows = [random.integers(0, keys, n) for n in lengths]
        return cls(rows, [random.uniform(0.5, 2, n).astype(np.float32) for n in lengths])

    def part(self, rank, ranks):
        """The samples of one rank: a contiguous piece."""
        size = len(self.rows) // ranks
        cut = slice(rank * size, (rank + 1) * size)
        return Batch(self.rows[cut], self.weights[cut])

    def _sparse(self, values, dtype):
        indices = [[i, j] for i, row in enumerate(self.rows) for j in range(len(row))]
        width = max([len(row) for row in self.rows] + [1])
        return tf.SparseTensor(
            np.array(indices, np.int64).reshape(-1, 2), np.concatenate(values).astype(dtype), [len(self.rows), width]
        )

    def ids(self, dtype=np.int64):
        return self._sparse(self.rows, dtype)

    def sparse_weights(self):
        return self._sparse(self.weights, np.float32)

    def ragged(self, dtype=np.int64):
        return tf.RaggedTensor.from_row_lengths(
            np.concatenate(self.rows).astype(dtype), np.array([len(row) for row in self.rows], np.int64)
        )

    def combine(self, table, combiner, weighted=True):
        """`[samples, dim]` of a table, by the definition."""
        out = np.zeros([len(self.rows), table.shape[1]])
        for i, (row, weight) in enumerate(zip(self.rows, self.weights)):
            if len(row):
                weight = weight.astype(np.float64) if weighted else np.ones(len(row))
                out[i] = weight @ table[row] / (weight.sum() if combiner == "mean" else 1)
        return out

    def gradient(self, upstream, rows, combiner, weighted=True):
        """Of sum(upstream * combined) by the table, `[rows, dim]`."""
        out = np.zeros([rows, upstream.shape[1]])
        for i, (row, weight) in enumerate(zip(self.rows, self.weights)):
            weight = weight.astype(np.float64) if weighted else np.ones(len(row))
            for key, w in zip(row, weight / (weight.sum() if combiner == "mean" and len(row) else 1)):
                out[key] += w * upstream[i]
        return out


def densified(keys, values, rows):
    """Rows `[rows, dim]` out of keys and values; a key twice is an error."""
    assert len(set(keys.tolist())) == len(keys)
    out = np.zeros([rows, values.shape[1]])
    out[keys] = values
    return out
