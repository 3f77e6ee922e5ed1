"""Columnar files as streams of record batches, part by part.

A part is what a file is read by: a row group of Parquet, a stripe of ORC. Its stream decodes some 16 MB at a time, in pyarrow's C++ and
without Python's lock, which is held only for the microseconds between two such chunks. So memory does not grow with the file, nor with
its row groups.
"""

import collections
import itertools
import os
from typing import Iterator

from tensorflow.deeprec.data import arrow, file_systems, partitions

_CHUNK_BYTES = 16 << 20
# Bytes of a value in memory, where its type does not say.
_SMALLEST_VALUE = 8


class CorruptedError(Exception):
    """A file, or data in it, that cannot be decoded."""


def open_file(name: str, format_: str, columns: list[str], batch_size: int, partition_count: int, partition_index: int):
    """Opens a file for reading some of its columns.

    Args:
      name: a path or URI; see file_systems.
      format_: "parquet" or "orc".
      columns: names of columns of the file.
      batch_size: rows that a chunk has a multiple of.
      partition_count: of so many partitions,
      partition_index: the one to read.

    Returns:
      An object with `num_parts`, and `stream(part, skip)`, which returns a pyarrow.RecordBatchReader.

    Raises:
      CorruptedError: it is not a file of this format, or cut short.
      OSError: it cannot be opened.
      ValueError: an argument does not fit the file.
    """
    return _FORMATS[format_](name, columns, batch_size, partition_count, partition_index)


def read_schema(name: str, format_: str):
    """The pyarrow.Schema of a file.

    Raises:
      CorruptedError, OSError: as in open_file.
    """
    location = file_systems.parse(name).location
    with file_systems.open_file(location) as source:
        opened = _FORMATS[format_].open(source, location)
        return opened.schema_arrow if format_ == "parquet" else opened.schema


def num_row_groups(name: str) -> int:
    """Of a Parquet file.

    Raises:
      CorruptedError, OSError: as in open_file.
    """
    location = file_systems.parse(name).location
    with file_systems.open_file(location) as source:
        return _Parquet.open(source, location).num_row_groups


class _ColumnarFile:
    """What the formats have in common. `part_rows`: for each part, its number in the file and the rows [begin, end) to read."""

    def __init__(self, name, columns, batch_size, partition_count, partition_index):
        partitions.check(partition_count, partition_index)
        self._name = file_systems.parse(name)
        self._columns = columns
        self._batch_size = batch_size
        self._source = file_systems.open_file(self._name.location)
        try:
            self._file = self.open(self._source, self._name.location)
            self._check_columns()
            self.part_rows = self._find_parts(partition_count, partition_index)
        except BaseException:
            self._source.close()
            raise

    @property
    def location(self) -> str:
        return self._name.location

    @property
    def num_parts(self) -> int:
        return len(self.part_rows)

    def close(self) -> None:
        self._source.close()

    def stream(self, part: int, skip: int):
        number, begin, end = self.part_rows[part]
        begin += skip
        pa = arrow.module("pyarrow")
        batches = _rows(self._chunks(number), begin, end)
        # The schema of what is read, which may have other types than that of the file.
        first = next(batches, None)
        if first is None:
            return pa.RecordBatchReader.from_batches(self._empty_schema(), [])
        return pa.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))

    def _range(self, count: int, partition_count: int, partition_index: int) -> tuple[int, int]:
        start = min(self._name.start or 0, count)
        end = count if self._name.end is None else min(self._name.end, count)
        begin, stop = partitions.bounds(max(end - start, 0), partition_count, partition_index)
        return start + begin, start + stop

    def _schema(self):
        raise NotImplementedError

    def _check_columns(self) -> None:
        names = self._schema().names
        found = collections.Counter(names)
        for column in self._columns:
            if found[column] > 1:
                raise ValueError(f"{self._name.location}: {found[column]} columns are named {column!r}")
            if not found[column]:
                raise ValueError(f"{self._name.location}: it has no column {column!r}; it has {_some(names)}")
        self._has_all_columns = names == self._columns

    def _empty_schema(self):
        schema = self._schema()
        return arrow.module("pyarrow").schema([schema.field(column) for column in self._columns])


class _Parquet(_ColumnarFile):
    @staticmethod
    def open(source, location):
        pa, pq = arrow.module("pyarrow"), arrow.module("pyarrow.parquet")
        try:
            return pq.ParquetFile(
                source,
                # Reads of a whole row group at once: worth it where each one is a message.
                pre_buffer=not file_systems.is_local(location),
                buffer_size=int(os.environ.get("ARROW_FILE_BUFFER_SIZE", "0")),
            )
        except (pa.ArrowException, OSError) as e:
            raise CorruptedError(f"{location}: not a whole Parquet file: {e}") from e

    def _schema(self):
        return self._file.schema_arrow

    def _find_parts(self, partition_count, partition_index):
        metadata = self._file.metadata
        begin, end = self._range(metadata.num_row_groups, partition_count, partition_index)
        return [(group, 0, metadata.row_group(group).num_rows) for group in range(begin, end)]

    def _chunks(self, group: int):
        try:
            # pyarrow looks for each name again at every row group.
            yield from self._decoded(group, None if self._has_all_columns else self._columns)
        except (arrow.module("pyarrow").ArrowInvalid, OSError) as e:
            # An errno is of the file system and not of the data.
            raise self._with_column(group, e) if getattr(e, "errno", None) is None else e

    def _decoded(self, group: int, columns):
        return self._file.iter_batches(
            batch_size=self._chunk_rows(group),
            row_groups=[group],
            columns=columns,
            use_threads=arrow.num_threads() > 1,
        )

    def _with_column(self, group: int, error):
        """An error of pyarrow, which tells no column, with the first column that cannot be read alone."""
        for column in self._columns:
            try:
                for _ in self._decoded(group, [column]):
                    pass
            except type(error) as e:
                return type(error)(f"column {column!r}: {e}")
        return error

    def _chunk_rows(self, group: int) -> int:
        """A multiple of the batch size, as near to _CHUNK_BYTES as the metadata can tell."""
        metadata = self._file.metadata.row_group(group)
        if metadata.num_rows <= self._batch_size:
            return self._batch_size
        wanted = set(self._columns)
        size = 0
        for i in range(metadata.num_columns):
            column = metadata.column(i)
            path = column.path_in_schema
            if path in wanted or path.split(".", 1)[0] in wanted:
                # What a dictionary makes small in the file is not small in memory.
                size += max(column.total_uncompressed_size, column.num_values * _SMALLEST_VALUE)
        row = max(size / max(metadata.num_rows, 1), 1)
        return max(int(_CHUNK_BYTES / row) // self._batch_size, 1) * self._batch_size


class _Orc(_ColumnarFile):
    @staticmethod
    def open(source, location):
        pa, orc = arrow.module("pyarrow"), arrow.module("pyarrow.orc")
        try:
            return orc.ORCFile(source)
        except (pa.ArrowException, OSError) as e:
            raise CorruptedError(f"{location}: not a whole ORC file: {e}") from e

    def _schema(self):
        return self._file.schema

    def _find_parts(self, partition_count, partition_index):
        begin, end = self._range(self._file.nrows, partition_count, partition_index)
        if (begin, end) == (0, self._file.nrows):
            return [(stripe, 0, None) for stripe in range(self._file.nstripes)]
        parts, first = [], 0
        # pyarrow does not tell the rows of a stripe without reading a column of it.
        for stripe in range(self._file.nstripes):
            if first >= end:
                break
            rows = self._file.read_stripe(stripe, columns=self._columns[:1]).num_rows
            if first + rows > begin:
                parts.append((stripe, max(begin - first, 0), min(end - first, rows)))
            first += rows
        return parts

    def _chunks(self, stripe: int):
        batch = self._file.read_stripe(stripe, columns=self._columns)
        # Row by row as asked for: ORC gives columns in the order of the file.
        yield batch.select(self._columns)


def _rows(batches, begin: int, end: int | None) -> Iterator:
    """Rows [begin, end) of record batches; `end` None: all that come."""
    first = 0
    for batch in batches:
        last = first + batch.num_rows
        stop = last if end is None else min(last, end)
        if stop > begin:
            start = max(begin - first, 0)
            yield batch if (start, stop) == (0, last) else batch.slice(start, stop - first - start)
        first = last
        if end is not None and first >= end:
            return


def _some(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:20]))
    return shown + (f" and {len(names) - 20} more" if len(names) > 20 else "")


_FORMATS = {"parquet": _Parquet, "orc": _Orc}
