"""Bilinear samples of images at given points."""

import tensorflow as tf
from tensorflow.deeprec import library
from tensorflow.python.framework import ops


def resampler(data, warp, name="resampler"):
    """Samples `data` at the points of `warp`; pixels outside of the image count as 0.

    Args:
      data: [batch, height, width, channels] floats.
      warp: [batch, ..., 2] of the same type: points (x, y).
      name: name scope.

    Returns:
      [batch, ..., channels]. Both inputs have gradients.

    Raises:
      tf.errors.InvalidArgumentError: batch sizes differ.
    """
    with tf.name_scope(name, "resampler", [data, warp]):
        data = tf.convert_to_tensor(data, name="data")
        warp = tf.convert_to_tensor(warp, name="warp")
        return library.ops().resampler(data, warp)


def _gradient(op, grad):
    return list(library.ops().resampler_grad(*op.inputs, grad))


if "Resampler" not in ops.gradient_registry.list():
    ops.RegisterGradient("Resampler")(_gradient)
    ops.NotDifferentiable("ResamplerGrad")
