"""`tensorflow.contrib.slim.python.slim.model_analyzer`: tf_slim's module, under 1.15's name."""

import importlib
import sys

sys.modules[__name__] = importlib.import_module("tf_slim.model_analyzer")
