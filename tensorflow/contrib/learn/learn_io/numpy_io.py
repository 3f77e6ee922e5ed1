"""Input functions from NumPy arrays."""

import tensorflow.estimator as core


def numpy_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=True, queue_capacity=1000, num_threads=1):
    """`tf.estimator.inputs.numpy_input_fn`, shuffled by default."""
    return core.inputs.numpy_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads)
