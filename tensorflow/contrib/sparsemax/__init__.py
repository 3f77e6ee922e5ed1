# ruff: noqa: F401
"""Sparsemax and its loss."""

from tensorflow.contrib.sparsemax.sparsemax import sparsemax
from tensorflow.contrib.sparsemax.sparsemax_loss import sparsemax_loss

__all__ = ("sparsemax sparsemax_loss ").split()
