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
    """Threads that decode the columns of one file: ARROW_NUM_THREADS, or those of pyarrow's pool; 0: the thread that reads it.

    The pool gets as many as the variable says.

    Raises:
      ValueError: the variable is no number of at least 0.
    """
    text = os.environ.get("ARROW_NUM_THREADS", "").strip()
    pool = module("pyarrow").cpu_count()
    if not text:
        return pool
    if not text.isdecimal():
        raise ValueError(f"ARROW_NUM_THREADS must be a number of at least 0, got {text!r}")
    threads = int(text)
    if threads not in (0, pool):
        module("pyarrow").set_cpu_count(threads)
    return threads
