"""The Criteo display-ads text format: columns, and what a given file looks like.

A row is `label, I1..I13, C1..C26`: a click label 0/1, 13 numbers, 26 categories (hex strings in the
public sets). Any I or C field may be empty. Files are comma or tab separated, with or without a header
line, with LF or CRLF line ends; all of that is found out per file by `inspect`.
"""

import dataclasses
import os
import re
from typing import List, Sequence

from common.errors import InputError

LABEL = "label"
NUMERIC = tuple(f"I{i}" for i in range(1, 14))
CATEGORICAL = tuple(f"C{i}" for i in range(1, 27))
COLUMNS = (LABEL,) + NUMERIC + CATEGORICAL

MISSING_NUMBER = 0.0
MISSING_CATEGORY = " "

# Min-max constants of the Kaggle set, the ones the published models use: scaled = (x - minimum) / range.
NUMERIC_MINIMUM = (0, -3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
NUMERIC_RANGE = (1539, 22069, 65535, 561, 2655388, 233523, 26297, 5106, 24376, 9, 181, 1807, 6879)

_SNIFF_LINES = 100
_SNIFF_BYTES = 1 << 20
_COUNT_BLOCK = 1 << 22
_IDENTIFIER = re.compile(rb"[A-Za-z_][\w ]*")
_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZ": "bzip2", b"PK": "zip", b"\xfd7": "xz", b"\x28\xb5": "zstd"}


@dataclasses.dataclass(frozen=True)
class CriteoFile:
    """One inspected file. `rows` counts data lines, malformed ones too, without the header."""

    path: str
    delimiter: str
    has_header: bool
    rows: int


def inspect(path: str) -> CriteoFile:
    """Finds delimiter, header and number of rows of one file.

    Raises:
      InputError: the path is missing, a directory, unreadable, empty, compressed, holds a header and no
        rows, or none of its first 100 lines has 40 comma or tab separated columns.
    """
    if os.path.isdir(path):
        raise InputError(f"{path}: is a directory, expected a Criteo text file")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path}: is not a regular file; rows are counted first, so it must be read twice")
    try:
        with open(path, "rb") as file:
            head = file.read(_SNIFF_BYTES)
            lines = _count_lines(file, head)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if not head:
        raise InputError(f"{path}: is empty")
    kind = _COMPRESSED.get(head[:2])
    if kind and b"\0" in head[:512]:
        raise InputError(f"{path}: looks {kind}-compressed; unpack it first")

    sniffed = [line.replace(b"\r", b"") for line in head.split(b"\n")[:_SNIFF_LINES]]
    delimiter = _sniff_delimiter(path, sniffed)
    has_header = _is_header(path, sniffed[0].split(delimiter))
    if lines == int(has_header):
        raise InputError(f"{path}: has a header line but no rows")
    return CriteoFile(path, delimiter.decode(), has_header, lines - int(has_header))


def inspect_all(paths: Sequence[str]) -> List[CriteoFile]:
    """Inspects every file. The files of one list must share one delimiter, else InputError."""
    files = [inspect(os.fspath(path)) for path in paths]
    for file in files[1:]:
        if file.delimiter != files[0].delimiter:
            raise InputError(
                f"{file.path}: is separated by {file.delimiter!r} but {files[0].path} by "
                f"{files[0].delimiter!r}; files that are read together must agree"
            )
    return files


def _count_lines(file, head: bytes) -> int:
    lines, last = head.count(b"\n"), head[-1:]
    while block := file.read(_COUNT_BLOCK):
        lines += block.count(b"\n")
        last = block[-1:]
    return lines + (last not in (b"\n", b""))


def _sniff_delimiter(path: str, lines: List[bytes]) -> bytes:
    votes = {d: sum(line.count(d) == len(COLUMNS) - 1 for line in lines) for d in (b",", b"\t")}
    best = max(votes, key=votes.get)
    if votes[best]:
        return best
    columns = max(lines[0].count(b","), lines[0].count(b"\t")) + 1
    raise InputError(
        f"{path}: none of the first {len([line for line in lines if line])} lines has {len(COLUMNS)} comma or tab "
        f"separated columns (line 1 has {columns}); expected label,I1..I13,C1..C26"
    )


def _is_header(path: str, fields: List[bytes]) -> bool:
    """A header names its label and number columns; a row can't, as those are numbers or empty.

    Looking at all 14 keeps a first row that only has a bad label from passing as a header.
    """
    if len(fields) != len(COLUMNS):
        return False
    fields = [field.removeprefix(b"\xef\xbb\xbf").strip(b' "') for field in fields]
    if not all(_IDENTIFIER.fullmatch(field) for field in fields[: 1 + len(NUMERIC)]):
        return False
    names = [field.decode("utf-8", "replace").lower() for field in fields]
    expected = [column.lower() for column in COLUMNS]
    if sorted(names) == sorted(expected) and names != expected:
        raise InputError(f"{path}: the header's columns are not in the order label,I1..I13,C1..C26")
    return True
