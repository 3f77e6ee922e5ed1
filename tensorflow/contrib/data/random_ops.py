"""Random numbers: core's transformations under contrib's path."""

from tensorflow.data.experimental import (
    RandomDataset,
)

__all__ = ["RandomDataset"]
