"""Reductions over slices."""

from tensorflow.contrib.reduce_slice_ops.reduce_slice_ops import (
    reduce_slice_max,
    reduce_slice_min,
    reduce_slice_prod,
    reduce_slice_sum,
)

__all__ = ["reduce_slice_max", "reduce_slice_min", "reduce_slice_prod", "reduce_slice_sum"]
