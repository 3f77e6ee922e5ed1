"""Versions."""

from tensorflow.python.framework import versions

# Of the last upstream release whose names are here.
__version__ = "2.1.0"
# Of the runtime, as a list of ints.
tf_version = [int(part) for part in versions.VERSION.split("-")[0].split("+")[0].split(".")]
