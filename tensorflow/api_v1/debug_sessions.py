"""Arguments of the debugger's sessions and hooks that only 1.15 had."""

import functools
import inspect

from tensorflow.api_v1 import import_hooks

_WRAPPERS = "tensorflow.python.debug.wrappers"
# Module -> class -> place of `log_usage` among the arguments.
_LOG_USAGE = {
    "dumping_wrapper": {"DumpingDebugWrapperSession": 5},
    "grpc_wrapper": {"GrpcDebugWrapperSession": 4, "TensorBoardDebugWrapperSession": 4},
    "hooks": {"DumpingDebugHook": 3, "GrpcDebugHook": 3, "TensorBoardDebugHook": 3},
    "local_cli_wrapper": {"LocalCLIDebugWrapperSession": 2},
}
_CURSES = {"hooks": "LocalCLIDebugHook", "local_cli_wrapper": "LocalCLIDebugWrapperSession"}


def install() -> None:
    for module in _LOG_USAGE:
        import_hooks.after_import(f"{_WRAPPERS}.{module}", functools.partial(_change, module))


def _change(name, module) -> None:
    for cls, place in _LOG_USAGE[name].items():
        _accept_log_usage(getattr(module, cls), place)
    if name in _CURSES:
        _accept_curses(getattr(module, _CURSES[name]))


def _accept_log_usage(cls, place) -> None:
    """`log_usage`, a bool: usage was never logged outside of Google, neither in 1.15."""
    init = cls.__init__

    @functools.wraps(init)
    def __init__(self, *args, log_usage=True, **kwargs):
        if not isinstance(log_usage, bool):
            raise ValueError(f"log_usage must be a bool, got {log_usage!r}")
        # Only 1.15's order has a bool in this place.
        if len(args) > place and isinstance(args[place], bool):
            args = args[:place] + args[place + 1 :]
        init(self, *args, **kwargs)

    parameters = list(inspect.signature(init).parameters.values())
    argument = inspect.Parameter("log_usage", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=True)
    __init__.__signature__ = inspect.Signature([*parameters[: place + 1], argument, *parameters[place + 1 :]])
    cls.__init__ = __init__


def _accept_curses(cls) -> None:
    """ui_type="curses", the default of 1.15: the screen is gone, so it means "readline", which 1.15 took where curses failed."""
    init = cls.__init__
    signature = inspect.signature(init)

    @functools.wraps(init)
    def __init__(self, *args, **kwargs):
        args = tuple("readline" if isinstance(arg, str) and arg == "curses" else arg for arg in args)
        if kwargs.get("ui_type") == "curses":
            kwargs["ui_type"] = "readline"
        init(self, *args, **kwargs)

    __init__.__signature__ = signature
    cls.__init__ = __init__
