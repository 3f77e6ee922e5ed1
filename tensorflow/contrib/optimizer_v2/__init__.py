# ruff: noqa: F401
"""The second optimizer API of contrib."""

from tensorflow.contrib.optimizer_v2.optimizers import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    AdamOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    OptimizerV2,
    RMSPropOptimizer,
)

__all__ = (
    "AdadeltaOptimizer AdagradOptimizer AdamOptimizer GradientDescentOptimizer MomentumOptimizer OptimizerV2 "
    "RMSPropOptimizer "
).split()
