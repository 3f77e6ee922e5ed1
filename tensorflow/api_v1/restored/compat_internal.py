"""Paths as str."""

import os

from tensorflow.python.util.compat import as_str_any


def path_to_str(path):
    """A path-like object, bytes or str as str; anything else as it is."""
    if hasattr(path, "__fspath__"):
        return as_str_any(os.fspath(path))
    return path
