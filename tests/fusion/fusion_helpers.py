"""Runs of one graph with and without fusion."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf


class Run(NamedTuple):
    """What a session gave, and the fused operations of the graph that ran."""

    values: list
    fused: list

    def templates(self):
        return sorted(op.template for op in self.fused)


def config(on=True):
    made = tf.ConfigProto()
    made.graph_options.optimizer_options.do_op_fusion = on
    return made


def run(fetches, feeds=None, on=True, steps=1):
    """Initializes the variables and runs `steps` times; values and fused operations are those of the last run."""
    with tf.Session(config=config(on)) as session:
        session.run(tf.global_variables_initializer())
        options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
        for _ in range(steps - 1):
            session.run(fetches, feeds)
        values = session.run(fetches, feeds, options, metadata)
    return Run(values, tf.graph_optimizer.fused_ops_in(metadata))


def check(fetches, feeds=None, expected=(), steps=1):
    """Runs with and without fusion: equal results, and these templates (None: any).

    Returns:
      The run with fusion.
    """
    plain, fused = run(fetches, feeds, on=False, steps=steps), run(fetches, feeds, steps=steps)
    assert plain.fused == []
    if expected is not None:
        assert fused.templates() == sorted(expected)
    for a, b in zip(tf.nest.flatten(plain.values), tf.nest.flatten(fused.values)):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype and a.shape == b.shape
        if a.dtype.kind == "f":
            np.testing.assert_allclose(b, a, rtol=1e-6, atol=1e-6)
        else:
            np.testing.assert_array_equal(b, a)
    return fused
