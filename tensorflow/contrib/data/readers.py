"""Readers of files: core's transformations under contrib's path."""

from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.data.ops import readers as core_readers
from tensorflow.python.framework import dtypes, ops, tensor_spec
from tensorflow.python.ops import gen_experimental_dataset_ops
from tensorflow.data.experimental import (
    CsvDataset,
    SqlDataset,
    make_batched_features_dataset,
    make_csv_dataset,
)

__all__ = [
    "CsvDataset",
    "LMDBDataset",
    "SqlDataset",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "read_batch_features",
]


class LMDBDataset(dataset_ops.DatasetV1Adapter):
    """Pairs (key, value) of strings from LMDB files.

    Args:
      filenames: string tensor, one name or several.

    Raises:
      InvalidArgumentError: by the iterator, if a file cannot be opened.
    """

    def __init__(self, filenames):
        super().__init__(_LMDBDataset(filenames))


class _LMDBDataset(dataset_ops.DatasetSource):
    def __init__(self, filenames):
        self._filenames = ops.convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        self._spec = (tensor_spec.TensorSpec([], dtypes.string), tensor_spec.TensorSpec([], dtypes.string))
        super().__init__(gen_experimental_dataset_ops.lmdb_dataset(self._filenames, **self._flat_structure))

    @property
    def element_spec(self):
        return self._spec


def read_batch_features(
    file_pattern,
    batch_size,
    features,
    reader=core_readers.TFRecordDataset,
    reader_args=None,
    randomize_input=True,
    num_epochs=None,
    capacity=10000,
):
    """Batches of parsed `tf.Example`s.

    Args:
      file_pattern: files, or patterns of them.
      batch_size: size of the batches.
      features: dict: feature -> `FixedLenFeature` or `VarLenFeature`.
      reader: dataset class that reads the files.
      reader_args: further arguments of it.
      randomize_input: whether the input is shuffled.
      num_epochs: how often the files are read; None: without end.
      capacity: number of elements over which the input is shuffled.

    Returns:
      dict: feature -> `Tensor` or `SparseTensor`.
    """
    dataset = make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    return dataset_ops.make_one_shot_iterator(dataset).get_next()
