"""The files of `sok.dump`: a header of 296 bytes, then the values as they are in memory.

offset  size  content
0       256   of which dump the file is, right-justified with blanks. Upstream has room for a table's name here, writes blanks and does not read it
256     4     big-endian uint32: 0 keys, 1 rows, 2 rows of an optimizer's slot
260     32    name of the variable or slot, right-justified with blanks
292     4     big-endian uint32: the dtype, a position in DTYPES
296           little-endian values: keys [n], or rows [n, dim]
"""

import dataclasses
import os
import string
import struct

import numpy as np

KEYS, ROWS, SLOT = range(3)
DTYPES = ("int32", "int64", "uint32", "uint64", "float16", "float32", "float64")
HEADER_BYTES = 296
_HEADER = struct.Struct(">256sI32sI")
_PUNCTUATION = str.maketrans({c: "_" for c in string.punctuation})


def table_name(variable_name: str) -> str:
    """The name of a table's files: that of the variable, with "_" for every punctuation character."""
    return variable_name.translate(_PUNCTUATION)


@dataclasses.dataclass(frozen=True)
class Header:
    """What a file holds."""

    kind: int
    name: str
    dtype: np.dtype
    # The same in all files of a table; "": not known.
    dump: str = ""

    def pack(self) -> bytes:
        # A name that does not fit is cut at its front, as the file's own name tells the table.
        name = self.name.encode()[-32:].rjust(32)
        return _HEADER.pack(self.dump.encode().rjust(256), self.kind, name, DTYPES.index(self.dtype.name))


def read_header(path: str, kind: int) -> Header:
    """Reads the header of a file.

    Raises:
      FileNotFoundError: there is no such file.
      ValueError: it is no such file, or of another kind.
    """
    with open(path, "rb") as f:
        data = f.read(HEADER_BYTES)
    if len(data) < HEADER_BYTES:
        raise ValueError(f"{path} has {len(data)} bytes: too short for its header of {HEADER_BYTES}")
    dump, found, name, dtype = _HEADER.unpack(data)
    if found != kind or dtype >= len(DTYPES):
        raise ValueError(f"{path} must have file type {kind} and a dtype below {len(DTYPES)}, got {found} and {dtype}")
    name, dump = (text.decode(errors="replace").strip() for text in (name, dump))
    return Header(found, name, np.dtype(DTYPES[dtype]), dump)


def count(path: str, header: Header, row_elements: int) -> int:
    """How many keys, or rows of `row_elements`, a file holds.

    Raises:
      ValueError: not a whole number of them.
    """
    size, row = os.path.getsize(path) - HEADER_BYTES, header.dtype.itemsize * row_elements
    if size % row:
        raise ValueError(
            f"{path} has {size} bytes of values, which is no multiple of {row}, those of one row: cut short?"
        )
    return size // row


def read(path: str, header: Header, row_elements: int, begin: int, end: int) -> np.ndarray:
    """Rows [begin, end) of a file, `[end - begin, row_elements]`."""
    dtype = header.dtype.newbyteorder("<")
    with open(path, "rb") as f:
        f.seek(HEADER_BYTES + begin * row_elements * dtype.itemsize)
        values = np.fromfile(f, dtype, (end - begin) * row_elements)
    return values.astype(header.dtype, copy=False).reshape(-1, row_elements)


def little_endian(values: np.ndarray) -> bytes:
    """The bytes of values as they stand in a file."""
    return np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
