import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def test_dist_select_groups_in_order_and_reorder_undoes_it(sok):
    keys = np.random.default_rng(1).integers(-50, 50, 40)
    output, order, splits = sok.raw_ops.dist_select(tf.constant(keys), num_splits=3)
    expected = np.concatenate([np.flatnonzero(keys % 3 == r) for r in range(3)])
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(output, keys[expected])
    np.testing.assert_array_equal(splits, np.bincount(keys % 3, minlength=3))
    rows = tf.constant(keys[expected][:, None])
    np.testing.assert_array_equal(sok.raw_ops.reorder(rows, order), keys[:, None])
    with pytest.raises(ValueError, match="got 0"):
        sok.raw_ops.dist_select(tf.constant(keys), num_splits=0)


def test_gather_ex_gathers(sok):
    np.testing.assert_array_equal(sok.raw_ops.gather_ex(tf.constant([[1.0], [2.0]]), [1, 1, 0]), [[2], [2], [1]])


def test_group_lookup_reads_each_table(sok):
    tables = [sok.Variable(np.arange(4.0)[:, None]), sok.DynamicVariable(2, initializer="3")]
    first, second = sok.raw_ops.group_lookup(tables, [tf.constant([2, 0]), tf.constant([7], tf.int64)])
    np.testing.assert_array_equal(first, [[2], [0]])
    np.testing.assert_array_equal(second, [[3, 3]])


def test_hotness_is_the_largest_row_length_of_a_lookup(sok):
    lengths = [[[1, 5], [2, 2]], [[0, 3], [7, 1]]]  # by rank, lookup and sample
    hotness = sok.raw_ops.hotness_calculate(tf.reshape(tf.constant(lengths), [-1]), num_gpus=2, num_lookups=2)
    assert hotness.numpy().tolist() == [5, 7]


def test_dummy_var_ops_are_those_of_the_table(sok):
    table, ops = sok.DynamicVariable(1, initializer="1", var_type="hybrid"), sok.raw_ops
    keys = tf.constant([3, 4], tf.int64)
    np.testing.assert_array_equal(ops.dummy_var_sparse_read(table, keys), [[1], [1]])
    assert ops.dummy_var_shape(table).numpy().tolist() == [2, 1]
    ops.dummy_var_scatter_add(table, keys, [[1.0], [2.0]])
    ops.dummy_var_scatter_update(table, keys[:1], [[9.0]])
    ops.dummy_var_assign(table, tf.constant([5], tf.int64), [[6.0]])
    exported = ops.dummy_var_export(table)
    assert exported[0].numpy().tolist() == [3, 4, 5] and exported[1].numpy()[:, 0].tolist() == [9, 3, 6]
    assert len(ops.dummy_var_export_if(table, 2**62)[0]) == 0 and len(ops.dummy_var_export_if(table, 0)[0]) == 3
    rows, evicted, _ = ops.dummy_var_sparse_read_evict(table, keys)
    assert rows.shape == (2, 1) and len(evicted) == 0
