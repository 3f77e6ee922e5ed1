"""Warps an image by a flow field."""

import tensorflow as tf


def _interpolate_bilinear(grid, query_points, name="interpolate_bilinear", indexing="ij"):
    """Bilinear values of a grid at points; points outside take the value at the edge.

    Args:
      grid: [batch, height, width, channels].
      query_points: [batch, points, 2], (row, column) or (column, row) as `indexing` says.
      name: name scope.
      indexing: "ij" or "xy".

    Returns:
      [batch, points, channels].

    Raises:
      ValueError: another shape or `indexing`, or a grid of less than 2 rows or columns.
    """
    if indexing not in ("ij", "xy"):
        raise ValueError(f"Indexing mode must be 'ij' or 'xy', got {indexing!r}")
    with tf.name_scope(name):
        grid = tf.convert_to_tensor(grid)
        points = tf.convert_to_tensor(query_points)
        if grid.shape.ndims != 4:
            raise ValueError(f"Grid must be 4 dimensional. Received shape: {grid.shape}")
        if points.shape.ndims != 3 or points.shape.dims[2].value != 2:
            raise ValueError(f"Query points must be [batch, points, 2]. Received shape: {points.shape}")
        for axis in (1, 2):
            if grid.shape.dims[axis].value is not None and grid.shape.dims[axis].value < 2:
                raise ValueError(f"Grid must be at least 2 by 2, received shape {grid.shape}")
        order = (0, 1) if indexing == "ij" else (1, 0)
        lower, share = [], []
        for axis in (1, 2):
            q = points[:, :, order[axis - 1]]
            size = tf.shape(grid)[axis]
            floor = tf.minimum(tf.maximum(0.0, tf.floor(q)), tf.cast(size - 2, q.dtype))
            lower.append(tf.cast(floor, tf.int32))
            share.append(tf.expand_dims(tf.minimum(tf.maximum(0.0, tf.cast(q - floor, grid.dtype)), 1.0), 2))

        def at(rows, columns):
            return tf.gather_nd(grid, tf.stack([rows, columns], -1), batch_dims=1)

        top_left, top_right = at(lower[0], lower[1]), at(lower[0], lower[1] + 1)
        bottom_left, bottom_right = at(lower[0] + 1, lower[1]), at(lower[0] + 1, lower[1] + 1)
        top = share[1] * (top_right - top_left) + top_left
        bottom = share[1] * (bottom_right - bottom_left) + bottom_left
        return share[0] * (bottom - top) + top


def dense_image_warp(image, flow, name="dense_image_warp"):
    """The pixel at (row, column) of the result is the image at (row, column) - flow.

    Args:
      image: [batch, height, width, channels].
      flow: [batch, height, width, 2], (rows, columns).
      name: name scope.

    Returns:
      An image like `image`, bilinear; points outside take the edge's value.
    """
    with tf.name_scope(name):
        image = tf.convert_to_tensor(image)
        shape = tf.shape(image)
        batch, height, width, channels = (shape[axis] for axis in range(4))
        columns, rows = tf.meshgrid(tf.range(width), tf.range(height))
        grid = tf.cast(tf.stack([rows, columns], axis=2), flow.dtype)
        points = tf.reshape(tf.expand_dims(grid, axis=0) - flow, [batch, height * width, 2])
        warped = tf.reshape(_interpolate_bilinear(image, points), [batch, height, width, channels])
        warped.set_shape(image.shape)
        return warped
