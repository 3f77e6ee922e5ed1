"""Graphs with and without marks, and the ops that run."""

import contextlib

import tensorflow as tf
from tensorflow.deeprec.marks import mark


@contextlib.contextmanager
def without_marks():
    """Within, no pattern is marked."""
    released = mark.may_put
    mark.may_put = lambda: False
    try:
        yield
    finally:
        mark.may_put = released


def marks(graph):
    return [op for op in graph.get_operations() if mark.is_mark(op)]


def ops_run(session, fetches, feed=None):
    """Types of the ops of a run."""
    metadata = tf.RunMetadata()
    session.run(fetches, feed, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
    return [node.op for graph in metadata.partition_graphs for node in graph.node]
