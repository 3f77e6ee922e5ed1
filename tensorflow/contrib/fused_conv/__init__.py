# ruff: noqa: F401
"""Convolution, bias and activation in one."""

from tensorflow.contrib.fused_conv.fused_conv2d_bias_activation_op import fused_conv2d_bias_activation

__all__ = ("fused_conv2d_bias_activation ").split()
