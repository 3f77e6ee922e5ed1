"""Puts the argument lists of 1.15 onto the functions and classes that have others now."""

import functools
import inspect
import sys
import types

from tensorflow.api_v1 import import_hooks, signatures
from tensorflow.api_v1.old_paths import core_arguments, keras_arguments


def install(namespace: types.ModuleType) -> None:
    """Changes what is loaded at once, and other modules, such as tf_keras', when they load.

    Args:
      namespace: `tf.compat.v1`, before its names are copied to the root.
    """
    for names, arguments in core_arguments.FUNCTIONS.items():
        _replace_function(namespace, names.split(), arguments)
    for names, arguments in core_arguments.CLASSES.items():
        _change_constructor(_get(namespace, names.split()[0]), arguments)
    for name in ("sigmoid", "softmax", "sparse_softmax"):
        name = f"nn.{name}_cross_entropy_with_logits"
        _set(namespace, [name], _named_arguments_only(_get(namespace, name)))
    by_module = {}
    for target, arguments in {**core_arguments.METHODS, **keras_arguments.ARGUMENTS}.items():
        module, _, name = target.partition(":")
        by_module.setdefault(module, {})[name] = arguments
    for module, changes in by_module.items():
        import_hooks.after_import(module, functools.partial(_change_module, changes))


def _get(owner, path: str):
    return functools.reduce(getattr, path.split("."), owner)


def _set(owner, paths: list[str], value) -> None:
    for path in paths:
        parent, _, name = path.rpartition(".")
        setattr(_get(owner, parent) if parent else owner, name, value)


def _replace_function(namespace, names: list[str], arguments: str) -> None:
    old = _get(namespace, names[0])
    new = signatures.with_old_arguments(old, arguments)
    _set(namespace, names, new)
    # The modules that hold it under its name, so that all paths lead to one object.
    name = names[0].rpartition(".")[2]
    for home, module in list(sys.modules.items()):
        if home.startswith("tensorflow.python.") and getattr(module, "__dict__", {}).get(name) is old:
            setattr(module, name, new)


def _change_constructor(cls: type, arguments: str) -> None:
    cls.__init__ = signatures.with_old_arguments(cls.__init__, arguments, is_method=True)


def _change_module(changes: dict[str, str], module: types.ModuleType) -> None:
    for path, arguments in changes.items():
        value = _get(module, path)
        if isinstance(value, type):
            _change_constructor(value, arguments)
        else:
            new = signatures.with_old_arguments(value, arguments, is_method="." in path)
            _set(module, [path], new)


def _named_arguments_only(function):
    """A cross entropy that refuses positional labels and logits, whose order 1.0 had changed."""
    names = [
        name for name in ("labels", "logits", "dim", "name", "axis") if name in inspect.signature(function).parameters
    ]
    new = signatures.with_old_arguments(function, " ".join(["_sentinel=", *names]))

    @functools.wraps(new)
    def wrapper(*args, **kwargs):
        if args and args[0] is not None or kwargs.get("_sentinel") is not None:
            raise ValueError(f"Only call `{function.__name__}` with named arguments (labels=..., logits=..., ...)")
        return new(*args, **kwargs)

    wrapper.__signature__ = new.__signature__
    return wrapper
