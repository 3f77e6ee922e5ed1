"""Which errors end a stage, and which it passes over: exception classes or error codes."""

from tensorflow.python.framework import errors

_CLASSES = {code: errors.exception_type_from_error_code(code) for code in range(1, 17)}
_CODES = {kind: code for code, kind in _CLASSES.items()}


def classes(name: str, given) -> tuple:
    """The exception classes that an argument names.

    Args:
      name: the argument, for the error.
      given: an iterable of exception classes and error codes (`tf.errors.OUT_OF_RANGE`), or one of these.

    Raises:
      TypeError, ValueError: something else is in it.
    """
    if isinstance(given, (int, type)):
        given = (given,)
    found = []
    for kind in given:
        if isinstance(kind, type) and issubclass(kind, Exception):
            found.append(kind)
        elif isinstance(kind, int) and not isinstance(kind, bool):
            if kind not in _CLASSES:
                raise ValueError(f"{name} has the error code {kind}, expected one from 1 to 16")
            found.append(_CLASSES[kind])
        else:
            raise TypeError(f"{name} must hold exception classes or error codes, got {kind!r}")
    return tuple(found)


def codes(kinds: tuple) -> list:
    """The error codes of those among the classes that have one."""
    return [_CODES[kind] for kind in kinds if kind in _CODES]


def code_of(error: BaseException) -> int:
    """The error code that stands for an exception."""
    code = getattr(error, "error_code", None)
    return code if code in _CLASSES else errors.UNKNOWN
