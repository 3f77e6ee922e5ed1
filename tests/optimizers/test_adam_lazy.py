"""The switch between Adam for all rows and for touched rows."""

import numpy as np
import pytest


def second_step_moves_untouched_rows(tf, run_session, **arguments):
    table = tf.get_variable("table", initializer=tf.zeros([4, 2]))
    indices = tf.placeholder(tf.int64, [None])
    train = tf.train.AdamOptimizer(0.1, **arguments).apply_gradients(
        [(tf.IndexedSlices(tf.ones([1, 2]), indices), table)]
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train, {indices: [0]})
        before = session.run(table)[0]
        session.run(train, {indices: [1]})
        return bool((session.run(table)[0] != before).all())


def test_default_decays_all_rows(tf, run_session):
    assert second_step_moves_untouched_rows(tf, run_session)


def test_lazy_leaves_untouched_rows(tf, run_session):
    assert not second_step_moves_untouched_rows(tf, run_session, lazy=True)


@pytest.mark.parametrize(
    "value, lazy, expected", [("1", None, False), ("0", None, True), ("1", False, True), ("0", True, False)]
)
def test_environment_decides_where_the_argument_does_not(value, lazy, expected, check_python):
    code = f"""
import tensorflow as tf
table = tf.get_variable("table", initializer=tf.zeros([4, 2]))
i = tf.placeholder(tf.int64, [None])
train = tf.train.AdamOptimizer(0.1, lazy={lazy}).apply_gradients([(tf.IndexedSlices(tf.ones([1, 2]), i), table)])
with tf.Session() as s:
    s.run(tf.global_variables_initializer())
    s.run(train, {{i: [0]}})
    before = s.run(table)[0]
    s.run(train, {{i: [1]}})
    print(bool((s.run(table)[0] != before).all()))
"""
    assert check_python(code, TF_DEEPREC_LAZY_ADAM=value).splitlines()[-1] == str(expected)


def test_other_values_are_refused(tf):
    with pytest.raises(ValueError, match="lazy must be True, False or None, got 'yes'"):
        tf.train.AdamOptimizer(lazy="yes")


def test_lazy_step_costs_no_pass_over_the_table(tf):
    table = tf.get_variable("table", initializer=tf.zeros([4, 2]))
    tf.train.AdamOptimizer(0.1, lazy=True).apply_gradients(
        [(tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0])), table)]
    )
    (node,) = [n for n in tf.get_default_graph().as_graph_def().node if n.op == "SparseApplyAdam"]
    assert not node.attr["decay_all_rows"].b


def test_without_indices_all_rows_still_decay(tf, run_session):
    table = tf.get_variable("table", initializer=tf.zeros([4, 2]))
    indices = tf.placeholder(tf.int64, [None])
    values = tf.placeholder(tf.float32, [None, 2])
    optimizer = tf.train.AdamOptimizer(0.1)
    train = optimizer.apply_gradients([(tf.IndexedSlices(values, indices), table)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train, {indices: [2], values: np.ones([1, 2])})
        m = session.run(optimizer.get_slot(table, "m"))
        session.run(train, {indices: [], values: np.ones([0, 2])})
        np.testing.assert_allclose(session.run(optimizer.get_slot(table, "m")), m * np.float32(0.9), rtol=1e-6)
