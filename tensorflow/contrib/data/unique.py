"""Distinct elements: core's transformations under contrib's path."""

from tensorflow.data.experimental import (
    unique,
)

__all__ = ["unique"]
