"""`tf.contrib.compiler.jit`."""

from tensorflow.python.compiler.xla.jit import experimental_jit_scope

__all__ = ["experimental_jit_scope"]
