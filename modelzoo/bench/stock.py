"""Runs a train.py of the zoo on the released TensorFlow: `stock.py PATH/train.py FLAGS`, with --tf among the flags.

`import tensorflow as tf` then gives `tf.compat.v1` with the behaviour of 1.x. tf_keras must be installed: tf.layers and
tf.nn.rnn_cell are made of it.
"""

import os
import runpy
import sys
from typing import List


def as_version_1() -> None:
    """Makes `import tensorflow` the 1.x API of the released package."""
    os.environ["TF_USE_LEGACY_KERAS"] = "1"  # read at import
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    sys.modules["tensorflow"] = tf


def run_script(arguments: List[str]) -> None:
    """Runs a script with its arguments as the shell would."""
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    as_version_1()
    run_script(sys.argv[1:])
