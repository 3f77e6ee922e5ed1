"""A counter: core's transformations under contrib's path."""

from tensorflow.data.experimental import (
    Counter,
)

__all__ = ["Counter"]
