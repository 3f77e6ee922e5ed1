"""Lanczos bidiagonalization (Golub and Kahan, 1965)."""

import collections

import numpy as np
import tensorflow as tf
from tensorflow.contrib.solvers import util

_Result = collections.namedtuple("LanczosBidiagState", ["u", "v", "alpha", "beta"])


def lanczos_bidiag(operator, k, orthogonalize=True, starting_vector=None, name="lanczos_bidiag"):
    """Finds U [m, k + 1] and V [n, k] of orthonormal columns and a lower bidiagonal B with A V = U B.

    Also A' U[:, :-1] = V B[:-1, :]'. Stops before k steps if the columns span an invariant subspace.

    Args:
      operator: A, [m, n], as `util.create_operator` makes it.
      k: maximal number of steps, an int or a scalar int32 tensor.
      orthogonalize: whether each new column is orthogonalized against all before it, and not by the recurrence alone.
      starting_vector: [m], what the first column of U is made of; random by default.
      name: of the scope.

    Returns:
      A namedtuple `u`, `v`, `alpha` (the diagonal of B), `beta` (what is below it), as far as steps were done.
    """
    with tf.name_scope(name):
        rows, columns = operator.shape[0], operator.shape[1]
        if starting_vector is None:
            starting_vector = tf.random_uniform(operator.shape[:1], -1, 1, dtype=operator.dtype)
        u = tf.reshape(util.l2normalize(tf.convert_to_tensor(starting_vector))[0], [rows, 1])
        tiny = 10 * np.finfo(operator.dtype.as_numpy_dtype).eps

        def normalized(column, basis):
            if orthogonalize:
                # Twice is enough (Kahan and Parlett).
                for _ in range(2):
                    column -= tf.matmul(basis, tf.matmul(basis, column, adjoint_a=True))
            norm = util.l2norm(column)
            return tf.math.divide_no_nan(column, norm), norm

        def unfinished(i, going, u, v, alpha, beta):
            return tf.logical_and(going, i < k)

        def step(i, going, u, v, alpha, beta):
            last = u[:, -1:]
            column = operator.apply_adjoint(last)
            # The sums are of one entry, or of none in the first step.
            column -= tf.matmul(v[:, -1:], beta[-1:, tf.newaxis])
            new_v, new_alpha = normalized(column, v)
            new_u, new_beta = normalized(operator.apply(new_v) - new_alpha * last, u)
            largest = tf.reduce_max(tf.concat([alpha, beta, [new_alpha, new_beta]], 0))
            going = tf.minimum(new_alpha, new_beta) > tiny * largest
            return (
                i + 1,
                going,
                tf.concat([u, new_u], 1),
                tf.concat([v, new_v], 1),
                tf.concat([alpha, [new_alpha]], 0),
                tf.concat([beta, [new_beta]], 0),
            )

        empty = tf.zeros([0], operator.dtype)
        start = [tf.constant(0), tf.constant(True), u, tf.zeros([columns, 0], operator.dtype), empty, empty]
        shapes = [[], [], [u.shape[0], None], [start[3].shape[0], None], [None], [None]]
        result = tf.while_loop(unfinished, step, start, [tf.TensorShape(shape) for shape in shapes])
        return _Result(*result[2:])


def bidiag_matmul(matrix, alpha, beta, adjoint_b=False, name="bidiag_matmul"):
    """`matrix` times the bidiagonal [k + 1, k] matrix B of `alpha` and `beta`, or times B[:-1, :]'.

    Args:
      matrix: [m, k + 1], or [m, k] with `adjoint_b`.
      alpha: [k], the diagonal.
      beta: [k], what is below it.
      adjoint_b: which product.
      name: of the scope.

    Returns:
      [m, k].
    """
    with tf.name_scope(name):
        matrix = tf.convert_to_tensor(matrix)
        if not adjoint_b:
            return matrix[:, :-1] * alpha + matrix[:, 1:] * beta
        return matrix * alpha + tf.pad(matrix[:, :-1] * beta[:-1], [[0, 0], [1, 0]])
