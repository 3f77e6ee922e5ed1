# ruff: noqa: F401
"""`tf.contrib.solvers`: iterative solvers for linear operators that are known by what they do to vectors."""

from tensorflow.contrib.solvers import lanczos, least_squares, linear_equations, util

__all__ = ["lanczos", "least_squares", "linear_equations", "util"]
