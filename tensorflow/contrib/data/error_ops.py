"""Handling of errors: core's transformations under contrib's path."""

from tensorflow.data.experimental import (
    ignore_errors,
)

__all__ = ["ignore_errors"]
