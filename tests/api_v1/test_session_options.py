"""Options of sessions."""

import os
import pathlib
import subprocess
import sys
import textwrap

import tensorflow as tf

from tensorflow.core.protobuf import rewriter_config_pb2

_Rewriter = rewriter_config_pb2.RewriterConfig


def layout(config):
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        return session._config.graph_options.rewrite_options.layout_optimizer


def test_the_layout_optimizer_is_off_unless_it_is_asked_for():
    assert layout(None) == _Rewriter.OFF
    given = tf.ConfigProto(allow_soft_placement=True)
    assert layout(given) == _Rewriter.OFF
    assert given.graph_options.rewrite_options.layout_optimizer == _Rewriter.DEFAULT
    given.graph_options.rewrite_options.layout_optimizer = _Rewriter.ON
    assert layout(given) == _Rewriter.ON


def test_a_queue_with_two_kinds_of_entries_logs_no_error():
    program = """
        import tensorflow as tf
        queue = tf.FIFOQueue(4, [tf.int64, tf.string], [[], []])
        one = tf.train.slice_input_producer([tf.range(4), tf.range(4) * 2], num_epochs=1, shuffle=False)
        batch = tf.train.maybe_batch([one[0]], one[0] > 1, 2)
        priority = tf.PriorityQueue(5, [tf.string], [[]])
        with tf.Session() as session:
            session.run(priority.enqueue((tf.constant(3, tf.int64), "c")))
            print(session.run(priority.dequeue()))
    """
    environment = {k: v for k, v in os.environ.items() if k != "TF_CPP_MIN_LOG_LEVEL"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, env=environment,
        cwd=pathlib.Path(__file__).parent, check=True,
    )  # fmt: skip
    assert "[3, b'c']" in done.stdout
    assert "layout" not in done.stderr
