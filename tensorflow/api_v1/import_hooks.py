"""Runs a function right after a module was imported for the first time, wherever the import came from."""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from typing import Callable


class _HookedLoader(importlib.abc.Loader):
    """A loader that calls the hook when the real one is done."""

    def __init__(self, loader, hook):
        self._loader = loader
        self._hook = hook

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        # What the module should see, and what inspect and pkgutil look at later, is the real loader.
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._hook(module)


class _HookFinder(importlib.abc.MetaPathFinder):
    """Wraps the loader of the modules that somebody waits for."""

    def __init__(self):
        self.hooks = {}

    def find_spec(self, fullname, path=None, target=None):
        hook = self.hooks.pop(fullname, None)
        if hook is None:
            return None
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _HookedLoader(spec.loader, hook)
        return spec


_FINDER = _HookFinder()


def after_import(name: str, hook: Callable[[types.ModuleType], None]) -> None:
    """Calls `hook(module)` after the module `name` was imported; at once if it was imported already."""
    if name in sys.modules:
        hook(sys.modules[name])
        return
    _FINDER.hooks[name] = hook
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
