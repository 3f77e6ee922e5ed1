"""Reads and writes `ar` archives in the GNU format.

The ar command can't do what is needed here: static libraries of GCC may hold several members of
one name, and extracting them by name loses all but one.
"""

from typing import Iterable, List, Tuple

_MAGIC = b"!<arch>\n"
_HEADER_SIZE = 60
_INDEX_NAMES = (b"/", b"/SYM64/")  # symbol indexes; ranlib writes them anew


def read(path: str) -> List[Tuple[str, bytes]]:
    """(name, content) of each member; raises ValueError where `path` is no GNU archive."""
    with open(path, "rb") as f:
        data = f.read()
    if not data.startswith(_MAGIC):
        raise ValueError(f"{path}: got {data[:8]!r}, expected an ar archive")
    members: List[Tuple[str, bytes]] = []
    long_names = b""
    position = len(_MAGIC)
    while position + _HEADER_SIZE <= len(data):
        header = data[position : position + _HEADER_SIZE]
        if header[58:60] != b"`\n":
            raise ValueError(f"{path}: damaged member header at byte {position}")
        name, size = header[:16].rstrip(), int(header[48:58])
        position += _HEADER_SIZE
        content = data[position : position + size]
        position += size + size % 2
        if name == b"//":
            long_names = content
        elif name in _INDEX_NAMES:
            continue
        elif name.startswith(b"/"):
            start = int(name[1:])
            members.append((long_names[start : long_names.index(b"/\n", start)].decode(), content))
        else:
            members.append((name.rstrip(b"/").decode(), content))
    return members


def write(path: str, members: Iterable[Tuple[str, bytes]]) -> None:
    """Writes members with zero dates and owners, so that equal input gives equal bytes."""
    long_names, entries = b"", []
    for name, content in members:
        encoded = name.encode()
        if len(encoded) < 16:
            field = encoded + b"/"
        else:
            field = b"/%d" % len(long_names)
            long_names += encoded + b"/\n"
        entries.append((field, content))
    if long_names:
        entries.insert(0, (b"//", long_names))
    with open(path, "wb") as f:
        f.write(_MAGIC)
        for field, content in entries:
            f.write(b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (field, 0, 0, 0, b"100644", len(content)))
            f.write(content + b"\n" * (len(content) % 2))
