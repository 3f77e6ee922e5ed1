# ruff: noqa: F401
"""Monte Carlo expectations."""

from tensorflow.contrib.bayesflow import monte_carlo

__all__ = ["monte_carlo"]
