"""Functions of 1.15's eager context."""

from tensorflow.python.eager import context
from tensorflow.python.framework import ops


def list_devices():
    """Names of the devices of the local runtime."""
    current = context.context()
    # In graph mode nothing has started the runtime yet.
    current.ensure_initialized()
    return current.devices()


def shared_name(name=None):
    """A name that no two resources share in eager mode; in graph mode `name` itself, which means sharing by name."""
    if name or not context.executing_eagerly():
        return name
    return context.anonymous_name()


def namescope(name):
    """A scope for names of eager ops."""
    return ops.name_scope(name)
