"""Lists that stand in one field of a row."""

from typing import Tuple

import tensorflow as tf


def sparse(values: tf.Tensor, separator: str) -> tf.SparseTensor:
    """string [B] -> the items of each as a SparseTensor [B, longest]; empty items do not count."""
    return tf.string_split(values, separator)


def means(values: tf.Tensor, separator: str) -> tf.Tensor:
    """string [B] of lists of numbers -> the mean of each, float32 [B]; 0 of an empty one. Items that are no numbers are an error
    of the op; text_format.NUMBERS keeps them away."""
    items = sparse(values, separator)
    # In float64: the sum of many large items stays finite.
    numbers = tf.strings.to_number(items.values, tf.float64)
    mean = tf.math.unsorted_segment_mean(numbers, items.indices[:, 0], tf.size(values, out_type=tf.int64))
    return tf.cast(mean, tf.float32)


def padded(values: tf.Tensor, separator: str, length: int, plain: bool = False) -> Tuple[tf.Tensor, tf.Tensor]:
    """string [B] -> the first `length` items of each, string [B, length] filled up with "", and which are items, bool.

    Args:
      plain: by ops of TensorFlow 1.15 alone.
    """
    if plain:
        found = sparse(values, separator)
        shape = [found.dense_shape[0], length]
        found = tf.sparse_slice(found, [0, 0], shape)
        items = tf.sparse_to_dense(found.indices, shape, found.values, "")
    else:
        items = tf.string_split_and_pad(values, length, separator, default_value="")
    items.set_shape([None, length])
    return items, tf.not_equal(items, "")
