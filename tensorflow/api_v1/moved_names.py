"""Names that old code takes from private modules and that live elsewhere now.

A module of the table gets a `__getattr__`, which Python asks only for names that the module does not have: nothing that is
there changes, and nothing is imported before somebody asks. A found object stays in the module.
"""

import importlib
import types
import warnings
from collections.abc import Iterable

from tensorflow.api_v1 import import_hooks, old_paths


def locate(target: str):
    """The object that an entry "module:name", or "module", names."""
    module, _, name = target.partition(":")
    module = importlib.import_module(module)
    return getattr(module, name) if name else module


def _add_resolver(names: dict[str, str]):
    def hook(module: types.ModuleType) -> None:
        own = module.__dict__.get("__getattr__")

        def resolve(name):
            if name in names:
                value = locate(names[name])
                setattr(module, name, value)
                return value
            if name == "__all__":
                # `from module import *` asks for this; it shall bring the old names too.
                return [n for n in {*vars(module), *names} if not n.startswith("_")]
            if own is not None:
                return own(name)
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

        own_dir = module.__dict__.get("__dir__")
        module.__getattr__ = resolve
        module.__dir__ = lambda: sorted({*(own_dir() if own_dir else vars(module)), *names})

    return hook


def install(modules: Iterable[str] = old_paths.NAMES) -> None:
    """Adds the old names to each of these modules of the table: now if it is loaded, else when it will be."""
    for module in modules:
        import_hooks.after_import(module, _add_resolver(old_paths.NAMES[module]))


_WARNED = set()


def warn_once(what: str, stacklevel: int = 3) -> None:
    """One warning for each message: for arguments and functions that exist for old code and do nothing here."""
    if what not in _WARNED:
        _WARNED.add(what)
        warnings.warn(what, stacklevel=stacklevel)
