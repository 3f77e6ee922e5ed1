"""Warps an image by the moves of some of its points."""

import numpy as np
import tensorflow as tf

from tensorflow.contrib.image.dense_image_warp import dense_image_warp
from tensorflow.contrib.image.interpolate_spline import interpolate_spline


def _boundary_points(height, width, per_edge):
    """Points on the border: corners and `per_edge` more on each edge, (row, column)."""
    rows = np.linspace(0, height - 1, per_edge + 2)
    columns = np.linspace(0, width - 1, per_edge + 2)
    grid = np.stack(np.meshgrid(rows, columns, indexing="ij"), -1).reshape(-1, 2)
    on_edge = np.isin(grid[:, 0], (0, height - 1)) | np.isin(grid[:, 1], (0, width - 1))
    return grid[on_edge]


def sparse_image_warp(
    image,
    source_control_point_locations,
    dest_control_point_locations,
    interpolation_order=2,
    regularization_weight=0.0,
    num_boundary_points=0,
    name="sparse_image_warp",
):
    """Moves control points from source to destination, and the rest of the image along with them.

    Args:
      image: [batch, height, width, channels], of known height and width.
      source_control_point_locations: [batch, points, 2], (row, column).
      dest_control_point_locations: the same, where they go.
      interpolation_order: of the spline, see `interpolate_spline`.
      regularization_weight: of the spline.
      num_boundary_points: more than 0 holds the corners, 2 also the middle of each edge, and so on.
      name: name scope.

    Returns:
      (the warped image, the flow [batch, height, width, 2]).

    Raises:
      ValueError: `num_boundary_points` is negative, or the image's size is unknown.
    """
    if num_boundary_points < 0:
        raise ValueError(f"num_boundary_points must be >= 0, got {num_boundary_points}")
    with tf.name_scope(name):
        image = tf.convert_to_tensor(image)
        source = tf.convert_to_tensor(source_control_point_locations)
        dest = tf.convert_to_tensor(dest_control_point_locations)
        batch = tf.shape(image)[0]
        height, width = image.shape.as_list()[1:3]
        if height is None or width is None:
            raise ValueError(f"sparse_image_warp needs a known height and width, got {image.shape}")
        flows = dest - source
        if num_boundary_points > 0:
            fixed = _boundary_points(height, width, num_boundary_points - 1)
            fixed = tf.tile(tf.constant(fixed[None], dest.dtype), [batch, 1, 1])
            dest = tf.concat([dest, fixed], 1)
            flows = tf.concat([flows, tf.zeros_like(fixed)], 1)
        grid = np.stack(np.meshgrid(np.arange(height), np.arange(width), indexing="ij"), -1).reshape(1, -1, 2)
        query = tf.tile(tf.constant(grid, dest.dtype), [batch, 1, 1])
        flow = interpolate_spline(dest, flows, query, interpolation_order, regularization_weight)
        flow = tf.reshape(flow, [batch, height, width, 2])
        return dense_image_warp(image, flow), flow
