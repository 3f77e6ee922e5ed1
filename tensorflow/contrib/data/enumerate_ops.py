"""Numbering of elements: core's transformations under contrib's path."""

from tensorflow.data.experimental import (
    enumerate_dataset,
)

__all__ = ["enumerate_dataset"]
