"""`tensorflow.contrib.framework.python.ops.sort_ops`: core's `sort` and `argsort`."""

from tensorflow.python.ops.sort_ops import argsort, sort

__all__ = ["argsort", "sort"]
