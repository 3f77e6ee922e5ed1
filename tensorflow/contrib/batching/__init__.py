"""`tf.contrib.batching`: calls of a function gathered into batches."""

from tensorflow.python.ops.batch_ops import batch_function

__all__ = ["batch_function"]
