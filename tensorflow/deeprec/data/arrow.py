"""pyarrow, which is not a requirement of the wheel."""

import importlib
import os
import types

import numpy as np


def module(name: str) -> types.ModuleType:
    """The module `pyarrow` or `pyarrow.<part>`.

    Raises:
      ImportError: it is not installed, or does not load beside the other packages.
    """
    try:
        return importlib.import_module(name)
    except ImportError as e:
        # Later ones ask for NumPy 2, which 1.x programs cannot have below Python 3.13.
        version = "'pyarrow<26'" if np.lib.NumpyVersion(np.__version__) < "2.0.0" else "pyarrow"
        raise ImportError(
            f"columnar files are read by pyarrow, which does not load ({e}): pip install {version}"
        ) from e


def num_threads() -> int:
    """Threads that decode the columns of one file: ARROW_NUM_THREADS; 0: the thread that reads it.

    Raises:
      ValueError: the variable is no number of at least 0.
    """
    text = os.environ.get("ARROW_NUM_THREADS", "").strip() or "0"
    if not text.isdecimal():
        raise ValueError(f"ARROW_NUM_THREADS must be a number of at least 0, got {text!r}")
    return int(text)
