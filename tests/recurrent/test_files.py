"""Graphs with loops that run as one op, written to files and read back, here and by the released TensorFlow."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from .conftest import CELLS, marks

X = np.random.RandomState(0).randn(4, 5, 9).astype(np.float32)


def export(folder):
    """Writes a SavedModel of a GRU and returns what it predicts."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 5, 9])
        outputs, state = tf.nn.dynamic_rnn(CELLS["gru"](), x, dtype=tf.float32)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf.saved_model.simple_save(session, str(folder), {"x": x}, {"outputs": outputs, "state": state})
            return session.run([outputs, state], {x: X})


def test_exported_graph_has_released_ops_alone(tmp_path):
    export(tmp_path / "model")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.saved_model.load(session, ["serve"], str(tmp_path / "model"))
        types = {op.type for op in graph.get_operations()}
    assert "Exit" in types and "IdentityN" in types and not {"RecurrentLoop", "RecurrentLoopGrad"} & types


def test_exported_graph_predicts_the_same(tmp_path):
    expected = export(tmp_path / "model")
    loaded = tf.contrib.predictor.from_saved_model(str(tmp_path / "model"))({"x": X})
    np.testing.assert_array_equal(loaded["outputs"], expected[0])
    np.testing.assert_array_equal(loaded["state"], expected[1])


def test_released_tensorflow_runs_the_exported_graph(tmp_path, released_prediction):
    expected = export(tmp_path / "model")
    np.testing.assert_allclose(released_prediction(X, "outputs"), expected[0], rtol=1e-5, atol=1e-6)


def test_imported_meta_graph_trains(tmp_path):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 5, 9], name="x")
        outputs, _ = tf.nn.dynamic_rnn(CELLS["attention"](), x, dtype=tf.float32)
        tf.reduce_sum(tf.square(outputs), name="loss")
        definition = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(definition)
        assert len(marks(graph)) == 1
        loss = graph.get_tensor_by_name("loss:0")
        step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            losses = [session.run([loss, step], {"x:0": X})[0] for _ in range(20)]
    assert losses[-1] < 0.9 * losses[0]


def test_a_mark_that_does_not_fit_names_its_node():
    with tf.Graph().as_default() as graph:
        tf.nn.dynamic_rnn(CELLS["gru"](), tf.constant(X), dtype=tf.float32)
        definition = graph.as_graph_def()
    (node,) = (node for node in definition.node if "_deeprec_recurrent_program" in node.attr)
    node.attr["_deeprec_recurrent_sizes"].list.i[0] = 7
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
        with (
            tf.Session() as session,
            pytest.raises(
                tf.errors.InvalidArgumentError, match=f"mark on node {node.name} for one RecurrentLoop cannot"
            ),
        ):
            session.run(tf.constant(1.0))


def test_the_environment_leaves_loops_as_they_are():
    code = """
import tensorflow as tf
tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), tf.zeros([2, 3, 4]), dtype=tf.float32)
print([op.name for op in tf.get_default_graph().get_operations() if op.type == "IdentityN"])
"""
    environment = {**os.environ, "TF_DEEPREC_DISABLE_FUSIONS": "recurrent"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, text=True, capture_output=True, check=True)
    assert done.stdout == "[]\n"
