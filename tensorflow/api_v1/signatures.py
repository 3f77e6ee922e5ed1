"""Functions and constructors with the argument names and the positional order of 1.15.

The new function takes 1.15's arguments in 1.15's order; what was added since can be given by name. `inspect.signature` shows
just that.
"""

import functools
import inspect
from typing import Callable

from tensorflow.api_v1 import moved_names

_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


def with_old_arguments(function: Callable, arguments: str, is_method: bool = False) -> Callable:
    """A function like `function` with old argument names and order.

    Args:
      function: of 2.21.
      arguments: names in 1.15's order. "old=new" for one that has another name now; "old=" for one that has no effect any more:
        a value other than None gives one warning.
      is_method: whether the first argument is `self`, which `arguments` does not name.

    Raises (the new function):
      TypeError: too many positional arguments, or one given twice.
    """
    words = [word.partition("=") for word in arguments.split()]
    order = [old for old, _, _ in words]
    new_name = {old: new if equals else old for old, equals, new in words}
    label = function.__qualname__

    def translate(args, kwargs):
        if len(args) > len(order):
            raise TypeError(f"{label}() takes {len(order)} positional arguments but {len(args)} were given")
        for name, value in zip(order, args):
            if name in kwargs:
                raise TypeError(f"{label}() got multiple values for argument {name!r}")
            kwargs[name] = value
        for old, new in new_name.items():
            if old == new or old not in kwargs:
                continue
            value = kwargs.pop(old)
            if new:
                kwargs[new] = value
            elif value is not None:
                moved_names.warn_once(f"{label}: argument {old} has no effect in this runtime", stacklevel=4)
        return kwargs

    if is_method:

        @functools.wraps(function)
        def wrapper(self, *args, **kwargs):
            return function(self, **translate(args, kwargs))
    else:

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(**translate(args, kwargs))

    wrapper.__signature__ = _signature(function, order, new_name, is_method)
    return wrapper


def _signature(function, order, new_name, is_method):
    now = inspect.signature(function).parameters
    parameters = [inspect.Parameter("self", _POSITIONAL)] if is_method else []
    # Once one argument has a default, those after it must have one.
    has_default = False
    for old in order:
        old_default = now[new_name[old]].default if new_name[old] in now else None
        if has_default and old_default is inspect.Parameter.empty:
            old_default = None
        has_default = has_default or old_default is not inspect.Parameter.empty
        parameters.append(inspect.Parameter(old, _POSITIONAL, default=old_default))
    taken = set(order) | set(new_name.values()) | {"self"}
    for name, parameter in now.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            parameters.append(parameter)
        elif name not in taken and parameter.kind in (_POSITIONAL, inspect.Parameter.KEYWORD_ONLY):
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    return inspect.Signature(parameters)
