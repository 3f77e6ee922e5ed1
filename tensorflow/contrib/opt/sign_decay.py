"""Decays of the sign term of `AddSignOptimizer` and `PowerSignOptimizer`."""

import math

from tensorflow.python.framework import dtypes
from tensorflow.python.ops import array_ops, math_ops


def _required(global_step, name):
    if global_step is None:
        raise ValueError(f"global_step is required for {name}.")
    return global_step


def _fraction(steps, decay_steps):
    return math_ops.cast(steps, dtypes.float32) / math_ops.cast(decay_steps, dtypes.float32)


def _half_cosine(fraction):
    """0.5 * (1 + cos(pi * fraction))"""
    return 0.5 * (1.0 + math_ops.cos(math.pi * fraction))


def get_linear_decay_fn(decay_steps):
    """A function of the global step: max(0, (decay_steps - step) / decay_steps)."""

    def linear_decay_fn(global_step):
        step = math_ops.minimum(_required(global_step, "linear_decay"), decay_steps)
        remaining = math_ops.cast(decay_steps, dtypes.int32) - math_ops.cast(step, dtypes.int32)
        return math_ops.maximum(0.0, _fraction(remaining, decay_steps))

    return linear_decay_fn


def get_cosine_decay_fn(decay_steps, num_periods=0.5, zero_after=None):
    """A function of the global step: 0.5 * (1 + cos(2 pi num_periods step / decay_steps)).

    Args:
      decay_steps: steps after which the result stays.
      num_periods: periods in `decay_steps`.
      zero_after: periods after which the result is 0.
    """

    def cosine_decay_fn(global_step):
        step = math_ops.minimum(_required(global_step, "cosine_decay"), decay_steps)
        fraction = 2.0 * num_periods * _fraction(step, decay_steps)
        decayed = _half_cosine(fraction)
        if zero_after is None:
            return decayed
        return array_ops.where_v2(math_ops.greater_equal(fraction, 2 * zero_after), 0.0, decayed)

    return cosine_decay_fn


def get_restart_decay_fn(decay_steps, num_periods=1, zero_after=None):
    """A function of the global step: 0.5 * (1 + cos(pi ((num_periods step) mod decay_steps) / decay_steps)).

    Warm restarts, simplified from https://arxiv.org/abs/1608.03983.

    Args:
      decay_steps: steps after which the result stays.
      num_periods: restarts in `decay_steps`.
      zero_after: periods after which the result is 0.
    """

    def restart_decay_fn(global_step):
        step = math_ops.minimum(_required(global_step, "restart_decay"), decay_steps)
        step = math_ops.cast(step, dtypes.float32)
        decayed = _half_cosine(_fraction(math_ops.floormod(num_periods * step, float(decay_steps)), decay_steps))
        if zero_after is None:
            return decayed
        periods = _fraction(num_periods * step, decay_steps)
        return array_ops.where_v2(math_ops.greater_equal(periods, zero_after), 0.0, decayed)

    return restart_decay_fn
