import datetime
import time

import numpy as np
import pytest
import tensorflow as tf
from batches import Batch
from tensorflow.python.eager import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def _read(table, keys):
    return table.sparse_read(tf.constant(keys, tf.int64)).numpy()


@pytest.mark.parametrize(
    "var_type, initializer, low, high, mean, deviation",
    [
        ("hbm", None, -0.05, 0.05, 0, 0.1 / 12**0.5),
        ("hbm", "random", -0.05, 0.05, 0, 0.1 / 12**0.5),
        ("hbm", "ones", 1, 1, 1, 0),
        ("hbm", "zeros", 0, 0, 0, 0),
        ("hbm", "-2.5", -2.5, -2.5, -2.5, 0),
        ("hybrid", None, -8, 8, 0, 1),
        ("hybrid", "normal", -8, 8, 0, 1),
        ("hybrid", "uniform", 0, 1, 0.5, 1 / 12**0.5),
        ("hybrid", "3", 3, 3, 3, 0),
    ],
)
def test_new_rows_follow_the_initializer(sok, var_type, initializer, low, high, mean, deviation):
    rows = _read(sok.DynamicVariable(8, initializer=initializer, var_type=var_type), range(2000))
    assert rows.min() >= low and rows.max() <= high
    np.testing.assert_allclose([rows.mean(), rows.std()], [mean, deviation], atol=0.05 * max(deviation, 1e-9))
    if deviation:
        assert len(np.unique(rows[:, 0])) > 1900


def test_rows_are_made_at_first_sight_and_stay(sok):
    table = sok.DynamicVariable(3)
    assert table.size.numpy().tolist() == [0, 3]
    first = _read(table, [5, -7, 5])
    assert table.size.numpy().tolist() == [2, 3]
    np.testing.assert_array_equal(first[0], first[2])
    np.testing.assert_array_equal(_read(table, [-7, 9])[0], first[1])
    assert table.size.numpy().tolist() == [3, 3] and table.shape.as_list() == [None, 3]


def test_the_largest_and_smallest_keys_are_keys(sok):
    table = sok.DynamicVariable(1)
    keys = [2**63 - 1, -(2**63), 0]
    np.testing.assert_array_equal(_read(table, keys), _read(table, keys))
    assert table.size.numpy()[0] == 3


def test_embedding_lookup_takes_int32_ids_and_gives_gradients_by_key(sok):
    table = sok.DynamicVariable(2, initializer="1")
    with tf.GradientTape() as tape:
        rows = tf.nn.embedding_lookup(table, tf.constant([[4, 9], [4, 4]], tf.int32))
        loss = tf.reduce_sum(rows)
    assert rows.shape == (2, 2, 2)
    gradient = tape.gradient(loss, table)
    assert gradient.indices.numpy().tolist() == [4, 9, 4, 4]
    np.testing.assert_array_equal(gradient.values, np.ones([4, 2]))


def test_scatters_go_by_key_and_sum_equal_ones(sok):
    table = sok.DynamicVariable(1, initializer="10")
    table.scatter_sub(tf.IndexedSlices(tf.constant([[1.0], [2.0], [4.0]]), tf.constant([3, 3, 5], tf.int64)))
    table.scatter_add(tf.IndexedSlices(tf.constant([[5.0]]), tf.constant([6], tf.int64)))
    table.scatter_update(tf.IndexedSlices(tf.constant([[8.0]]), tf.constant([7], tf.int64)))
    keys, rows = sok.export(table)
    assert keys.numpy().tolist() == [3, 5, 6, 7] and rows.numpy()[:, 0].tolist() == [7, 6, 15, 8]


def test_a_static_copy_is_written_back(sok):
    table = sok.DynamicVariable(1, initializer="2")
    with pytest.raises(NotImplementedError, match="is not static"):
        table.read_value()
    table.to_static([4, 6])
    assert table.is_static() and table.indices.numpy().tolist() == [4, 6]
    table.assign_add([[1.0], [3.0]])
    table.to_dynamic()
    assert not table.is_static()
    np.testing.assert_array_equal(_read(table, [4, 6]), [[3], [5]])


def test_a_hybrid_table_keeps_the_keys_used_last(sok):
    table = sok.DynamicVariable(1, initializer="uniform", var_type="hybrid", max_capacity=4)
    first = _read(table, [1, 2, 3, 4])
    _read(table, [1, 2])
    rows, keys, values = sok.sparse_read_and_evict(table, tf.constant([5, 1], tf.int64))
    assert len(keys) == 1 and keys.numpy()[0] in (3, 4)
    np.testing.assert_array_equal(values.numpy()[0], first[keys.numpy()[0] - 1])
    np.testing.assert_array_equal(rows[1], first[0])
    _read(table, [6])
    left = sok.export(table)[0].numpy().tolist()
    assert set(left) >= {1, 5, 6} and len(left) == 4
    _read(table, [11, 12, 13, 14])
    assert sok.export(table)[0].numpy().tolist() == [11, 12, 13, 14]


def test_a_batch_over_the_capacity_is_an_error_that_names_it(sok):
    table = sok.DynamicVariable(1, var_type="hybrid", max_capacity=2, name="small")
    with pytest.raises(tf.errors.InvalidArgumentError, match="small:0 keeps max_capacity=2"):
        sok.lookup_sparse(table, Batch([[1, 2, 3]]).ids())
    _read(table, [1, 1, 1, 2])


def test_rows_that_are_set_make_room_in_a_hybrid_table(sok):
    table = sok.DynamicVariable(1, var_type="hybrid", max_capacity=3)
    sok.assign(table, [1, 2, 3], tf.constant([[1.0], [2.0], [3.0]]))
    table.scatter_update(tf.IndexedSlices(tf.constant([[5.0], [6.0]]), tf.constant([5, 6], tf.int64)))
    keys, rows = sok.export(table)
    assert len(keys) == 3 and {5, 6} < set(keys.numpy())
    np.testing.assert_array_equal(rows[:, 0], tf.cast(keys, tf.float32))


def test_more_rows_than_the_capacity_are_not_set(sok):
    table = sok.DynamicVariable(1, var_type="hybrid", max_capacity=3, name="narrow")
    with pytest.raises(tf.errors.InvalidArgumentError, match="narrow:0 keeps max_capacity=3"):
        sok.assign(table, list(range(10)), tf.ones([10, 1]))
    assert int(table.size[0]) == 0


@pytest.mark.parametrize("key", [2**40, -(2**31) - 1, 2**31])
def test_a_key_that_the_key_type_does_not_hold_is_refused(sok, key):
    table = sok.DynamicVariable(2, key_type=tf.int32, name="short_keys")
    for read in (
        lambda: sok.all2all_dense_embedding(table, tf.constant([key], tf.int64)),
        lambda: sok.lookup_sparse(table, Batch([[key]]).ids()),
        lambda: sok.assign(table, tf.constant([key], tf.int64), tf.ones([1, 2])),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="short_keys:0 has keys of int32 only"):
            read()
    assert int(table.size[0]) == 0


def test_rows_of_slots_are_evicted_with_their_keys(sok):
    table = sok.DynamicVariable(1, var_type="hybrid", max_capacity=3)
    optimizer = sok.OptimizerWrapper(tf.compat.v1.keras.optimizers.Adam())
    for keys in ([1, 2, 3], [4, 5, 6]):
        gradient = tf.IndexedSlices(tf.ones([3, 1]), tf.constant(keys, tf.int64))
        _read(table, keys)
        optimizer.apply_gradients([(gradient, table)])
    assert sok.export(optimizer.get_slot(table, "m"))[0].numpy().tolist() == [4, 5, 6]


def test_incremental_dump_gives_rows_used_after_a_moment(sok):
    table = sok.DynamicVariable(1, initializer="1", var_type="hybrid")
    _read(table, [1, 2])
    time.sleep(0.01)
    moment = datetime.datetime.now()
    time.sleep(0.01)
    _read(table, [2])
    sok.assign(table, tf.constant([9], tf.int64), [[4.0]])
    (keys,), (rows,) = sok.incremental_model_dump(table, moment)
    assert keys.tolist() == [2, 9] and rows[:, 0].tolist() == [1, 4]
    (keys,), _ = sok.incremental_model_dump([table], [moment.astimezone(datetime.timezone.utc)])
    assert keys.tolist() == [2, 9]


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda sok, table: sok.incremental_model_dump(table, datetime.datetime.now()), TypeError, '"hybrid"'),
        (lambda sok, table: sok.sparse_read_and_evict(table, [1]), TypeError, '"hybrid"'),
        (lambda sok, table: sok.export(tf.constant(1)), TypeError, "var must be"),
        (lambda sok, table: table.assign([[1.0]]), NotImplementedError, "is not static"),
        (lambda sok, table: table.sparse_read(tf.constant([1.0])), ValueError, "integers, got float32"),
        (lambda sok, table: table.scatter_sub(tf.ones([1, 2])), TypeError, "IndexedSlices"),
        (lambda sok, table: sok.assign(table, [1], [[1.0]]), ValueError, r"\[n, 2\]"),
        (lambda sok, table: sok.DynamicVariable(0), ValueError, "got 0"),
        (lambda sok, table: sok.DynamicVariable(2, name=3), TypeError, "name must be a str, got 3"),
        (
            lambda sok, table: sok.DynamicVariable(2, var_type="hybrid", max_capacity=2.5),
            TypeError,
            "max_capacity must be int, got 2.5",
        ),
        (lambda sok, table: sok.DynamicVariable(2, var_type="disk"), ValueError, "got 'disk'"),
        (lambda sok, table: sok.DynamicVariable(2, "orthogonal"), ValueError, "got 'orthogonal'"),
        (lambda sok, table: sok.DynamicVariable(2, "ones", "hybrid"), ValueError, "got 'ones'"),
        (lambda sok, table: sok.DynamicVariable(2, tf.ones([3])), ValueError, "1 or 2 elements"),
        (lambda sok, table: sok.DynamicVariable(2, key_type=tf.uint32), NotImplementedError, "got uint32"),
        (
            lambda sok, table: sok.DynamicVariable(2, var_type="hybrid", key_type=tf.int32),
            NotImplementedError,
            "got int32",
        ),
        (lambda sok, table: sok.DynamicVariable(2, dtype=tf.int32), ValueError, "got int32"),
        (lambda sok, table: sok.DynamicVariable(2, constraint=abs), NotImplementedError, "constraint"),
        (lambda sok, table: sok.DynamicVariable(2, capacity=1), TypeError, "'capacity'"),
        (lambda sok, table: sok.DynamicVariable(2, max_capacity=1), ValueError, "without a bound"),
        (lambda sok, table: sok.DynamicVariable(2, var_type="hybrid", max_capacity=0), ValueError, "got 0"),
        (lambda sok, table: sok.DynamicVariable(2, var_type="hybrid", filter_ratio=2.0), ValueError, "got 2.0"),
        (
            lambda sok, table: sok.DynamicVariable(2, var_type="hybrid", evict_strategy="kLfu"),
            NotImplementedError,
            "got 'kLfu'",
        ),
    ],
)
def test_what_does_not_fit_is_named(sok, call, error, text):
    with pytest.raises(error, match=text):
        call(sok, sok.DynamicVariable(2))


def test_numbers_of_numpy_are_taken(sok):
    table = sok.DynamicVariable(
        np.int64(3), var_type="hybrid", max_capacity=np.int64(4), filter_ratio=np.float32(1), max_load_factor=1
    )
    assert table.dimension == 3 and table.max_capacity == 4 and table.filter_ratio == 1.0
    _read(table, list(range(4)))
    _read(table, [7, 8])
    assert table.size.numpy()[0] <= 4


def test_config_without_an_effect_here_is_named_in_one_warning(sok, monkeypatch):
    from tensorflow.python.platform import tf_logging

    warnings = []
    monkeypatch.setattr(tf_logging, "warning", lambda text, *values: warnings.append(text % values))
    sok.DynamicVariable(dimension=3, var_type="hybrid", max_capacity=100, filter_ratio=0.5)
    assert not warnings
    sok.DynamicVariable(dimension=3, var_type="hybrid", block_size=1024, init_capacity=10)
    assert warnings == ["DynamicVariable: block_size, init_capacity have no effect: the table is in memory and grows"]
