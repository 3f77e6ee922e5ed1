"""Sparse steps inside loops, conditionals, functions and chains of dependencies."""

import numpy as np
import pytest


def setup(tf, resource, name="Adagrad", **arguments):
    table = tf.get_variable("table", initializer=tf.ones([6, 3]), use_resource=resource)
    optimizer = getattr(tf.train, name + "Optimizer")(0.5, **arguments)
    gradient = tf.IndexedSlices(tf.ones([3, 3]), tf.constant([2, 0, 2]))
    return table, optimizer, gradient


def adagrad(steps):
    w, a = np.ones([6, 3]), np.full([6, 3], 0.1)
    for _ in range(steps):
        for row, g in ((2, 2.0), (0, 1.0)):
            a[row] += g * g
            w[row] -= 0.5 * g / np.sqrt(a[row])
    return w


@pytest.mark.parametrize("v2", [False, True], ids=["while-v1", "while-v2"])
@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_while_loop(resource, v2, tf, run_session):
    if v2 and not resource:
        pytest.skip("reference variables do not enter functions")
    (tf.enable_control_flow_v2 if v2 else tf.disable_control_flow_v2)()
    try:
        table, optimizer, gradient = setup(tf, resource)
        optimizer._create_slots([table])

        def body(i):
            with tf.control_dependencies([optimizer.apply_gradients([(gradient, table)])]):
                return i + 1

        loop = tf.while_loop(lambda i: i < 4, body, [tf.constant(0)], parallel_iterations=1)
        np.testing.assert_allclose(run_session(loop, table), adagrad(4), rtol=1e-6)
    finally:
        tf.disable_control_flow_v2()


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("taken", [False, True])
def test_cond(taken, resource, tf, run_session):
    table, optimizer, gradient = setup(tf, resource)
    optimizer._create_slots([table])

    def train():
        with tf.control_dependencies([optimizer.apply_gradients([(gradient, table)])]):
            return tf.constant(1)

    result = tf.cond(tf.constant(taken), train, lambda: tf.constant(0))
    np.testing.assert_allclose(run_session(result, table), adagrad(1) if taken else np.ones([6, 3]), rtol=1e-6)


@pytest.mark.parametrize("name", ["Adagrad", "Adam", "GradientDescent"])
@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_read_after_the_step_sees_it(name, resource, tf):
    table, optimizer, gradient = setup(tf, resource, name)
    train = optimizer.apply_gradients([(gradient, table)])
    with tf.control_dependencies([train]):
        after = tf.gather(table, [2])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(20):
            before = session.run(table)[2]
            got = session.run(after)[0]
            assert (got != before).all()


def test_global_step_and_monitored_session(tf):
    table, optimizer, gradient = setup(tf, True, "Adam")
    step = tf.train.get_or_create_global_step()
    train = optimizer.apply_gradients([(gradient, table)], global_step=step)
    with tf.train.MonitoredTrainingSession() as session:
        for _ in range(3):
            session.run(train)
        assert session.run(step) == 3


def test_several_tables_in_one_step(tf, run_session):
    tables = [tf.get_variable(f"t{i}", initializer=tf.ones([6, 3]), use_resource=i % 2 == 0) for i in range(8)]
    gradient = tf.IndexedSlices(tf.ones([3, 3]), tf.constant([2, 0, 2]))
    train = tf.train.AdagradOptimizer(0.5).apply_gradients([(gradient, t) for t in tables])
    for value in run_session(train, tables):
        np.testing.assert_allclose(value, adagrad(1), rtol=1e-6)


@pytest.mark.parametrize("name", ["Adagrad", "Adam"])
def test_dense_reads_while_training_are_never_torn(name, tf):
    """With use_locking a read is all of one step: every element of the table holds the same value."""
    rows = 20000
    table = tf.get_variable("table", initializer=tf.zeros([rows, 8]), use_resource=True)
    gradient = tf.IndexedSlices(tf.ones([rows, 8]), tf.range(rows))
    train = getattr(tf.train, name + "Optimizer")(0.1, use_locking=True).apply_gradients([(gradient, table)])
    reads = []
    for i in range(4):
        with tf.control_dependencies([tf.constant(i)]):
            value = table.read_value()
            reads.append(tf.reduce_max(value) - tf.reduce_min(value))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(20):
            assert max(session.run([train, *reads])[1:]) == 0


def test_eager_steps_in_the_released_root(check_python):
    code = """
import tensorflow as tf
from tensorflow.deeprec import optimizers
optimizers.install()
v1 = tf.compat.v1
for name, arguments in (("Adagrad", {}), ("GradientDescent", {}), ("Adam", {}), ("Adam", {"lazy": True})):
    table = v1.get_variable(name + str(len(arguments)), initializer=tf.ones([5, 2]), use_resource=True)
    gradient = tf.IndexedSlices(tf.ones([3, 2]), tf.constant([1, 3, 1]))
    before = table.numpy()
    getattr(v1.train, name + "Optimizer")(0.1, **arguments).apply_gradients([(gradient, table)])
    changed = (table.numpy() != before).all(axis=1)
    assert changed.tolist() == [False, True, False, True, False], (name, changed)
print("trained", tf.executing_eagerly())
"""
    assert check_python(code, TF_DEEPREC_ROOT="2").endswith("trained True")
