"""Optimizers of Keras, for the embedding variables of layers."""

from sparse_operation_kit.tf.keras import mixed_precision, optimizers

__all__ = ["mixed_precision", "optimizers"]
