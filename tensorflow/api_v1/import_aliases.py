"""Old import paths, served by one import finder from the tables of `old_paths`.

`from tensorflow.keras.layers import Dense` must give the class that `tf.keras.layers.Dense` is. A path in the table is not a
second copy of a module but the same module object under one more name. Where 1.15's module was split, the path is a module that
holds the names of all its parts. A path whose module is gone for good raises an ImportError that says why.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from typing import NamedTuple, Optional

from tensorflow.api_v1 import contrib_paths, old_paths

# Import path -> the module it stands for; submodules follow their parent.
PATHS = {
    "tensorflow.keras": "tf_keras.api._v1.keras",
    "tensorflow.layers": "tf_keras.api._v1.keras.__internal__.legacy.layers",
    "tensorflow.nn.rnn_cell": "tf_keras.api._v1.keras.__internal__.legacy.rnn_cell",
    "tensorflow.compat.v1.keras": "tf_keras.api._v1.keras",
    "tensorflow.compat.v1.layers": "tf_keras.api._v1.keras.__internal__.legacy.layers",
    "tensorflow.compat.v1.nn.rnn_cell": "tf_keras.api._v1.keras.__internal__.legacy.rnn_cell",
    "tensorflow.compat.v2.keras": "tf_keras.api._v2.keras",
    "tensorflow._api.v2.compat.v1.layers": "tf_keras.api._v1.keras.__internal__.legacy.layers",
    "tensorflow._api.v2.compat.v1.nn.rnn_cell": "tf_keras.api._v1.keras.__internal__.legacy.rnn_cell",
    # 1.15 put its code into a second top-level package.
    "tensorflow_core": "tensorflow",
    **old_paths.PREFIXES,
}
# The first components that can be in the tables.
_TOPS = {path.partition(".")[0] for path in (*PATHS, *old_paths.MODULES)}


class Alias(NamedTuple):
    """What an old path stands for: one module under another name, or the union of several (or of none: a package)."""

    parts: tuple[str, ...]
    merged: bool


class AliasFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Resolves the paths of the tables to modules that exist under another name."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] not in _TOPS:
            return None
        alias = find(fullname)
        if alias is None:
            return None
        for part in alias.parts:
            if not _exists(part):
                if fullname in old_paths.MODULES:
                    raise ModuleNotFoundError(f"{fullname} is {part} now, which is not installed", name=fullname)
                return None
        spec = importlib.machinery.ModuleSpec(fullname, self, is_package=alias.merged)
        spec.loader_state = alias
        return spec

    def create_module(self, spec):
        alias = spec.loader_state
        if alias.merged:
            return None
        module = importlib.import_module(alias.parts[0])
        # The import system is about to overwrite the module's own spec with the alias's; see exec_module.
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        if isinstance(module.__spec__.loader_state, Alias):
            parts = module.__spec__.loader_state.parts
            if parts == contrib_paths.LEFT_OUT:
                importlib.import_module(parts[0]).fill(module)
            else:
                _merge(module, parts)
        else:
            module.__spec__ = module.__spec__.loader_state


def _exists(name: str) -> bool:
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


class _MergedModule(types.ModuleType):
    """Keeps a function that has the name of a submodule when that is imported: 1.15's packages took names after modules."""

    def __setattr__(self, name, value):
        if isinstance(value, types.ModuleType) and not isinstance(self.__dict__.get(name, value), types.ModuleType):
            return
        super().__setattr__(name, value)


def _merge(module: types.ModuleType, parts: tuple[str, ...]) -> None:
    """Fills a module with the names of others; where two have a name, the first of them wins."""
    parts = [importlib.import_module(part) for part in parts]
    module.__doc__ = f"An old path for the names of {', '.join(part.__name__ for part in parts)}."
    children = contrib_paths.modules_first(module.__name__)
    for part in reversed(parts):
        module.__dict__.update({k: v for k, v in vars(part).items() if not k.startswith("__") or k == "__version__"})

    for name in children:
        module.__dict__.pop(name, None)
    module.__class__ = _MergedModule

    def missing(name):
        if name in children:
            return importlib.import_module(f"{module.__name__}.{name}")
        if not name.startswith("__"):
            for part in parts:
                if hasattr(part, name):
                    return getattr(part, name)
            # 1.15's packages had imported their submodules.
            if _exists(f"{module.__name__}.{name}"):
                return importlib.import_module(f"{module.__name__}.{name}")
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    module.__getattr__ = missing


def find(fullname: str) -> Optional[Alias]:
    """The alias that an import path is; None for a path that is in no table.

    Raises:
      ModuleNotFoundError: for a path of 1.15 whose module has no successor, with the reason.
    """
    if fullname in old_paths.MODULES:
        parts = old_paths.MODULES[fullname]
        return Alias((parts,), False) if isinstance(parts, str) else Alias(parts, True)
    for path, reason in old_paths.GONE.items():
        if fullname == path or fullname.startswith(path + "."):
            raise ModuleNotFoundError(f"{fullname} has no successor in TensorFlow 2: {reason}", name=fullname)
    if fullname.startswith("tensorflow.contrib."):
        found = contrib_paths.find(fullname)
        return None if found is None else Alias(*found)
    real = real_name(fullname)
    return None if real is None else Alias((real,), False)


def real_name(fullname: str) -> Optional[str]:
    """The module that an import path of PATHS stands for; None for a path that is not in it."""
    for alias, real in PATHS.items():
        if fullname == alias or fullname.startswith(alias + "."):
            return real + fullname[len(alias) :]
    return None


def add_prefix(path: str, real: str) -> None:
    """Adds a package under another name to PATHS."""
    PATHS[path] = real
    _TOPS.add(path.partition(".")[0])


def install() -> None:
    """Puts the finder in front of the others, once."""
    if not any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, AliasFinder())
