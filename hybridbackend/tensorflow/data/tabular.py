"""`hb.data.Dataset`: records of columnar files."""

import collections
import multiprocessing

from hybridbackend.tensorflow.data import deduplication, transformations
from tensorflow.deeprec.data import arguments, dataframe, field_search, parquet_dataset, partitions
from tensorflow.deeprec.data.rebatch import RebatchDataset
from tensorflow.python.data.ops import dataset_ops

# Rows that are decoded at a time where records are wanted one by one.
_RECORDS_AT_A_TIME = 256

Creator = collections.namedtuple(
    "Creator",
    (
        "format", "filenames", "fields", "partition_count", "partition_index", "skip_corrupted_data", "to_dense", "num_parallel_reads",
        "num_parallel_parser_calls", "key_idx_field_names", "value_field_names",
    ),
)  # fmt: skip


class TabularDataset(dataset_ops.DatasetV1Adapter):
    """Records of columnar files: dicts from column names to Tensors, and SparseTensors for list columns.

    `batch` and `shuffle_batch` make batches of exactly the size asked for, across row groups and files, and much faster than iterating over
    single records would.

    Use `Dataset.from_parquet` and `Dataset.from_orc`:

    Args:
      filenames: a path or URI, a list of such, a string Tensor, or a dataset of scalar strings.
      fields: names and DataFrame.Fields, or None for all columns; as in ParquetDataset. A Field with a default_value may be missing in the
        files: rows hold the default then. Where filenames are tensors, fields must be complete Fields.
      partition_count: each file's row groups (Parquet) or rows (ORC) are dealt out to so many partitions,
      partition_index: and this one is read.
      skip_corrupted_data: whether row groups and files that cannot be decoded are passed over and counted, or an error.
      to_dense: Tensors filled up with 0 in place of SparseTensors; as `pad` of DataFrame.parse.
      num_parallel_reads: files to read at a time, in no certain order; AUTOTUNE: in their order; None: one after another.
      num_parallel_parser_calls: batches to parse at a time; None: as many as there are columns, or processors if these are fewer.
      field_ignore_case: whether names that a file has not are tried in lower case, and returned so; those of deduplicated columns too.
      field_map_fn: a function from the fields to those to read.
      key_idx_field_names: index columns of deduplicated columns; see deduplicate. A row of the file is a block of rows then, and a batch has
        batch_size blocks. Single records have no room for columns that are not deduplicated.
      value_field_names: for each index column, the columns that it restores.

    Raises:
      TypeError: a number is no integer.
      ValueError: an argument does not fit, or the first file has other columns than `fields`.
      ImportError: there is no pyarrow.
      OSError: the first file cannot be opened.

    Reading single records raises InvalidArgumentError if columns that are not deduplicated are among them.
    """

    @classmethod
    def from_parquet(cls, filenames, **kwargs):
        """Records of Parquet files; the arguments are those of the class."""
        return cls("parquet", filenames, **kwargs)

    @classmethod
    def from_orc(cls, filenames, **kwargs):
        """Records of ORC files; the arguments are those of the class."""
        return cls("orc", filenames, **kwargs)

    def __init__(
        self,
        format_,
        filenames,
        fields=None,
        partition_count=1,
        partition_index=0,
        skip_corrupted_data=False,
        to_dense=False,
        num_parallel_reads=None,
        num_parallel_parser_calls=None,
        field_ignore_case=False,
        field_map_fn=None,
        key_idx_field_names=None,
        value_field_names=None,
    ):
        partitions.check(partition_count, partition_index)
        fields, present = field_search.resolve(filenames, fields, format_, field_ignore_case, skip_corrupted_data)
        if field_map_fn is not None:
            fields = tuple(field_map_fn(fields) or ())
            names = {field.name for field in present}
            present = tuple(field for field in fields if field.name in names)
            if not present:
                raise ValueError("field_map_fn must return at least one field that the files have")
        self._fields, self._present = fields, present
        names = [field.name for field in present]
        self._restored_by = deduplication.index_of_values(
            key_idx_field_names, value_field_names, names if field_ignore_case else None
        )
        deduplication.check_names(self._restored_by, names)
        for field in present:
            if field.name in self._restored_by:
                field.set_restore_idx_field(self._restored_by[field.name])
        if num_parallel_parser_calls is None:
            num_parallel_parser_calls = min(len(present), multiprocessing.cpu_count())
        else:
            arguments.check_at_least("num_parallel_parser_calls", num_parallel_parser_calls, 1)
        self._creator = Creator(
            format_, filenames, fields, partition_count, partition_index, skip_corrupted_data, to_dense, num_parallel_reads,
            num_parallel_parser_calls, key_idx_field_names, value_field_names,
        )  # fmt: skip
        batches = self._parsed(self._read(_RECORDS_AT_A_TIME))
        if self._restored_by:
            batches = batches.map(lambda batch: deduplication.of_equal_length(batch, self._restored_by))
        super().__init__(batches.unbatch())

    fields = property(lambda self: self._fields, doc="Fields of a record.")
    creator = property(lambda self: self._creator, doc="The arguments that this was made with.")

    def batch(self, batch_size, drop_remainder=False):
        """Batches of `batch_size` records; the last one may have fewer, unless drop_remainder leaves it out."""
        return self._batched(batch_size, drop_remainder)

    def shuffle_batch(
        self, batch_size, drop_remainder=False, buffer_size=None, seed=None, reshuffle_each_iteration=None
    ):
        """Batches of records in another order.

        Args:
          batch_size: records of a batch; the last one may have fewer.
          drop_remainder: whether that is left out.
          buffer_size: records to draw from; None: batch_size.
          seed: of the order; None: that of the graph, or another order each time.
          reshuffle_each_iteration: whether each iteration has another order; None: yes.
        """
        return self._batched(
            batch_size,
            drop_remainder,
            shuffle_buffer_size=batch_size if buffer_size is None else buffer_size,
            shuffle_seed=seed,
            reshuffle_each_iteration=reshuffle_each_iteration,
        )

    def _batched(self, batch_size, drop_remainder, **shuffle):
        batches = RebatchDataset(self._read(batch_size), None, batch_size, drop_remainder, **shuffle)
        return dataset_ops.DatasetV1Adapter(self._parsed(batches))

    def _read(self, batch_size):
        creator = self._creator
        return parquet_dataset.batches(
            parquet_dataset.filename_dataset(creator.filenames),
            creator.num_parallel_reads,
            1,
            batch_size=batch_size,
            fields=self._present,
            format_=creator.format,
            partition_count=creator.partition_count,
            partition_index=creator.partition_index,
            skip_corrupted_data=creator.skip_corrupted_data,
        )

    def _parsed(self, batches):
        keys = set(self._restored_by.values())
        wanted = [field for field in self._fields if field.name not in keys]

        def parse(batch):
            if self._restored_by:
                batch = deduplication.restore(batch, self._restored_by, self._creator.to_dense)
            else:
                batch = dataframe.DataFrame.parse(batch, self._creator.to_dense)
            restored = {name: batch[name] for name in self._restored_by}
            return dataframe.DataFrame.populate_defaults(batch, wanted, transformations.num_rows(restored or batch))

        return batches.map(parse, num_parallel_calls=self._creator.num_parallel_parser_calls)


Dataset = TabularDataset
