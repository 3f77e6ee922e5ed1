"""`tensorflow.contrib.layers.python...rev_block_lib`: tf_slim's module, under 1.15's name."""

import importlib
import sys

sys.modules[__name__] = importlib.import_module("tf_slim.layers.rev_block_lib")
