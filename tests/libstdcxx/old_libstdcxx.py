"""Turns a libstdc++.so.6 into one that looks like an older release.

Version names above a limit are replaced in the file, together with the hashes that the loader
compares. The library works as before, and whatever needs one of the replaced versions fails to
load with the loader's own message, as on a system with that older release.
"""

import re
import struct
from typing import Dict, List, Tuple

_SHT_GNU_VERDEF = 0x6FFFFFFD

# What numpy's wheels need, and less than TensorFlow does: a GCC 6 system.
OLD_LIMITS = {b"GLIBCXX": (3, 4, 21), b"CXXABI": (1, 3, 9)}


def sysv_hash(name: bytes) -> int:
    """The hash of the System V ABI, which version definitions carry."""
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        if high:
            value ^= high >> 24
        value &= ~high & 0xFFFFFFFF
    return value


def make_old(content: bytes, limits: Dict[bytes, tuple] = OLD_LIMITS) -> Tuple[bytes, List[str]]:
    """The changed file and the version names that were taken away."""
    data = bytearray(content)
    if data[:5] != b"\x7fELF\x02":
        raise ValueError(f"got a file that starts with {bytes(data[:5])!r}, expected a 64-bit ELF library")
    table, entry_size, count = (
        struct.unpack_from("<Q", data, 0x28)[0],
        *struct.unpack_from("<HH", data, 0x3A),
    )
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * entry_size) for i in range(count)]
    definitions = next(s for s in sections if s[1] == _SHT_GNU_VERDEF)
    strings = sections[definitions[6]]

    removed = []
    position = definitions[4]
    while True:
        _, _, _, _, _, names_offset, next_offset = struct.unpack_from("<HHHHIII", data, position)
        name_at = strings[4] + struct.unpack_from("<I", data, position + names_offset)[0]
        name = bytes(data[name_at : data.index(b"\0", name_at)])
        match = re.fullmatch(rb"(GLIBCXX|CXXABI)_(\d+(?:\.\d+)*)", name)
        if match and tuple(map(int, match[2].split(b"."))) > limits[match[1]]:
            replaced = b"X" + name[1:]
            data[name_at : name_at + len(name)] = replaced
            struct.pack_into("<I", data, position + 8, sysv_hash(replaced))
            removed.append(name.decode())
        if not next_offset:
            return bytes(data), removed
        position += next_offset
