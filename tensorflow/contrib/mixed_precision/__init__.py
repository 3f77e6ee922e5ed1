# ruff: noqa: F401
"""Scaled losses."""

from tensorflow.contrib.mixed_precision.loss_scale_manager import (
    ExponentialUpdateLossScaleManager,
    FixedLossScaleManager,
    LossScaleManager,
)
from tensorflow.contrib.mixed_precision.loss_scale_optimizer import LossScaleOptimizer

__all__ = ("ExponentialUpdateLossScaleManager FixedLossScaleManager LossScaleManager LossScaleOptimizer ").split()
