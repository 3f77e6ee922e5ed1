"""Arguments of datasets, checked where a program gives them."""

import numbers
import os

import numpy as np
from tensorflow.python.framework import tensor_util

_LARGEST = 2**63 - 1


def check_at_least(argument, value, least) -> None:
    """Checks a number that an int64 holds; Tensors are checked when they are read.

    Raises:
      TypeError: `value` is neither an integer nor a Tensor.
      ValueError: it is less than `least`, or too large.
    """
    if tensor_util.is_tf_type(value):
        return
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    if not isinstance(value, numbers.Integral):
        raise TypeError(f"{argument} must be an integer or a scalar Tensor, got {value!r}")
    if value < least:
        raise ValueError(f"{argument} must be at least {least}, got {value}")
    if value > _LARGEST:
        raise ValueError(f"{argument} must be less than 2**63, got {value}")


def names_of_files(filenames):
    """A list of str for names, paths or arrays of names; Tensors, lists with Tensors, and datasets as they are.

    Raises:
      TypeError: None, or a list with something else than names.
      ValueError: there is no name.
    """
    if filenames is None:
        raise TypeError("filenames must be names, a string Tensor or a dataset of names, got None")
    if isinstance(filenames, np.ndarray):
        filenames = filenames.reshape([-1]).tolist()
    if isinstance(filenames, (str, bytes, os.PathLike)):
        filenames = [filenames]
    if not isinstance(filenames, (list, tuple)) or any(map(tensor_util.is_tf_type, filenames)):
        return filenames
    if not filenames:
        raise ValueError("filenames must have at least one name, got none")
    for name in filenames:
        if not isinstance(name, (str, bytes, os.PathLike)):
            raise TypeError(f"filenames must be a list of names, got {name!r} in it")
    names = map(os.fspath, filenames)
    return [name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name for name in names]
