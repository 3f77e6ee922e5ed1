"""Import paths below `tensorflow.contrib`, found by rule.

A file of ours is named like 1.15's module and lies right below its contrib module: `contrib/rnn/core_rnn_cell.py`. So
`tensorflow.contrib.rnn.python.ops.core_rnn_cell` is the first of these that exists as a file:

    tensorflow.contrib.rnn.ops.core_rnn_cell, tensorflow.contrib.rnn.core_rnn_cell

A path of 1.15 that finds no file (its code lies in another file here) is a module with all the names of the nearest folder of
ours on its way: of `contrib/distributions/bijectors` for `tensorflow.contrib.distributions.python.ops.bijectors.exp`, else of the
contrib module. So are the packages on the way. Paths that 1.15 did not have are not served.
"""

import functools
import os
from typing import Optional

from tensorflow.api_v1.old_paths.contrib_modules import PATHS

_TOP = "tensorflow.contrib"
# In place of modules: the path is a left-out module, or lies below one.
LEFT_OUT = (f"{_TOP}.left_out",)


def find(fullname: str) -> Optional[tuple[tuple[str, ...], bool]]:
    """What a path below `tensorflow.contrib` stands for: (modules, whether it is a union of their names).

    None for a path that is a file or folder of ours, and for one that 1.15 had not.
    """
    module, *below = fullname[len(_TOP) + 1 :].split(".")
    if module not in PATHS or _is_ours(module, *below):
        return None
    if not _is_ours(module):
        return (LEFT_OUT, True) if not below or ".".join(below) in _known(module) else None
    names = [name for name in below if name != "python"]
    is_package = any(path.startswith(".".join(below) + ".") for path in _known(module))
    for first in range(len(names)):
        if _is_ours(module, *names[first:], folder=is_package):
            return (".".join((_TOP, module, *names[first:])),), is_package
    return ((_nearest_folder(module, names),), True) if ".".join(below) in _known(module) else None


def _nearest_folder(module: str, names: list[str]) -> str:
    """The package of ours that the longest start of a path leads to."""
    for end in range(len(names) - 1, 0, -1):
        for first in range(end):
            if _is_ours(module, *names[first:end], folder=True):
                return ".".join((_TOP, module, *names[first:end]))
    return f"{_TOP}.{module}"


def modules_first(fullname: str) -> frozenset[str]:
    """The names below a path of contrib that are modules there though the contrib module has a function of that name.

    Most packages of contrib took the names of their modules, so that a function hid the module of its name
    (`framework.python.ops.arg_scope`); those of contrib.estimator took none.
    """
    if not fullname.startswith(f"{_TOP}.estimator."):
        return frozenset()
    start = fullname[len(f"{_TOP}.estimator.") :] + "."
    found = (path[len(start) :] for path in _known("estimator") if path.startswith(start))
    return frozenset(path for path in found if "." not in path)


@functools.cache
def _known(module: str) -> frozenset[str]:
    return frozenset(PATHS[module].split())


def _is_ours(*path: str, folder: bool = False) -> bool:
    import tensorflow.contrib

    for start in tensorflow.contrib.__path__:
        place = os.path.join(start, *path)
        if os.path.isfile(os.path.join(place, "__init__.py")) or (not folder and os.path.isfile(place + ".py")):
            return True
    return False
