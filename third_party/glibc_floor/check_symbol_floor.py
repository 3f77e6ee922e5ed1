#!/usr/bin/env python3
"""Checks that libraries need no newer glibc, libstdc++ or libgcc than the released TensorFlow.

Usage: check_symbol_floor.py LIB [LIB ...] [--reference LIB [LIB ...]]

The limits are floor.RELEASED_WHEEL, or with --reference what those libraries need themselves.
Prints each version need above the limit with the symbols that caused it and exits with 1.
Exits with 2 where a file can't be read as an ELF library.
"""

import argparse
import os
import sys
from typing import Dict, List, NamedTuple, Sequence

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# pylint: disable=wrong-import-position
import elf_versions
import floor


class Excess(NamedTuple):
    path: str  # the library that was checked
    library: str  # where the version is expected to come from, such as libc.so.6
    version: str
    limit: str
    symbols: List[str]

    def __str__(self) -> str:
        symbols = ", ".join(self.symbols) or "no symbol, the version alone"
        return f"{self.path}: needs {self.version} of {self.library}, limit {self.limit}: {symbols}"


def limits_of(references: Sequence[str]) -> Dict[str, tuple]:
    """The newest version of each family that any of the libraries needs."""
    limits: Dict[str, tuple] = {}
    for path in references:
        for _, version in elf_versions.version_needs(path):
            parsed = elf_versions.parse_version(version)
            if parsed and parsed[1] > limits.get(parsed[0], ()):
                limits[parsed[0]] = parsed[1]
    return limits


def find_excess(path: str, limits: Dict[str, tuple]) -> List[Excess]:
    """The version needs of `path` that are above `limits`, or of no known family."""
    undefined = [s for s in elf_versions.dynamic_symbols(path) if not s.defined]
    found = []
    for library, version in elf_versions.version_needs(path):
        parsed = elf_versions.parse_version(version)
        if parsed is None:
            # Names without a number promise nothing about other systems: GLIBC_PRIVATE,
            # GLIBC_ABI_DT_RELR. TensorFlow's own libraries have no versions.
            limit = "none of this kind"
        elif parsed[0] not in limits:
            limit = f"no {parsed[0]} at all"
        elif parsed[1] > limits[parsed[0]]:
            limit = f"{parsed[0]}_{floor.text(limits[parsed[0]])}"
        else:
            continue
        found.append(Excess(path, library, version, limit, [s.name for s in undefined if s.version == version]))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", nargs="+", metavar="LIB")
    parser.add_argument("--reference", nargs="+", default=[], metavar="LIB")
    arguments = parser.parse_args()
    try:
        limits = limits_of(arguments.reference) if arguments.reference else dict(floor.RELEASED_WHEEL)
        excess = [e for path in arguments.libraries for e in find_excess(path, limits)]
    except ValueError as error:
        print(f"check_symbol_floor: {error}", file=sys.stderr)
        return 2
    for entry in excess:
        print(entry)
    if not excess:
        shown = " ".join(f"{family}_{floor.text(number)}" for family, number in sorted(limits.items()))
        print(f"{len(arguments.libraries)} of {len(arguments.libraries)} libraries within {shown}")
    return 1 if excess else 0


if __name__ == "__main__":
    sys.exit(main())
