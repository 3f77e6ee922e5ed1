# ruff: noqa: F401
"""Staging areas."""

from tensorflow.python.ops.data_flow_ops import StagingArea


__all__ = ("StagingArea ").split()
