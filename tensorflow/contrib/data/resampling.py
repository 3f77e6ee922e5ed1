"""Resampling by class: core's transformations under contrib's path."""

from tensorflow.data.experimental import (
    rejection_resample,
)

__all__ = ["rejection_resample"]
