"""What a given text file looks like: separator, header and number of lines are found out, not asked for."""

import dataclasses
import os
import re
from typing import List, Sequence, Tuple

from common.errors import InputError
from common.text_format import TEXT, Format

_SNIFF_LINES = 100
_BOM = b"\xef\xbb\xbf"
_SNIFF_BYTES = 1 << 20
_COUNT_BLOCK = 1 << 22
_IDENTIFIER = re.compile(rb"[A-Za-z_][\w ]*")
_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZ": "bzip2", b"PK": "zip", b"\xfd7": "xz", b"\x28\xb5": "zstd"}
_DELIMITER_NAMES = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}


@dataclasses.dataclass(frozen=True)
class TextFile:
    """One inspected file.

    rows: data lines, malformed ones too, without the header.
    beside: the second file of its format, or "".
    """

    path: str
    delimiter: str
    has_header: bool
    rows: int
    beside: str = ""


def inspect(text_format: Format, path: str) -> TextFile:
    """Finds delimiter, header and number of rows of one file.

    Raises:
      InputError: the path is missing, a directory, unreadable, empty or blank, compressed, holds a header and no
        rows, a byte order mark and no header, or none of its first 100 lines has the format's number of columns; its second file is
        wrong, or has another number of lines.
    """
    head, lines = _read(text_format, path)
    if not head.removeprefix(_BOM).strip():
        raise InputError(f"{path}: has no rows, only blank lines")
    sniffed = [line.replace(b"\r", b"") for line in head.split(b"\n")[:_SNIFF_LINES]]
    delimiter = _sniff_delimiter(text_format, path, sniffed)
    has_header = _is_header(text_format, path, sniffed[0].split(delimiter))
    if lines == int(has_header):
        raise InputError(f"{path}: has a header line but no rows")
    if not has_header:
        _refuse_bom(path, head)
    beside = path + text_format.suffix if text_format.beside else ""
    if beside:
        head_beside, rows_beside = _read(text_format, beside)
        _refuse_bom(beside, head_beside)
        if rows_beside != lines:
            raise InputError(f"{beside}: has {rows_beside} lines, expected the {lines} of {path}")
    return TextFile(path, delimiter.decode(), has_header, lines - int(has_header), beside)


def _refuse_bom(path: str, head: bytes) -> None:
    """It would become a part of the first field."""
    if head.startswith(_BOM):
        raise InputError(f"{path}: starts with a byte order mark in its first row; remove these three bytes (EF BB BF)")


def _read(text_format: Format, path: str) -> Tuple[bytes, int]:
    """The beginning of a file and its number of lines."""
    if os.path.isdir(path):
        raise InputError(f"{path}: is a directory, expected a {text_format.name} text file")
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
    return head, lines


def inspect_all(text_format: Format, paths: Sequence[str]) -> List[TextFile]:
    """Inspects every file. The files of one list must share one delimiter, else InputError."""
    files = [inspect(text_format, os.fspath(path)) for path in paths]
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


def _sniff_delimiter(text_format: Format, path: str, lines: List[bytes]) -> bytes:
    columns = len(text_format.own_columns)
    delimiters = [delimiter.encode() for delimiter in text_format.delimiters]
    votes = {d: sum(line.count(d) == columns - 1 for line in lines) for d in delimiters}
    best = max(votes, key=votes.get)
    if votes[best]:
        return best
    found = max(lines[0].count(d) for d in delimiters) + 1
    names = " or ".join(_DELIMITER_NAMES.get(d, repr(d)) for d in text_format.delimiters)
    raise InputError(
        f"{path}: none of the first {len([line for line in lines if line])} lines has {columns} {names} "
        f"separated columns (line 1 has {found}); expected {text_format.layout}"
    )


def _is_header(text_format: Format, path: str, fields: List[bytes]) -> bool:
    """A header names its label and number columns; a row can't, as those are numbers or empty.

    Looking at three or more keeps a first row that only has a bad label from passing as a header; a format of fewer
    has a header only if it is made of the format's own names.
    """
    columns = text_format.own_columns
    if len(fields) != len(columns):
        return False
    fields = [field.removeprefix(_BOM).strip(b' "') for field in fields]
    numbers = [field for field, column in zip(fields, columns) if column.kind != TEXT]
    names = [field.decode("utf-8", "replace").lower() for field in fields]
    expected = [column.name.lower() for column in columns]
    if sorted(names) == sorted(expected) and names != expected:
        raise InputError(f"{path}: the header's columns are not in the order {text_format.layout}")
    return names == expected or (len(numbers) >= 3 and all(_IDENTIFIER.fullmatch(field) for field in numbers))
