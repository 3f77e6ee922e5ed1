"""Optimizers that users derive from ours: what they override was written for the released classes."""

import numpy as np
import pytest

IDS = np.array([1, 3, 1, 1])
GRADIENTS = np.arange(8, dtype=np.float32).reshape(4, 2)
SUMS = {1: GRADIENTS[0] + GRADIENTS[2] + GRADIENTS[3], 3: GRADIENTS[1]}


def step(tf, optimizer, resource):
    table = tf.get_variable("table", initializer=tf.ones([5, 2]), use_resource=resource)
    train = optimizer.apply_gradients([(tf.IndexedSlices(tf.constant(GRADIENTS), tf.constant(IDS)), table)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        return session.run(table)


NAMES = ("Adagrad", "Momentum", "Ftrl", "RMSProp", "Adam")


def arguments(name):
    return {"learning_rate": 0.1, **({"momentum": 0.9} if name == "Momentum" else {})}


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("name", NAMES)
def test_own_sparse_step_gets_unique_indices(name, resource, tf):
    seen = []

    class Mine(getattr(tf.train, name + "Optimizer")):
        def _apply_sparse(self, grad, var):
            seen.append(grad.indices)
            return tf.scatter_sub(var, grad.indices, grad.values)

        def _resource_apply_sparse(self, grad, var, indices):
            seen.append(indices)
            return var.scatter_sub(tf.IndexedSlices(grad, indices))

    result = step(tf, Mine(**arguments(name)), resource)
    assert len(seen) == 1 and seen[0].op.type == "Unique"
    np.testing.assert_allclose(result[1], 1 - SUMS[1])
    np.testing.assert_allclose(result[3], 1 - SUMS[3])


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("name", NAMES)
def test_own_sparse_step_may_call_ours(name, resource, tf):
    class Clipped(getattr(tf.train, name + "Optimizer")):
        """Clips the sum of a row's gradients: the result tells whether equal indices were summed before."""

        def _apply_sparse(self, grad, var):
            return super()._apply_sparse(tf.IndexedSlices(tf.clip_by_value(grad.values, 0, 5), grad.indices), var)

        def _resource_apply_sparse(self, grad, var, indices):
            return super()._resource_apply_sparse(tf.clip_by_value(grad, 0, 5), var, indices)

    got = step(tf, Clipped(**arguments(name)), resource)
    with tf.Graph().as_default():
        table = tf.get_variable("table", initializer=tf.ones([5, 2]), use_resource=resource)
        clipped = np.stack([SUMS[1], SUMS[3]]).clip(0, 5)
        optimizer = getattr(tf.train, name + "Optimizer")(**arguments(name))
        train = optimizer.apply_gradients([(tf.IndexedSlices(tf.constant(clipped), tf.constant([1, 3])), table)])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train)
            np.testing.assert_allclose(got, session.run(table), rtol=1e-6)


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_mixin_in_front_counts_as_overriding(resource, tf):
    class CountsRows:
        rows = None

        def _apply_sparse(self, grad, var):
            self.rows = tf.size(grad.indices)
            return super()._apply_sparse(grad, var)

        def _resource_apply_sparse(self, grad, var, indices):
            self.rows = tf.size(indices)
            return super()._resource_apply_sparse(grad, var, indices)

    class Mine(CountsRows, tf.train.AdagradOptimizer):
        pass

    optimizer = Mine(0.1)
    step(tf, optimizer, resource)
    with tf.Session() as session:
        assert session.run(optimizer.rows) == 2


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_method_replaced_on_the_instance_counts_as_overriding(resource, tf):
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    seen = []
    optimizer._apply_sparse = lambda grad, var: seen.append(grad.indices) or tf.no_op()
    optimizer._resource_apply_sparse = lambda grad, var, indices: seen.append(indices) or tf.no_op()
    step(tf, optimizer, resource)
    assert seen[0].op.type == "Unique"


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_own_formula_of_adam_is_used(resource, tf):
    class Mine(tf.train.AdamOptimizer):
        def _apply_sparse_shared(self, grad, var, indices, scatter_add):
            assert indices.op.type == "Unique"
            return var.scatter_sub(tf.IndexedSlices(grad, indices))

    for lazy in (False, True):
        with tf.Graph().as_default():
            result = step(tf, Mine(0.1, lazy=lazy), resource)
            np.testing.assert_allclose(result[1], 1 - SUMS[1])


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_plain_subclass_keeps_the_one_op(resource, tf):
    class Named(tf.train.AdamOptimizer):
        pass

    step(tf, Named(0.1), resource)
    types = [node.type for node in tf.get_default_graph().get_operations()]
    assert "Resource" * resource + "SparseApplyAdam" in types and "Unique" not in types


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_own_handling_of_duplicates_goes_first(resource, tf):
    class Mine(tf.train.AdagradOptimizer):
        def _apply_sparse_duplicate_indices(self, grad, var):
            return var.scatter_sub(grad)

        def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
            return handle.scatter_sub(tf.IndexedSlices(grad, indices))

    np.testing.assert_allclose(step(tf, Mine(0.1), resource)[1], 1 - SUMS[1])
