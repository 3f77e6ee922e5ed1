"""Polyharmonic splines through scattered points."""

import tensorflow as tf

_EPSILON = 1e-10


def _pairwise(x, y):
    """Squared distances [batch, n, m] of x [batch, n, d] and y [batch, m, d]."""
    x_norm = tf.reduce_sum(tf.square(x), 2, keepdims=True)
    y_norm = tf.reduce_sum(tf.square(y), 2, keepdims=True)
    return x_norm - 2 * tf.matmul(x, y, transpose_b=True) + tf.transpose(y_norm, [0, 2, 1])


def _phi(squared, order):
    """The spline's kernel of squared distances: r^order, times log r for even orders."""
    r2 = tf.maximum(squared, _EPSILON)
    if order % 2:
        return tf.pow(r2, 0.5 * order)
    return 0.5 * tf.pow(r2, 0.5 * order) * tf.log(r2)


def interpolate_spline(
    train_points, train_values, query_points, order, regularization_weight=0.0, name="interpolate_spline"
):
    """Values at `query_points` of the polyharmonic spline through `train_points`.

    Args:
      train_points: [batch, n, d].
      train_values: [batch, n, k].
      query_points: [batch, m, d].
      order: of the spline: 1 is piecewise linear in one dimension, 2 the thin plate, 3 cubic.
      regularization_weight: more is smoother; 0 goes through all points.
      name: name scope.

    Returns:
      [batch, m, k].
    """
    with tf.name_scope(name):
        points = tf.convert_to_tensor(train_points)
        values = tf.convert_to_tensor(train_values)
        query = tf.convert_to_tensor(query_points)
        kernel = _phi(_pairwise(points, points), order)
        if isinstance(regularization_weight, tf.Tensor) or regularization_weight > 0:
            kernel += regularization_weight * tf.eye(tf.shape(points)[1], batch_shape=[1], dtype=points.dtype)
        linear = tf.concat([points, tf.ones_like(points[..., :1])], 2)
        columns = tf.shape(linear)[2]
        corner = tf.zeros([tf.shape(points)[0], columns, columns], points.dtype)
        system = tf.concat([tf.concat([kernel, linear], 2), tf.concat([tf.transpose(linear, [0, 2, 1]), corner], 2)], 1)
        right = tf.concat([values, tf.zeros([tf.shape(points)[0], columns, tf.shape(values)[2]], values.dtype)], 1)
        solution = tf.matrix_solve(system, right)
        count = tf.shape(points)[1]
        w, v = solution[:, :count], solution[:, count:]
        query_linear = tf.concat([query, tf.ones_like(query[..., :1])], 2)
        return tf.matmul(_phi(_pairwise(query, points), order), w) + tf.matmul(query_linear, v)
