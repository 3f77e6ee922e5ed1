"""Ops that default seeds do not count, so that a staged program draws the numbers of the unstaged one."""

import contextlib

from tensorflow.api_v1.restored import op_counts


@contextlib.contextmanager
def uncounted(graph):
    """Leaves what is added to the graph meanwhile out of the op count, that default seeds are made of."""
    before = graph.num_operations() + op_counts.missing_ops(graph)
    try:
        yield
    finally:
        op_counts.add_missing(graph, before - graph.num_operations() - op_counts.missing_ops(graph))
