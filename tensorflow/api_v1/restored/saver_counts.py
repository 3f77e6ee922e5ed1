"""The saver of object graphs (`tf.train.Checkpoint`, Keras' `save_weights`) counts the ops of 1.15's: see `op_seeds`."""

import functools

from tensorflow.api_v1.restored.op_counts import add_missing
from tensorflow.python.checkpoint import functional_saver
from tensorflow.python.eager import context
from tensorflow.python.framework import ops

# A second shard (5), for the object graph; the suffix of remote prefixes is chosen by ops here (3).
_SHARD_LESS_SUFFIX = 5 - 3
# What reads a resource variable for the file: 1.15 passed on the value that the variable had been read for.
_OPS_OF_A_READ = 4


def install() -> None:
    saver = functional_saver.MultiDeviceSaver
    saver.save = _save(saver.save)


def _save(released):
    @functools.wraps(released)
    def save(self, *args, **kwargs):
        if context.executing_eagerly():
            return released(self, *args, **kwargs)
        graph = ops.get_default_graph()
        before = graph.num_operations()
        result = released(self, *args, **kwargs)
        reads = sum(op.type == "DisableCopyOnRead" for op in graph.get_operations()[before:])
        add_missing(graph, _SHARD_LESS_SUFFIX - _OPS_OF_A_READ * reads)
        return result

    return save
