"""`tf.contrib.all_reduce`: all-reduce built of graph ops."""

from tensorflow.python.distribute.v1.all_reduce import *  # noqa: F403
