"""Linear operators and norms for the solvers.

An operator has `shape` [m, n], `dtype`, and `apply` and `apply_adjoint`, which take columns: [n, r] and [m, r].
"""

import collections

import tensorflow as tf

_Operator = collections.namedtuple("LinearOperator", ["shape", "dtype", "apply", "apply_adjoint"])


def create_operator(matrix):
    """The operator of a matrix [m, n]."""
    matrix = tf.convert_to_tensor(matrix)
    shape = matrix.shape.as_list() if matrix.shape.is_fully_defined() else tf.shape(matrix)
    return _Operator(
        shape,
        matrix.dtype,
        lambda columns: tf.matmul(matrix, columns),
        lambda columns: tf.matmul(matrix, columns, adjoint_a=True),
    )


def identity_operator(matrix):
    """The operator that changes nothing, of the shape and dtype of `matrix`."""
    matrix = tf.convert_to_tensor(matrix)
    shape = matrix.shape.as_list() if matrix.shape.is_fully_defined() else tf.shape(matrix)
    return _Operator(shape, matrix.dtype, tf.identity, tf.identity)


def dot(x, y):
    """The scalar product of all entries, the first conjugated."""
    return tf.reduce_sum(tf.math.conj(x) * y)


def l2norm_squared(v):
    """The sum of the squares of all entries."""
    return tf.constant(2, dtype=v.dtype.base_dtype) * tf.nn.l2_loss(v)


def l2norm(v):
    """The Euclidean length of a tensor."""
    return tf.sqrt(l2norm_squared(v))


def l2normalize(v):
    """(v divided by its length, its length)."""
    norm = l2norm(v)
    return v / norm, norm
