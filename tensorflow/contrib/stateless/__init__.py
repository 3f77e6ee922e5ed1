# ruff: noqa: F401
"""Random ops without state."""

from tensorflow.python.ops.stateless_random_ops import (
    stateless_multinomial,
    stateless_random_normal,
    stateless_random_uniform,
    stateless_truncated_normal,
)


__all__ = ("stateless_multinomial stateless_random_normal stateless_random_uniform stateless_truncated_normal ").split()
