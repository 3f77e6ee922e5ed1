"""Runs a function right after a module was imported for the first time, wherever the import came from."""

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
import types
from typing import Callable

from tensorflow.deeprec.import_pause import without_collections

# Packages of hundreds of modules, which import them all: without garbage collections in between.
_LARGE = ("tf_keras", "tensorflow_estimator", "tensorflow.estimator")


class _HookedLoader(importlib.abc.Loader):
    """A loader that calls the hooks when the real one is done."""

    def __init__(self, loader, hooks):
        self._loader = loader
        self._hooks = hooks

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        # What the module should see, and what inspect and pkgutil look at later, is the real loader.
        module.__spec__.loader = module.__loader__ = self._loader
        with without_collections() if module.__name__ in _LARGE else contextlib.nullcontext():
            self._loader.exec_module(module)
        for hook in self._hooks.pop(module.__name__, ()):
            hook(module)


class _HookFinder(importlib.abc.MetaPathFinder):
    """Wraps the loader of the modules that somebody waits for."""

    def __init__(self):
        # Large packages are waited for without a hook.
        self.hooks = {name: [] for name in _LARGE}
        # The name that this thread asks the other finders for.
        self._asking = threading.local()

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in self.hooks or getattr(self._asking, "name", None) == fullname:
            return None
        outer = getattr(self._asking, "name", None)
        self._asking.name = fullname
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._asking.name = outer
        if spec is not None and spec.loader is not None:
            spec.loader = _HookedLoader(spec.loader, self.hooks)
        return spec


_FINDER = _HookFinder()


def after_import(name: str, hook: Callable[[types.ModuleType], None]) -> None:
    """Calls `hook(module)` after the module `name` was imported; at once if it was imported already.

    Hooks of one module run in the order in which they were given.
    """
    if name in sys.modules:
        hook(sys.modules[name])
        return
    _FINDER.hooks.setdefault(name, []).append(hook)
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
