"""Copies to devices: core's transformations under contrib's path."""

from tensorflow.data.experimental import (
    copy_to_device,
    prefetch_to_device,
)

__all__ = ["copy_to_device", "prefetch_to_device"]
