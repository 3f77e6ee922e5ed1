"""Loads the shared library that holds the kernels, ops and graph passes of this wheel."""

import functools
import os
import types

PATH = os.path.join(os.path.dirname(__file__), "libdeeprec.so")


def load() -> None:
    """Registers the kernels and ops with the TensorFlow runtime; called while `import tensorflow` runs.

    Raises:
      ImportError: the library is missing, or was built for another TensorFlow than the one in this package.
    """
    from tensorflow.python.client import pywrap_tf_session

    try:
        pywrap_tf_session.TF_LoadLibrary(PATH)
    except Exception as e:
        raise ImportError(
            f"The kernels of this wheel did not load from {PATH}: {e}. Install the wheel again "
            "(pip install --force-reinstall), and no other tensorflow package beside it."
        ) from e


@functools.lru_cache(maxsize=None)
def ops() -> types.ModuleType:
    """Returns the module of generated Python wrappers of the ops in the library.

    It is made on first use: generating the wrappers costs more than loading the library.
    """
    from tensorflow.python.framework import load_library

    return load_library.load_op_library(PATH)
