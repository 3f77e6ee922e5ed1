"""Datasets of batches of columnar files: ParquetDataset, read_parquet."""

from tensorflow.deeprec import library
from tensorflow.deeprec.data import arguments, dataframe, field_search, partitions
from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.framework import dtypes, ops, tensor_spec
from tensorflow.python.ops import array_ops

DataFrame = dataframe.DataFrame
to_sparse = dataframe.to_sparse
unbatch_and_to_sparse = dataframe.unbatch_and_to_sparse


class FileDataset(dataset_ops.DatasetSource):
    """Batches of one file.

    Args:
      filename: a scalar string Tensor.
      fields: complete fields.
      format_: "parquet" or "orc".
    """

    def __init__(self, filename, batch_size, fields, format_="parquet", partition_count=1, partition_index=0,
                 drop_remainder=False, skip_corrupted_data=False):  # fmt: skip
        # tf.data flattens dicts by name.
        fields = sorted(fields, key=lambda field: field.name)
        size = batch_size if drop_remainder and isinstance(batch_size, int) else None
        self._element_spec = {
            # A shape on a scalar column takes several rows for one.
            field.name: field.build_spec(None if field.shape.rank else size)
            for field in fields
        }
        variant = library.ops().columnar_file_dataset(
            filename=filename,
            batch_size=ops.convert_to_tensor(batch_size, dtypes.int64),
            format=format_,
            field_names=[field.name for field in fields],
            field_ragged_ranks=[field.ragged_rank for field in fields],
            field_shapes=[field.shape for field in fields],
            partition_count=partition_count,
            partition_index=partition_index,
            drop_remainder=drop_remainder,
            skip_corrupted_data=skip_corrupted_data,
            **self._flat_structure,
        )
        super().__init__(variant)

    @property
    def element_spec(self):
        return self._element_spec


class ParquetDataset(dataset_ops.DatasetV1Adapter):
    """Batches of Parquet files: dicts from column names to Tensors [rows] and, for lists, DataFrame.Values.

    A row group ends with a batch that may be smaller than batch_size, so no batch has rows of two files.

    Args:
      filenames: a path or URI, a list of such, a string Tensor, or a dataset of scalar strings. `?start=a&end=b` behind a name limits
        its row groups.
      batch_size: rows of a batch.
      fields: names and DataFrame.Fields to read; None: all columns. A Field's dtype and ragged_rank, where given, must be those of the
        file. Where filenames are tensors, no file tells: fields must be complete DataFrame.Fields.
      partition_count: each file's row groups are dealt out to so many partitions,
      partition_index: and this one is read.
      skip_corrupted_data: whether row groups and files that cannot be decoded are passed over, and counted
        (`tensorflow.deeprec.data.reader_callbacks.skipped`), or an error.
      drop_remainder: whether batches with fewer rows are left out.
      num_parallel_reads: files to read at a time, in no certain order; AUTOTUNE: in their order; None: one after another.
      num_sequential_reads: batches to take of a file before the next one's turn, where files are read in parallel.

    Raises:
      TypeError: filenames, fields or batch_size are of another kind.
      ValueError: an argument does not fit, or the first file has other columns than `fields`.
      ImportError: there is no pyarrow.
      OSError: the first file cannot be opened.
    """

    @classmethod
    def read_schema(cls, filename, fields=None, lower=False):
        """The fields of a file.

        Args:
          filename: a path or URI.
          fields: names and Fields to look for; None: all columns.
          lower: whether names that are not found are tried in lower case, and returned so.

        Returns:
          A tuple of complete DataFrame.Fields.

        Raises:
          ValueError: a column is not there, has another type than its Field says, or one that tensors cannot hold.
        """
        found, missing = field_search.in_file(filename, fields, lower=lower)
        if missing:
            raise ValueError(f"{filename}: it has no column {missing[0].name!r}")
        return tuple(found)

    def __init__(self, filenames, batch_size=1, fields=None, partition_count=1, partition_index=0, skip_corrupted_data=False,
                 drop_remainder=False, num_parallel_reads=None, num_sequential_reads=1, num_parallel_parser_calls=None):  # fmt: skip
        if num_parallel_parser_calls is not None:
            arguments.check_at_least("num_parallel_parser_calls", num_parallel_parser_calls, 1)
        self._all_fields, self._fields = field_search.resolve(filenames, fields, skip_corrupted=skip_corrupted_data)
        self._partition_count, self._partition_index = partition_count, partition_index
        self._drop_remainder = drop_remainder
        super().__init__(
            batches(
                filename_dataset(filenames),
                num_parallel_reads,
                num_sequential_reads,
                batch_size=batch_size,
                fields=self._fields,
                partition_count=partition_count,
                partition_index=partition_index,
                drop_remainder=drop_remainder,
                skip_corrupted_data=skip_corrupted_data,
            )
        )

    all_fields = property(lambda self: self._all_fields, doc="Fields, with those that the files do not have.")
    fields = property(lambda self: self._fields, doc="Fields that are read.")
    partition_count = property(lambda self: self._partition_count, doc="Partitions of each file's row groups.")
    partition_index = property(lambda self: self._partition_index, doc="The partition that is read.")
    drop_remainder = property(lambda self: self._drop_remainder, doc="Whether smaller batches are left out.")


def read_parquet(batch_size, fields=None, partition_count=1, partition_index=0, drop_remainder=False, num_parallel_reads=None,
                 num_sequential_reads=1):  # fmt: skip
    """A transformation, for `Dataset.apply`, of a dataset of file names into batches of these files; see ParquetDataset."""

    def apply(filenames):
        return ParquetDataset(
            filenames,
            batch_size=batch_size,
            fields=fields,
            partition_count=partition_count,
            partition_index=partition_index,
            drop_remainder=drop_remainder,
            num_parallel_reads=num_parallel_reads,
            num_sequential_reads=num_sequential_reads,
        )

    return apply


def filename_dataset(filenames):
    """A dataset of scalar file names.

    Raises:
      TypeError, ValueError: `filenames` is neither names nor a dataset of scalar strings.
    """
    if isinstance(filenames, dataset_ops.DatasetV2):
        spec = dataset_ops.get_structure(filenames)
        if (
            not isinstance(spec, tensor_spec.TensorSpec)
            or spec.dtype != dtypes.string
            or spec.shape.rank not in (0, None)
        ):
            raise TypeError(f"filenames must be a dataset of scalar strings, got one of {spec}")
        return filenames
    filenames = arguments.names_of_files(filenames)
    if isinstance(filenames, (list, tuple)):
        # Names that are no UTF-8 stay what they are.
        filenames = [name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name for name in filenames]
    names = ops.convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
    return dataset_ops.DatasetV2.from_tensor_slices(array_ops.reshape(names, [-1]))


def batches(filenames, num_parallel_reads, num_sequential_reads, **kwargs):
    """Batches of the files that a dataset names; the other arguments are those of FileDataset.

    Raises:
      TypeError: batch_size or another number is no integer.
      ValueError: an argument is out of its range.
    """
    partitions.check(kwargs["partition_count"], kwargs["partition_index"])
    arguments.check_at_least("batch_size", kwargs["batch_size"], 1)
    arguments.check_at_least("num_sequential_reads", num_sequential_reads, 1)
    if num_parallel_reads not in (None, dataset_ops.AUTOTUNE):
        arguments.check_at_least("num_parallel_reads", num_parallel_reads, 1)

    def read(filename):
        return FileDataset(filename, **kwargs)

    if num_parallel_reads is None:
        return filenames.flat_map(read)
    if num_parallel_reads == dataset_ops.AUTOTUNE:
        return filenames.interleave(read, block_length=num_sequential_reads, num_parallel_calls=dataset_ops.AUTOTUNE)
    return filenames.interleave(
        read,
        cycle_length=num_parallel_reads,
        block_length=num_sequential_reads,
        num_parallel_calls=num_parallel_reads,
        deterministic=False,
    )
