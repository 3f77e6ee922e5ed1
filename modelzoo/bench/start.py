"""Runs a train.py of the zoo in a way of ways.py: `start.py WAY PATH/train.py FLAGS`.

In all ways its initial values are the same, see seeds.py. In the way "stock", `import tensorflow as tf` gives `tf.compat.v1` of the
released TensorFlow with the behaviour of 1.x; --tf belongs to the flags, and tf_keras must be installed: tf.layers and tf.nn.rnn_cell
are made of it.
"""

import os
import runpy
import sys
from typing import List

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import seeds


def prepare(way: str) -> None:
    """To be called before anything imports tensorflow."""
    if way == "stock":
        _as_version_1()
    seeds.by_name()


def _as_version_1() -> None:
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
    prepare(sys.argv[1])
    run_script(sys.argv[2:])
