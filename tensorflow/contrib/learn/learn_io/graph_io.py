"""Readers of files of `tf.Example`s into batches."""

from tensorflow.contrib.data import readers
from tensorflow.python.data.ops import readers as core_readers
from tensorflow.python.ops import io_ops


def read_batch_features(
    file_pattern,
    batch_size,
    features,
    reader,
    randomize_input=True,
    num_epochs=None,
    queue_capacity=10000,
    feature_queue_capacity=100,
    reader_num_threads=1,
    num_enqueue_threads=2,
    parse_fn=None,
    name=None,
    read_batch_size=1,
):
    """Batches of parsed `tf.Example`s from TFRecord files, through a `tf.data` pipeline in the place of queues.

    Args:
      file_pattern: files, or patterns of them.
      batch_size: size of the batches.
      features: dict: feature -> `FixedLenFeature` or `VarLenFeature`.
      reader: `tf.TFRecordReader`, or a dataset class.
      randomize_input: whether the input is shuffled.
      num_epochs: how often the files are read; None: without end.
      queue_capacity: number of elements over which the input is shuffled.
      feature_queue_capacity, reader_num_threads, num_enqueue_threads, name, read_batch_size: sizes and names of 1.15's queues, of which
        there are none.
      parse_fn: must be None.

    Returns:
      dict: feature -> `Tensor` or `SparseTensor`.

    Raises:
      ValueError: if `reader` reads other files, or `parse_fn` is given.
    """
    if parse_fn is not None:
        raise ValueError("parse_fn is not supported: map it over a tf.data.TFRecordDataset")
    if reader is io_ops.TFRecordReader:
        reader = core_readers.TFRecordDataset
    elif isinstance(reader, type) and issubclass(reader, io_ops.ReaderBase):
        raise ValueError(f"reader must be tf.TFRecordReader or a dataset class, got {reader}")
    return readers.read_batch_features(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        randomize_input=randomize_input,
        num_epochs=num_epochs,
        capacity=queue_capacity,
    )


def read_batch_record_features(
    file_pattern,
    batch_size,
    features,
    randomize_input=True,
    num_epochs=None,
    queue_capacity=10000,
    reader_num_threads=1,
    name="dequeue_record_examples",
):
    """`read_batch_features` of TFRecord files."""
    return read_batch_features(
        file_pattern,
        batch_size,
        features,
        core_readers.TFRecordDataset,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads=reader_num_threads,
        name=name,
    )
