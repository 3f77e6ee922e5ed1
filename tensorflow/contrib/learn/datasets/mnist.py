"""MNIST from local files; `tensorflow.examples.tutorials.mnist.input_data` under its path in contrib."""

import importlib
import sys

sys.modules[__name__] = importlib.import_module("tensorflow.examples.tutorials.mnist.input_data")
