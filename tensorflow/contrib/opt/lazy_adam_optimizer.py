"""LazyAdam: Adam that touches only the rows of a sparse gradient."""

from tensorflow.contrib.opt.touched_rows import LazyAdamRows
from tensorflow.python.training import adam


class LazyAdamOptimizer(LazyAdamRows, adam.AdamOptimizer):
    """Adam (Kingma and Ba, https://arxiv.org/abs/1412.6980) whose moments decay only in the rows that a sparse gradient names.

    Faster than `tf.train.AdamOptimizer` on large embeddings, with other results there; dense gradients are the same. Arguments as
    for `tf.train.AdamOptimizer`.
    """
