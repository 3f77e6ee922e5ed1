"""Filters of exports: which of the folders stay, by their version numbers.

A filter is a function: list of `Path`s -> sorted list of those that stay. Paths without a version are none of its business.
"""

import collections
import os

from tensorflow.python.platform import gfile

Path = collections.namedtuple("Path", "path export_version")


def _versioned(paths):
    return sorted((p for p in paths if p.export_version is not None), key=lambda p: p.export_version)


def largest_export_versions(n):
    """The `n` largest versions stay."""
    return lambda paths: sorted(_versioned(paths)[-n:] if n > 0 else [])


def one_of_every_n_export_versions(n):
    """Of the versions 1 to n, n + 1 to 2 n and so on the largest stays; 0 counts to the first."""

    def keep(paths):
        return sorted({max(0, p.export_version - 1) // n: p for p in _versioned(paths)}.values())

    return keep


def mod_export_version(n):
    """Multiples of `n` stay."""
    return lambda paths: sorted(p for p in _versioned(paths) if p.export_version % n == 0)


def union(lf, rf):
    """What either of two filters keeps stays."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


def negation(f):
    """What a filter does not keep stays."""
    return lambda paths: sorted(set(paths) - set(f(paths)))


def get_paths(base_dir, parser):
    """Sorted `Path`s of what lies in a folder.

    Args:
      base_dir: the folder.
      parser: `Path` without a version -> `Path` with one, or None for what is no export.
    """
    parsed = (parser(Path(os.path.join(base_dir, name.rstrip("/")), None)) for name in gfile.ListDirectory(base_dir))
    return sorted(path for path in parsed if path)
