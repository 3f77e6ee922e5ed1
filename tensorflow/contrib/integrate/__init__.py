# ruff: noqa: F401
"""Integration of differential equations."""

from tensorflow.contrib.integrate.odes import odeint, odeint_fixed

__all__ = ("odeint odeint_fixed ").split()
