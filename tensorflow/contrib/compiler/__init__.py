"""`tf.contrib.compiler`: scopes compiled by XLA (`jit`) and whole functions (`xla`)."""

from tensorflow.contrib.compiler import jit, xla

__all__ = ["jit", "xla"]
