# ruff: noqa: F401
"""Memory in use."""

from tensorflow.contrib.memory_stats.memory_stats_ops import BytesInUse, BytesLimit, MaxBytesInUse

__all__ = ("BytesInUse BytesLimit MaxBytesInUse ").split()
