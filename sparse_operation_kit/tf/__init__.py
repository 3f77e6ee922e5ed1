"""Optimizers of TensorFlow, for the embedding variables of layers."""

from sparse_operation_kit.tf import keras

__all__ = ["keras"]
