# ruff: noqa: F401
"""Bilinear sampling of images."""

from tensorflow.contrib.resampler.resampler_ops import resampler

__all__ = ("resampler ").split()
