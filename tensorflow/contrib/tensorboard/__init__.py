"""`tf.contrib.tensorboard`: files that TensorBoard's plug-ins read."""

from tensorflow.contrib.tensorboard import plugins

__all__ = ["plugins"]
