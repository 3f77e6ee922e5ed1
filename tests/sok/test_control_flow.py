"""Gradients of lookups in branches and loops, against those of the same rows of a NumPy table."""

import contextlib

import numpy as np
import pytest
import tensorflow as tf
from batches import Batch
from tensorflow.python.eager import context
from tensorflow.python.ops import control_flow_v2_toggles

_ROWS, _DIM = 12, 3


@pytest.fixture
def random():
    return np.random.default_rng(5)


@pytest.fixture
def batch(random):
    return Batch.random(random, 6, _ROWS, 4)


def _table(sok, kind):
    return sok.Variable(np.ones([_ROWS, _DIM], np.float32)) if kind == "static" else sok.DynamicVariable(_DIM, "ones")


def _branch(sok, table, batch, taken):
    def looked_up():
        return sok.lookup_sparse(table, batch.ids(), sp_weights=batch.sparse_weights(), combiners="sum")

    return tf.cond(taken, looked_up, lambda: tf.zeros([len(batch.rows), _DIM]))


def _loop(sok, table, batch, times):
    def body(i, total):
        return i + 1, total + sok.lookup_sparse(table, batch.ids(), combiners="sum")

    return tf.while_loop(lambda i, _: i < times, body, (tf.constant(0), tf.zeros([len(batch.rows), _DIM])))[1]


def _gradient_of(batch, upstream, weights):
    expected = np.zeros([_ROWS, _DIM])
    for row, of_row, gradient in zip(batch.rows, weights, upstream):
        for key, weight in zip(row, of_row):
            expected[key] += weight * gradient
    return expected


def _dense(gradient):
    # IndexedSlices, or what a session makes of them; a loop's have a key once for each time.
    if not hasattr(gradient, "indices"):
        return np.asarray(gradient)
    dense = np.zeros([_ROWS, _DIM])
    np.add.at(dense, np.asarray(gradient.indices), np.asarray(gradient.values))
    return dense


@contextlib.contextmanager
def _control_flow(version):
    before = control_flow_v2_toggles.control_flow_v2_enabled()
    toggle = {
        1: control_flow_v2_toggles.disable_control_flow_v2,
        2: control_flow_v2_toggles.enable_control_flow_v2,
    }
    toggle[version]()
    try:
        yield
    finally:
        toggle[2 if before else 1]()


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("kind", ["static", "dynamic"])
@pytest.mark.parametrize("tape", ["within", "outside"])
def test_gradient_through_a_branch_of_a_function(sok, random, batch, kind, taken, tape):
    upstream = random.standard_normal([6, _DIM]).astype(np.float32)
    with context.eager_mode():
        table = _table(sok, kind)
        branch = tf.function(lambda taken: _branch(sok, table, batch, taken))

        def gradient(taken):
            with tf.GradientTape() as recorded:
                loss = tf.reduce_sum(branch(taken) * upstream)
            return recorded.gradient(loss, table)

        found = (tf.function(gradient) if tape == "within" else gradient)(tf.constant(taken))
        assert kind == "static" or found.values.shape[1:] == [_DIM]
        expected = _gradient_of(batch, upstream, batch.weights) * taken
        np.testing.assert_allclose(_dense(found), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("kind", ["static", "dynamic"])
@pytest.mark.parametrize("version", [1, 2])
def test_gradient_through_a_branch_of_a_graph(sok, random, batch, kind, taken, version):
    upstream = random.standard_normal([6, _DIM]).astype(np.float32)
    with tf.Graph().as_default(), tf.compat.v1.Session() as sess, _control_flow(version):
        table = _table(sok, kind)
        loss = tf.reduce_sum(_branch(sok, table, batch, tf.compat.v1.placeholder_with_default(taken, [])) * upstream)
        (gradient,) = tf.compat.v1.gradients(loss, [table])
        sess.run(tf.compat.v1.global_variables_initializer())
        expected = _gradient_of(batch, upstream, batch.weights) * taken
        np.testing.assert_allclose(_dense(sess.run(gradient)), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind, version", [("static", 1), ("static", 2), ("dynamic", 1)])
def test_gradient_through_a_loop_of_a_graph(sok, random, batch, kind, version):
    upstream = random.standard_normal([6, _DIM]).astype(np.float32)
    with tf.Graph().as_default(), tf.compat.v1.Session() as sess, _control_flow(version):
        table = _table(sok, kind)
        (gradient,) = tf.compat.v1.gradients(tf.reduce_sum(_loop(sok, table, batch, 3) * upstream), [table])
        sess.run(tf.compat.v1.global_variables_initializer())
        expected = 3 * _gradient_of(batch, upstream, [np.ones(len(row)) for row in batch.rows])
        np.testing.assert_allclose(_dense(sess.run(gradient)), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("in_a_branch", [False, True])
def test_gradient_of_a_dynamic_table_through_a_loop_of_a_function_is_refused_by_name(sok, batch, in_a_branch):
    with context.eager_mode():
        table = _table(sok, "dynamic")

        def body(i, total):
            return i + 1, total + _branch(sok, table, batch, i > 1)

        def looped():
            if in_a_branch:
                zeros = tf.zeros([len(batch.rows), _DIM])
                return tf.while_loop(lambda i, _: i < 3, body, (tf.constant(0), zeros))[1]
            return _loop(sok, table, batch, tf.constant(3))

        @tf.function
        def gradient():
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(looped())
            return tape.gradient(loss, table)

        with pytest.raises(NotImplementedError, match="look its keys up before the loop"):
            gradient()


@pytest.mark.parametrize("kind", ["static", "dynamic"])
def test_a_loop_that_trains_in_its_body_trains_each_time(sok, batch, kind):
    with context.eager_mode():
        table = _table(sok, kind)
        optimizer = sok.SGD(lr=0.5)

        @tf.function
        def train(times):
            for _ in tf.range(times):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(sok.lookup_sparse(table, batch.ids(), combiners="sum"))
                optimizer.apply_gradients([(tape.gradient(loss, table), table)])

        train(tf.constant(3))
        keys, rows = sok.export(table)
        expected = 1 - 0.5 * 3 * _gradient_of(batch, np.ones([6, _DIM]), [np.ones(len(row)) for row in batch.rows])
        np.testing.assert_allclose(rows, expected[keys.numpy()], rtol=1e-5)
