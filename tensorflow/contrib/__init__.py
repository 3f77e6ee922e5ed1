"""`tf.contrib`: the modules of 1.15's contrib, one folder each, each loaded when it is first used.

A module that is left out (`left_out.py`) imports all the same, and its names raise an error that says why and what is used instead.
"""

import importlib
import types

from tensorflow.api_v1 import import_hooks, lazy_parts
from tensorflow.api_v1.old_paths.contrib_modules import PATHS

# What 1.15's contrib/__init__.py did not import: there only after `import tensorflow.contrib.X`.
_NOT_ATTRIBUTES = frozenset(("cmake", "decision_trees", "ops", "tools"))

__all__ = sorted(set(PATHS) - _NOT_ATTRIBUTES)


def _add_python_attribute(module: types.ModuleType) -> None:
    """`tf.contrib.layers.python.layers...` is reached by attributes too."""
    if "python" not in vars(module):
        module.python = lazy_parts.LazyPart(f"{module.__name__}.python", f"{module.__name__}.python")


for _name, _paths in PATHS.items():
    if "python" in _paths.split():
        import_hooks.after_import(f"{__name__}.{_name}", _add_python_attribute)


def __getattr__(name: str):
    if name not in PATHS:
        raise AttributeError(f"module 'tensorflow.contrib' has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")


def __dir__():
    return __all__
