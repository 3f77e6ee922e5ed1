"""Shuffling: core's transformations under contrib's path."""

from tensorflow.data.experimental import (
    shuffle_and_repeat,
)

__all__ = ["shuffle_and_repeat"]
