"""The runtime's module of all-reduce algorithms."""

from tensorflow.python.distribute.v1.all_reduce import *  # noqa: F403
