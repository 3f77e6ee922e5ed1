"""Loading of op libraries."""

import os

from tensorflow.python.framework import load_library
from tensorflow.python.platform import resource_loader

__all__ = ["load_op_library"]


def load_op_library(path):
    """Loads a library of ops.

    Args:
      path: of the library; a relative path starts at the package of TensorFlow.

    Returns:
      A module with the ops' Python wrappers; None on Windows if the file does not exist (its ops are built in there).

    Raises:
      RuntimeError: if the library cannot be loaded.
    """
    if os.name == "nt" and not os.path.exists(path):
        return None
    return load_library.load_op_library(resource_loader.get_path_to_datafile(path))
