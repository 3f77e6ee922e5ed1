"""Loss scaling. Keras' own unscales IndexedSlices of embedding variables as they are."""

from tf_keras.mixed_precision import LossScaleOptimizer

__all__ = ["LossScaleOptimizer"]
