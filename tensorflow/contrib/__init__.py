"""`tf.contrib`: the modules of 1.15's contrib, one folder each.

A module that is not there yet raises an AttributeError (or, imported by its path, a ModuleNotFoundError) that says so.
"""


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(f"module 'tensorflow.contrib' has no attribute {name!r}")
    raise AttributeError(
        f"tf.contrib.{name} is not in this release of the wheel yet: see docs/limits.md for what is, "
        "and for the usual replacement."
    )
