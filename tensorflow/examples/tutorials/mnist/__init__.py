"""MNIST: the reader of the data set (`input_data`) and the small network of the first tutorial (`mnist`)."""

from tensorflow.examples.tutorials.mnist import input_data, mnist  # noqa: F401
