"""Transformations of datasets of batches, for `Dataset.apply`."""

import tensorflow as tf
from tensorflow.deeprec.data.dataframe import DataFrame


def parse(num_parallel_calls=None, pad=False):
    """Tensors and SparseTensors in place of the Values of list columns; see DataFrame.parse for `pad`."""
    return lambda dataset: dataset.map(lambda batch: DataFrame.parse(batch, pad), num_parallel_calls=num_parallel_calls)


def populate_defaults(all_fields, batch_size=None, num_parallel_calls=None):
    """Adds columns that files do not have, to parsed batches; see DataFrame.populate_defaults.

    Args:
      all_fields: fields, those that are missing with a default_value.
      batch_size: rows of a batch, where a batch has no other column to count them; else the rows that the batch has.
      num_parallel_calls: batches at a time.
    """

    def populate(batch):
        return DataFrame.populate_defaults(batch, all_fields, num_rows(batch, batch_size))

    return lambda dataset: dataset.map(populate, num_parallel_calls=num_parallel_calls)


def num_rows(batch, default=None):
    """The rows of a parsed batch, as a scalar int64 Tensor."""
    for name in sorted(batch):
        column = batch[name]
        if isinstance(column, tf.SparseTensor):
            return column.dense_shape[0]
        return tf.shape(column, out_type=tf.int64)[0]
    if default is None:
        raise ValueError("a batch without columns does not tell how many rows it has; give batch_size")
    return tf.constant(default, tf.int64)
