"""Iterates over a dataset in eager execution."""

import tensorflow as tf


class Iterator:
    """Gives the elements of a dataset one after the other.

    Args:
      dataset: a `tf.data.Dataset`.

    Raises:
      RuntimeError: eager execution is off.
    """

    def __init__(self, dataset):
        if not tf.executing_eagerly():
            raise RuntimeError(
                "tf.contrib.eager.Iterator is only supported when eager execution is enabled; "
                "use Dataset.make_one_shot_iterator in graphs."
            )
        self._dataset = dataset
        self._iterator = iter(dataset)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._iterator)

    def next(self):
        """The next element; StopIteration at the end."""
        return self.__next__()

    def get_next(self):
        """The next element; tf.errors.OutOfRangeError at the end."""
        return self._iterator.get_next()

    @property
    def element_spec(self):
        """Nested structure of `tf.TypeSpec`s of an element."""
        return self._dataset.element_spec

    @property
    def output_classes(self):
        return tf.data.get_output_classes(self._dataset)

    @property
    def output_shapes(self):
        return tf.data.get_output_shapes(self._dataset)

    @property
    def output_types(self):
        return tf.data.get_output_types(self._dataset)
