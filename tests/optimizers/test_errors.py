"""Bad gradients: refused, named, and nothing written."""

import numpy as np
import pytest

OPTIMIZERS = {
    "GradientDescent": {},
    "Adagrad": {},
    "Momentum": {"momentum": 0.9},
    "Ftrl": {},
    "RMSProp": {},
    "Adam": {},
    "Adam lazy": {"lazy": True},
}


def train_with(tf, name, resource, indices, values, rows=6):
    """Returns the table before and after, and the error's message or None."""
    table = tf.get_variable("table", initializer=tf.ones([rows, 3]), use_resource=resource)
    optimizer = getattr(tf.train, name.split()[0] + "Optimizer")(0.1, **OPTIMIZERS[name])
    ids, grads = tf.placeholder(tf.int64), tf.placeholder(tf.float32)
    train = optimizer.apply_gradients([(tf.IndexedSlices(grads, ids), table)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(table)
        message = None
        try:
            session.run(train, {ids: indices, grads: values})
        except tf.errors.InvalidArgumentError as e:
            message = e.message
        return before, session.run(table), message


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("bad", [-1, 6, 2**40])
def test_index_outside_the_table(bad, name, resource, tf):
    before, after, message = train_with(tf, name, resource, [0, 5, bad], np.ones([3, 3]))
    assert message is not None
    assert f"{bad}" in message and "2" in message and "[0, 6)" in message
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize(
    "indices, shape", [([0, 1], [2, 4]), ([0, 1], [3, 3]), ([0, 1], [2]), ([[0, 1]], [2, 3]), ([0, 1], [2, 3, 1])]
)
def test_shapes_that_do_not_match(indices, shape, name, resource, tf):
    before, after, message = train_with(tf, name, resource, indices, np.ones(shape))
    assert message is not None
    assert "grad" in message and "indices" in message and "[6,3]" in message
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_no_indices_is_no_error(name, resource, tf):
    before, after, message = train_with(tf, name, resource, np.zeros([0], np.int64), np.ones([0, 3]))
    assert message is None
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_table_without_rows(name, tf):
    _, after, message = train_with(tf, name, True, np.zeros([0], np.int64), np.ones([0, 3]), rows=0)
    assert message is None and after.shape == (0, 3)


@pytest.mark.parametrize("name", ["GradientDescent", "Adam"])
def test_static_shapes_are_checked_while_the_graph_is_built(name, tf):
    table = tf.get_variable("table", initializer=tf.ones([6, 3]))
    gradient = tf.IndexedSlices(tf.ones([2, 4]), tf.constant([0, 1]))
    with pytest.raises(ValueError, match="must be equal, but are"):
        getattr(tf.train, name + "Optimizer")(0.1).apply_gradients([(gradient, table)])


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_uninitialized_variable(name, resource, tf):
    table = tf.get_variable("table", initializer=tf.ones([6, 3]), use_resource=resource)
    optimizer = getattr(tf.train, name.split()[0] + "Optimizer")(0.1, **OPTIMIZERS[name])
    train = optimizer.apply_gradients([(tf.IndexedSlices(tf.ones([1, 3]), tf.constant([0])), table)])
    with tf.Session() as session, pytest.raises((tf.errors.FailedPreconditionError, tf.errors.InternalError)):
        session.run(train)
