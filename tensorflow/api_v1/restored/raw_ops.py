"""Ops that the runtime does not register any more."""

import tensorflow as tf


def compare_and_bitpack(input, threshold, name=None):
    """Packs comparisons with a threshold into bytes: bit 7 - j of output[..., i] is input[..., 8 i + j] > threshold.

    Args:
      input: tensor [..., 8 n] of a number type or bool.
      threshold: scalar of the same type.
      name: of the op.

    Returns:
      A uint8 tensor [..., n].

    Raises:
      ValueError: a last dimension that is no multiple of 8. tf.errors.InvalidArgumentError: the same, at run time.
    """
    with tf.name_scope(name, "CompareAndBitpack", [input, threshold]):
        input = tf.convert_to_tensor(input, name="input")
        threshold = tf.convert_to_tensor(threshold, dtype=input.dtype, name="threshold")
        last = tf.compat.dimension_value(input.shape[-1])
        if last is not None and last % 8:
            raise ValueError(f"the last dimension of input must be a multiple of 8, got shape {input.shape}")
        if input.dtype == tf.bool:
            input, threshold = tf.cast(input, tf.uint8), tf.cast(threshold, tf.uint8)
        shape = tf.shape(input)
        bits = tf.reshape(tf.greater(input, threshold), tf.concat([shape[:-1], [shape[-1] // 8, 8]], 0))
        weights = tf.constant([128, 64, 32, 16, 8, 4, 2, 1], tf.int32)
        packed = tf.cast(tf.reduce_sum(tf.cast(bits, tf.int32) * weights, -1), tf.uint8)
        if input.shape.rank is not None:
            packed.set_shape(input.shape[:-1].concatenate([None if last is None else last // 8]))
        return packed


def CompareAndBitpack(input, threshold, name=None):
    """`compare_and_bitpack` with keyword arguments, as in tf.raw_ops."""
    return compare_and_bitpack(input=input, threshold=threshold, name=name)
