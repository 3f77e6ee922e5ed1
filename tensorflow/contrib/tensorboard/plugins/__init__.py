"""`tf.contrib.tensorboard.plugins`."""

from tensorflow.contrib.tensorboard.plugins import projector

__all__ = ["projector"]
