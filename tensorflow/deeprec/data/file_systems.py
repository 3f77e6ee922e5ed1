"""From the name of a file to what reads it.

A name is a path, or a URI of a file system that pyarrow knows (file, s3, hdfs, gs, ...), with `?start=a&end=b` behind it where only some
of its row groups (Parquet) or rows (ORC) are to be read. Object storages that speak S3's protocol are set as in HybridBackend:
S3_ENDPOINT, S3_ADDRESSING_STYLE=virtual, S3_USE_HTTPS; `oss://bucket/key` is S3 with virtual addressing.
"""

import errno
import os
import re
import urllib.parse
from typing import NamedTuple

from tensorflow.deeprec.data import arrow

_RANGE = ("start", "end")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class Name(NamedTuple):
    """A file's name in parts; `start` and `end` are None where the name does not say."""

    location: str
    start: int | None
    end: int | None


def parse(name: str) -> Name:
    """Takes `?start=a&end=b` off a name. A path that has another `?` in it is a path.

    Raises:
      ValueError: start or end is no number of at least 0, or end is before start.
    """
    location, mark, query = name.rpartition("?")
    pairs = urllib.parse.parse_qsl(query, keep_blank_values=True) if mark else []
    found = dict(pairs)
    if not any(key in found for key in _RANGE):
        return Name(name, None, None)
    for key in _RANGE:
        if key in found and not found[key].isdecimal():
            raise ValueError(f"{key} in {name!r} must be a number of at least 0, got {found[key]!r}")
    start, end = (int(found[key]) if key in found else None for key in _RANGE)
    if start is not None and end is not None and end < start:
        raise ValueError(f"end in {name!r} must be at least start ({start}), got {end}")
    rest = urllib.parse.urlencode([pair for pair in pairs if pair[0] not in _RANGE])
    return Name(location + ("?" + rest if rest else ""), start, end)


def is_local(location: str) -> bool:
    return not _SCHEME.match(location) or location.startswith("file://")


def open_file(location: str):
    """Opens a file for reading at any place; returns a pyarrow.NativeFile.

    Raises:
      OSError: there is no such file, it cannot be read, or its file system cannot be reached.
      ValueError: pyarrow does not know the file system.
    """
    fs = arrow.module("pyarrow.fs")
    if is_local(location):
        path = location if not _SCHEME.match(location) else urllib.parse.unquote(location[len("file://") :])
        if os.path.isdir(path):
            # pyarrow's error has no errno.
            raise IsADirectoryError(errno.EISDIR, "It is a folder, not a file", path)
        return fs.LocalFileSystem().open_input_file(path)
    scheme, rest = location.split("://", 1)
    if scheme == "oss" or (scheme == "s3" and "S3_ENDPOINT" in os.environ and "?" not in rest):
        return _s3(fs, virtual=scheme == "oss").open_input_file(rest)
    try:
        file_system, path = fs.FileSystem.from_uri(location)
    except OSError as e:
        raise OSError(f"{location}: {e}") from e
    return file_system.open_input_file(path)


def _s3(fs, virtual: bool):
    virtual = virtual or os.environ.get("S3_ADDRESSING_STYLE", "") == "virtual"
    https = os.environ.get("S3_USE_HTTPS", "1").lower() not in ("0", "false", "no")
    return fs.S3FileSystem(
        access_key=os.environ.get("AWS_ACCESS_KEY_ID"),
        secret_key=os.environ.get("AWS_SECRET_ACCESS_KEY"),
        endpoint_override=os.environ.get("S3_ENDPOINT"),
        scheme="https" if https else "http",
        force_virtual_addressing=virtual,
    )
