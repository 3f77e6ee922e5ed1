"""`hb.enable_deterministic` of 0.5."""

import os
import random

import numpy as np
import tensorflow as tf


def enable_deterministic(seed=None) -> None:
    """Seeds Python, NumPy and the default graph.

    Args:
      seed: an int; None: 0.
    """
    seed = 0 if seed is None else seed
    os.environ["PYTHONHASHSEED"] = str(seed)
    random.seed(seed)
    np.random.seed(seed)
    tf.set_random_seed(seed)
