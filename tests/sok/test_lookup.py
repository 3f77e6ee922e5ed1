import modes
import numpy as np
import pytest
import tensorflow as tf
from batches import Batch, densified
from tensorflow.python.eager import context

_ROWS, _DIM = 40, 6


def _table(random):
    return random.standard_normal([_ROWS, _DIM]).astype(np.float32)


def _make(sok, kind, table):
    if kind == "static":
        return sok.Variable(table)
    variable = sok.DynamicVariable(_DIM, initializer="0", var_type=kind)
    return variable


def _filled(variable, table):
    """Puts the table's rows into a dynamic variable; in a graph, the op that does."""
    return [] if not hasattr(variable, "insert") else variable.insert(np.arange(_ROWS), table)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("combiner", ["sum", "mean"])
@pytest.mark.parametrize("kind", ["static", "hbm", "hybrid"])
@pytest.mark.parametrize("mode", modes.MODES)
def test_lookup_and_its_gradient_are_those_of_the_definition(sok, mode, kind, combiner, weighted):
    random = np.random.default_rng(3)
    table, batch = _table(random), Batch.random(random, 12, _ROWS, 4)
    upstream = random.standard_normal([12, _DIM])

    def step(variable):
        def loss():
            with tf.control_dependencies([_filled(variable, table)] if mode == "session" and kind != "static" else []):
                ids = batch.ids()
                ids = tf.SparseTensor(ids.indices, tf.identity(ids.values), ids.dense_shape)
            weights = batch.sparse_weights() if weighted else None
            combined = sok.lookup_sparse(variable, ids, sp_weights=weights, combiners=combiner)
            seen.append(combined)
            return tf.reduce_sum(combined * tf.constant(upstream, tf.float32))

        seen = []
        (gradient,) = modes.dense_gradients(loss, [variable])
        return seen[0], gradient.indices, gradient.values

    def setup():
        variable = _make(sok, kind, table)
        if mode != "session" and kind != "static":
            _filled(variable, table)
        return variable

    (combined, keys, values), _ = modes.run(mode, setup, step)
    np.testing.assert_allclose(combined, batch.combine(table, combiner, weighted), rtol=1e-5, atol=1e-6)
    expected = batch.gradient(upstream, _ROWS, combiner, weighted)
    np.testing.assert_allclose(densified(keys, values, _ROWS), expected, rtol=1e-5, atol=1e-6)


@pytest.fixture
def eager():
    with context.eager_mode():
        yield


@pytest.fixture
def table(sok, eager):
    return sok.Variable(np.arange(51).reshape(17, 3), dtype=tf.float32)


_IDS = Batch([[1, 1], [3, 4, 5]])
_SUMS = [[6, 8, 10], [36, 39, 42]]


@pytest.mark.parametrize(
    "arguments, keywords",
    [
        (([3], ["sum"]), {}),
        ((["sum"],), {}),
        ((None, ["sum"]), {}),
        ((None, ["sum"], False), {}),
        ((), {"hotness": [3], "combiners": ["sum"]}),
        ((), {"combiners": "sum"}),
        ((3, "sum"), {}),
        ((np.int64(3), "sum"), {}),
        ((), {"hotness": [np.int32(3)], "combiners": "sum"}),
    ],
)
def test_every_historic_signature_is_understood(sok, table, arguments, keywords):
    (combined,) = sok.lookup_sparse([table], [_IDS.ids()], *arguments, **keywords)
    np.testing.assert_array_equal(combined, _SUMS)


def test_one_tensor_of_ids_gives_one_result(sok, table):
    np.testing.assert_array_equal(sok.lookup_sparse(table, _IDS.ids(), combiners="sum"), _SUMS)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_ragged_keys_of_both_widths_are_those_of_sparse_ones(sok, table, dtype):
    np.testing.assert_array_equal(sok.lookup_sparse(table, _IDS.ragged(dtype), combiners="sum"), _SUMS)
    np.testing.assert_array_equal(sok.lookup_sparse(table, _IDS.ids(dtype), combiners="sum"), _SUMS)


def test_mean_is_the_default(sok, table):
    np.testing.assert_array_equal(sok.lookup_sparse(table, _IDS.ids()), [[3, 4, 5], [12, 13, 14]])


def test_rows_without_keys_are_zero_also_at_the_end(sok, table):
    batch = Batch([[], [2], [], []])
    np.testing.assert_array_equal(sok.lookup_sparse(table, batch.ids()), [[0] * 3, [6, 7, 8], [0] * 3, [0] * 3])


def test_tables_of_several_kinds_are_looked_up_in_one_call(sok, table):
    dynamic = sok.DynamicVariable(2, initializer="ones", key_type=tf.int32)
    first, second = sok.lookup_sparse([table, dynamic], [_IDS.ids(), _IDS.ids(np.int32)], combiners=["sum", "sum"])
    np.testing.assert_array_equal(first, _SUMS)
    np.testing.assert_array_equal(second, [[2, 2], [3, 3]])


def test_a_tape_outside_of_a_function_gets_the_gradient(sok, table):
    looked_up = tf.function(lambda ids: sok.lookup_sparse(table, ids, combiners="sum"))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(looked_up(_IDS.ids()))
    gradient = tape.gradient(loss, table)
    np.testing.assert_array_equal(
        densified(gradient.indices.numpy(), gradient.values.numpy(), 17)[:6, 0], [0, 2, 0, 1, 1, 1]
    )


def test_all2all_dense_embedding_reads_rows_and_sums_gradients(sok, table):
    with tf.GradientTape() as tape:
        rows = sok.all2all_dense_embedding(table, tf.constant([5, 0, 5]))
        loss = tf.reduce_sum(rows)
    np.testing.assert_array_equal(rows, [[15, 16, 17], [0, 1, 2], [15, 16, 17]])
    gradient = tape.gradient(loss, table)
    np.testing.assert_array_equal(densified(gradient.indices.numpy(), gradient.values.numpy(), 17)[[0, 5], 0], [1, 2])
    assert sok.all2all_dense_embedding(table, tf.constant([], tf.int64)).shape == (0, 3)


@pytest.mark.parametrize(
    "ids, keywords, error, text",
    [
        (lambda: Batch([[17]]).ids(), {}, tf.errors.InvalidArgumentError, r"must be in \[0, 17\)"),
        (lambda: Batch([[-1]]).ids(), {}, tf.errors.InvalidArgumentError, r"must be in \[0, 17\)"),
        (_IDS.ids, {"hotness": 2}, tf.errors.InvalidArgumentError, "hotness, 2"),
        (_IDS.ids, {"combiners": "max"}, ValueError, "combiners must be of sum, mean, got 'max'"),
        (_IDS.ids, {"combiners": ["sum", "sum"]}, ValueError, "combiners must be a list of 1"),
        (lambda: tf.SparseTensor([[0, 0]], [1.0], [1, 1]), {}, TypeError, "int32 or int64, got float32"),
        (lambda: np.array([[1]]), {}, TypeError, "sp_ids must be SparseTensors or RaggedTensors"),
        (_IDS.ids, {"sp_weights": Batch([[1]])}, tf.errors.InvalidArgumentError, "one weight for each"),
        (_IDS.ids, {"sp_weights": Batch([[1, 1, 1], [1, 1]])}, tf.errors.InvalidArgumentError, "at the same indices"),
    ],
)
def test_what_does_not_fit_is_named(sok, table, ids, keywords, error, text):
    if "sp_weights" in keywords:
        keywords = {"sp_weights": keywords["sp_weights"].sparse_weights()}
    with pytest.raises(error, match=text):
        sok.lookup_sparse(table, ids(), **keywords)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_integers_are_not_combined(sok, weighted):
    with context.eager_mode():
        table = sok.Variable([[1], [2]], dtype=tf.int32, name="integers")
        batch = Batch([[0, 1]])
        with pytest.raises(TypeError, match="got integers:0 of int32"):
            sok.lookup_sparse(table, batch.ids(), sp_weights=batch.sparse_weights() if weighted else None)


@pytest.mark.parametrize(
    "indices, weighted",
    [
        ([[1, 0], [0, 0]], False),
        ([[0, 0], [2, 0]], False),
        ([[0, 0], [2, 0]], True),
        ([[-1, 0], [0, 0]], False),
        ([[-1, 0], [0, 0]], True),
    ],
)
@pytest.mark.parametrize("kind", ["static", "hbm"])
@pytest.mark.parametrize("mode", modes.MODES)
def test_ids_in_another_order_or_outside_of_the_rows_are_an_error_that_names_the_table(
    sok, mode, kind, indices, weighted
):
    def setup():
        if kind == "hbm":
            return [sok.DynamicVariable(2, name=name) for name in ("users/of", "items/of")]
        return [sok.Variable(np.ones([6, 2]), dtype=tf.float32, name=name) for name in ("users/of", "items/of")]

    def step(tables):
        # Not known while a graph is built.
        ids = tf.SparseTensor(tf.identity(tf.constant(indices, tf.int64)), tf.constant([1, 2], tf.int64), [2, 1])
        weights = [_IDS.sparse_weights(), ids.with_values([1.0, 1.0])] if weighted else None
        return sok.lookup_sparse(tables, [_IDS.ids(), ids], sp_weights=weights, combiners="sum")

    with pytest.raises(tf.errors.InvalidArgumentError, match="items/of"):
        modes.run(mode, setup, step)


@pytest.mark.parametrize("mode", modes.MODES)
def test_weights_at_other_indices_than_the_ids_are_refused(sok, mode):
    def step(table):
        weights = Batch([[1, 1, 1], [1, 1]]).sparse_weights()
        return sok.lookup_sparse(table, _IDS.ids(), sp_weights=weights)

    with pytest.raises(tf.errors.InvalidArgumentError, match="sp_weights of users:0 must have .* at the same indices"):
        modes.run(mode, lambda: sok.Variable(np.ones([6, 2]), name="users"), step)


def test_positional_arguments_of_another_kind_are_refused(sok, table):
    with pytest.raises(TypeError, match="got 2.5"):
        sok.lookup_sparse(table, _IDS.ids(), 2.5)


def test_other_variables_are_refused(sok, eager):
    with pytest.raises(TypeError, match="params must be sok.Variable"):
        sok.lookup_sparse(
            tf.Variable([[1.0]], use_resource=True) if hasattr(tf, "Session") else tf.Variable([[1.0]]), _IDS.ids()
        )


def test_the_filter_lets_new_keys_in_by_its_ratio_and_known_ones_always(sok, eager):
    table = sok.DynamicVariable(1, initializer="1", var_type="hybrid", filter_ratio=0.25)
    table.insert([0, 1], [[5.0], [5.0]])
    ids = Batch([[key] for key in range(2002)]).ids()
    with tf.GradientTape() as tape:
        rows = sok.lookup_sparse(table, ids, combiners="sum", use_low_frequency_filter=True)
        loss = tf.reduce_sum(rows)
    seen = rows.numpy()[:, 0]
    assert seen[:2].tolist() == [5, 5] and set(seen[2:]) == {0.0, 1.0}
    # 2000 draws: five deviations are 97.
    assert 400 < (seen[2:] == 1).sum() < 600
    assert table.size.numpy()[0] == 2 + (seen[2:] == 1).sum()
    assert len(tape.gradient(loss, table).indices) == table.size.numpy()[0]


@pytest.mark.parametrize("mode", modes.MODES)
def test_means_over_weights_that_cancel_are_zero_and_train_nothing(sok, mode):
    batch = Batch([[1, 2], [3]], [np.array([2, -2], np.float32), np.array([-4], np.float32)])

    def step(table):
        def loss():
            seen.append(sok.lookup_sparse(table, batch.ids(), sp_weights=batch.sparse_weights(), combiners="mean"))
            return tf.reduce_sum(seen[0])

        seen = []
        (gradient,) = modes.dense_gradients(loss, [table])
        return seen[0], gradient.indices, gradient.values

    (rows, keys, values), _ = modes.run(mode, lambda: sok.Variable(np.arange(8.0)[:, None]), step)
    np.testing.assert_array_equal(rows, [[0], [3]])
    np.testing.assert_array_equal(densified(keys, values, 8)[:, 0], [0, 0, 0, 1, 0, 0, 0, 0])
