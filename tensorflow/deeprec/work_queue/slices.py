"""Works that are parts of a file: `path?start=a&end=b` stands for its records a to b - 1."""

import os
import re
from typing import Callable, NamedTuple, Optional, Union

from tensorflow.deeprec.data import reader
from tensorflow.python.framework import constant_op, dtypes, ops
from tensorflow.python.lib.io import file_io
from tensorflow.python.ops import array_ops, math_ops, parsing_ops, string_ops

_RANGE = r"\?start=(\d+)&end=(\d+)$"
_READ_BYTES = 1 << 20


class Slice(NamedTuple):
    """path: string. start, end: records [start, end) of it; (0, -1) means all. int64 where they are tensors."""

    path: object
    start: object
    end: object


def count_lines(path: str) -> int:
    """Lines of a text file on any of TensorFlow's file systems; the last one may lack its newline."""
    count, last = 0, b"\n"
    with file_io.FileIO(path, "rb") as file:
        while block := file.read(_READ_BYTES):
            count, last = count + block.count(b"\n"), block[-1:]
    return count + (last != b"\n")


def _count_row_groups(path: str) -> int:
    """Row groups, as a range behind the name of a Parquet file means to ParquetDataset."""
    try:
        return reader.num_row_groups(path)
    except ImportError as error:
        raise ValueError(
            f"num_slices of {path!r} needs pyarrow, to read how many row groups it has: {error}"
        ) from error


_COUNTERS = {".csv": count_lines, ".tsv": count_lines, ".txt": count_lines, ".parquet": _count_row_groups}


def register_record_counter(suffix: str, count: Callable[[str], int]) -> None:
    """Makes `num_slices` cut the works whose path ends in `suffix`.

    Args:
      suffix: such as ".rec"; the longest that fits a path counts. Known are .csv, .tsv and .txt (lines) and .parquet (row groups).
      count: the number of records of the file at a path.
    """
    if not isinstance(suffix, str) or not suffix:
        raise ValueError(f"suffix must be a string that is not empty, got {suffix!r}")
    if not callable(count):
        raise TypeError(f"count must be callable, got {count!r}")
    _COUNTERS[suffix] = count


class Work:
    """A work: where it is, and how much there is of it."""

    @classmethod
    def from_url(cls, prefix: Optional[str], url: Union[str, bytes]) -> "Work":
        return cls(prefix, url.decode() if isinstance(url, bytes) else url)

    def __init__(self, prefix: Optional[str], url: str):
        """`prefix`: in front of the url of every work, or None."""
        self.prefix = prefix
        self.url = url

    def count_records(self) -> Optional[int]:
        """The number of records; None if they can not be counted, or if it is a slice already."""
        if has_range(self.url):
            return None
        path = (self.prefix or "") + self.url
        for suffix in sorted(_COUNTERS, key=len, reverse=True):
            if path.endswith(suffix):
                return int(_COUNTERS[suffix](path))
        return None

    def get_slice(self, start: int, end: int) -> str:
        """The url of the records [start, end)."""
        return f"{self.url}?start={start}&end={end}"

    def slices(self, count: int) -> list:
        """Urls of at most `count` slices, of equal size but for one record; of itself, if its records can not be counted."""
        records = self.count_records()
        if records is None:
            return [self.url]
        count = min(count, records)
        bounds = [records * i // count for i in range(count + 1)] if count else []
        return [self.get_slice(start, end) for start, end in zip(bounds, bounds[1:])]


def has_range(work: Union[str, bytes]) -> bool:
    return re.search(_RANGE, os.fsdecode(work)) is not None


def parse_slice(work):
    """What a work names: a `Slice`.

    Args:
      work: str or bytes, or a string tensor of any shape, as from `WorkQueue.input_dataset`.

    Returns:
      A Slice of a str and two ints, or of tensors of the shape of `work`: string, int64, int64.
    """
    if isinstance(work, (str, bytes)):
        text = os.fsdecode(work)
        found = re.search(_RANGE, text)
        return Slice(text[: found.start()], *map(int, found.groups())) if found else Slice(text, 0, -1)
    work = ops.convert_to_tensor(work, dtypes.string)
    path = string_ops.regex_replace(work, _RANGE, "")
    whole = math_ops.equal(path, work)

    def bound(group: str, otherwise: str):
        text = string_ops.regex_replace(work, f"^.*{_RANGE}", group)
        text = array_ops.where_v2(whole, constant_op.constant(otherwise), text)
        return parsing_ops.string_to_number(text, dtypes.int64)

    return Slice(path, bound(r"\1", "0"), bound(r"\2", "-1"))
