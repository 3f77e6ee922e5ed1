"""`tensorflow.contrib.training.python.training.training`: tf_slim's module, under 1.15's name."""

import importlib
import sys

sys.modules[__name__] = importlib.import_module("tf_slim.training.training")
