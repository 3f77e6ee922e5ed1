"""The `imp` module, which Python 3.12 dropped: the functions that programs used, on importlib."""

import importlib
import importlib.machinery
import importlib.util
import sys
import types
from importlib import reload  # noqa: F401

PY_SOURCE, PY_COMPILED, C_EXTENSION, PKG_DIRECTORY = 1, 2, 3, 5


def new_module(name):
    """An empty module that is not in sys.modules."""
    return types.ModuleType(name)


def load_source(name, pathname, file=None):
    """Runs a source file as the module `name`, and puts it into sys.modules."""
    loader = importlib.machinery.SourceFileLoader(name, pathname)
    spec = importlib.util.spec_from_file_location(name, pathname, loader=loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def find_module(name, path=None):
    """(None, path, description) of a module.

    Raises:
      ImportError: there is none.
    """
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is None:
        raise ImportError(f"No module named {name!r}", name=name)
    if spec.submodule_search_locations:
        return None, list(spec.submodule_search_locations)[0], ("", "", PKG_DIRECTORY)
    return None, spec.origin, (".py", "r", PY_SOURCE)


def load_module(name, file, filename, details):
    """The module that find_module found."""
    if details[2] == PKG_DIRECTORY:
        return load_source(name, f"{filename}/__init__.py")
    return load_source(name, filename)


def get_suffixes():
    return [(suffix, "r", PY_SOURCE) for suffix in importlib.machinery.SOURCE_SUFFIXES]


def acquire_lock():
    """Does nothing: importlib locks each module by itself."""


release_lock = acquire_lock
