"""Scans: core's transformations under contrib's path."""

from tensorflow.data.experimental import (
    scan,
)

__all__ = ["scan"]
