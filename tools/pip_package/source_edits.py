"""Adjusts the Python sources of a bundled package while the wheel is assembled.

A package that the wheel carries keeps its files as they were released, but for the edits of one table: a Python file that
binds EDITS, a tuple of (name, files, old text, new text, how often it occurs). An edit that does not occur exactly as often
as its row says stops the build with the name of the edit, so a changed release cannot slip through half adjusted.
"""

import fnmatch
import runpy
from typing import NamedTuple

# Tests of the package itself; nothing imports them.
_LEFT_OUT = ("*_test.py",)


class Edit(NamedTuple):
    """One replacement. `files` is an fnmatch pattern on member names; `count` is over all files that match."""

    name: str
    files: str
    old: str
    new: str
    count: int


class EditError(ValueError):
    """An edit that does not fit the sources."""


def load(path: str) -> tuple[Edit, ...]:
    """The table in the file `path`."""
    return tuple(Edit(*row) for row in runpy.run_path(path)["EDITS"])


def is_left_out(member: str) -> bool:
    return any(fnmatch.fnmatch(member, pattern) for pattern in _LEFT_OUT)


def apply(edits: tuple[Edit, ...], members: dict[str, bytes]) -> dict[str, bytes]:
    """The members that the edits change, changed.

    Raises:
      EditError: an edit occurs more or less often than its row says.
    """
    changed: dict[str, bytes] = {}
    for edit in edits:
        seen = 0
        for name in sorted(members):
            if not fnmatch.fnmatch(name, edit.files) or is_left_out(name):
                continue
            data = changed.get(name, members[name])
            found = data.count(edit.old.encode())
            if found:
                seen += found
                changed[name] = data.replace(edit.old.encode(), edit.new.encode())
        if seen != edit.count:
            raise EditError(
                f"edit {edit.name!r}: {edit.old!r} occurs {seen} times in {edit.files}, expected {edit.count}; "
                "the package is not the release that the table was written for"
            )
    return changed
