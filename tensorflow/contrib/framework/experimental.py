"""The `experimental` decorator: the function warns once that its interface may change."""

import functools

from tensorflow.python.platform import tf_logging as logging

__all__ = ["experimental"]


def experimental(func):
    """Marks a function or method as experimental: each call logs a warning."""

    @functools.wraps(func)
    def new_func(*args, **kwargs):
        logging.warning("%s (from %s) is experimental and may change or be removed.", func.__name__, func.__module__)
        return func(*args, **kwargs)

    new_func.__doc__ = f"{func.__doc__ or func.__name__}\n\nTHIS FUNCTION IS EXPERIMENTAL. It may change or be removed."
    return new_func
