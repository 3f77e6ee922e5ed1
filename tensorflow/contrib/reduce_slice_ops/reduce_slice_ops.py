"""Reductions over slices of one dimension, each between two bounds.

`indices` are [n, 2] (first, end), or [n + 1] bounds of n slices that follow one another; `axis` is the dimension that is
cut. Bounds outside of the data are cut off; what has no elements gives the neutral value.
"""

import tensorflow as tf


def _bounds(data, indices, axis):
    indices = tf.convert_to_tensor(indices)
    size = tf.cast(tf.shape(data)[axis], indices.dtype)
    if indices.shape.ndims == 1:
        first, end = indices[:-1], indices[1:]
    elif indices.shape.ndims == 2:
        first, end = indices[:, 0], indices[:, 1]
    else:
        raise ValueError(f"indices must be [n + 1] or [n, 2], got shape {indices.shape}")
    return tf.clip_by_value(first, 0, size), tf.clip_by_value(end, 0, size)


def _reduce(data, indices, axis, reduction, neutral, name):
    with tf.name_scope(name, values=[data, indices, axis]):
        data = tf.convert_to_tensor(data)
        axis = int(tf.get_static_value(tf.convert_to_tensor(axis))) % data.shape.ndims
        first, end = _bounds(data, indices, axis)
        front = tf.transpose(data, [axis] + [d for d in range(data.shape.ndims) if d != axis])
        position = tf.range(tf.cast(tf.shape(front)[0], first.dtype))
        inside = tf.logical_and(position >= first[:, None], position < end[:, None])
        inside = tf.reshape(inside, tf.concat([tf.shape(inside), tf.ones([tf.rank(front) - 1], tf.int32)], 0))
        spread = tf.broadcast_to(front[None], tf.concat([tf.shape(first), tf.shape(front)], 0))
        inside = tf.broadcast_to(inside, tf.shape(spread))
        fill = tf.fill(tf.shape(spread), tf.cast(neutral(data.dtype), data.dtype))
        reduced = reduction(tf.where(inside, spread, fill), axis=1)
        order = list(range(1, data.shape.ndims))
        order.insert(axis, 0)
        return tf.transpose(reduced, order)


def reduce_slice_sum(data, indices, axis, name="ReduceSliceSum"):
    """Sums of slices; 0 for empty ones."""
    return _reduce(data, indices, axis, tf.reduce_sum, lambda dtype: 0, name)


def reduce_slice_prod(data, indices, axis, name="ReduceSliceProd"):
    """Products of slices; 1 for empty ones."""
    return _reduce(data, indices, axis, tf.reduce_prod, lambda dtype: 1, name)


def reduce_slice_max(data, indices, axis, name="ReduceSliceMax"):
    """Greatest values of slices; the type's least for empty ones."""
    return _reduce(data, indices, axis, tf.reduce_max, lambda dtype: dtype.min, name)


def reduce_slice_min(data, indices, axis, name="ReduceSliceMin"):
    """Least values of slices; the type's greatest for empty ones."""
    return _reduce(data, indices, axis, tf.reduce_min, lambda dtype: dtype.max, name)
