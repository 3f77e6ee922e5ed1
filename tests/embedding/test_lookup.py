"""Lookups in EmbeddingVariables against NumPy, and against the same lookups in ordinary variables."""

import numpy as np
import pytest

ROWS = 50
DIM = 4


@pytest.fixture
def tf():
    """TensorFlow with an empty default graph."""
    import tensorflow

    with tensorflow.Graph().as_default():
        yield tensorflow


@pytest.fixture
def pool():
    """The rows: key k has row k mod ROWS."""
    return np.random.RandomState(1).randn(ROWS, DIM).astype(np.float32)


def make(tf, pool, kind="one", dtype="int64", **kwargs):
    """A table of one or three parts, as a variable or as a list."""
    initial = tf.EmbeddingVariableOption(
        init_option=tf.InitializerOption(initializer=tf.constant(pool)), **kwargs.pop("options", {})
    )
    partitioner = None if kind == "one" else tf.fixed_size_partitioner(3)
    found = tf.get_embedding_variable(
        kwargs.pop("name", "v"), pool.shape[1], key_dtype=dtype, ev_option=initial, partitioner=partitioner, **kwargs
    )
    return list(found) if kind == "list" else found


def parts_of(table):
    return [table] if hasattr(table, "total_count") else list(table)


def random_batch(seed, rows=7, columns=5, low=0, high=ROWS, weights=True):
    """Indices, values, weights and shape of a SparseTensor; some rows are empty, the last too."""
    random = np.random.RandomState(seed)
    present = random.rand(rows, columns) < 0.5
    present[[2, rows - 1]] = False
    present[0, 0] = True
    indices = np.argwhere(present)
    values = random.randint(low, high, size=len(indices))
    weights = random.uniform(0.2, 2.0, size=len(indices)).astype(np.float32) if weights else None
    return indices, values, weights, (rows, columns)


def sparse(tf, batch, dtype="int64"):
    indices, values, weights, shape = batch
    ids = tf.SparseTensor(indices, tf.constant(values, dtype), shape)
    return ids, None if weights is None else tf.SparseTensor(indices, tf.constant(weights), shape)


def clipped(rows, max_norm):
    if max_norm is None:
        return rows
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows * np.minimum(1.0, max_norm / norms)


def combined(pool, batch, combiner, max_norm=None, num_rows=None):
    """The definition, entry by entry."""
    indices, values, weights, shape = batch
    rows = clipped(pool[np.asarray(values) % ROWS].astype(np.float64), max_norm)
    weights = np.ones(len(rows)) if weights is None else weights.astype(np.float64)
    width = pool.shape[1]
    result = np.zeros([shape[0], shape[1] * width if combiner == "tile" else width])
    for row in range(shape[0]):
        of_row = [i for i in range(len(rows)) if indices[i][0] == row]
        if combiner == "tile":
            for i in of_row:
                column = indices[i][1]
                result[row, column * width : (column + 1) * width] = weights[i] * rows[i]
        elif of_row:
            total = sum(weights[i] * rows[i] for i in of_row)
            by = {"sum": 1, "mean": weights[of_row].sum(), "sqrtn": np.sqrt((weights[of_row] ** 2).sum())}[combiner]
            result[row] = total / by
    last = max((i[0] for i in indices), default=-1) + 1
    return result if combiner == "tile" or num_rows is not None else result[:last]


def run(tf, fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


# Plain lookups.


@pytest.mark.parametrize("kind", ["one", "parts", "list"])
@pytest.mark.parametrize("dtype", ["int64", "int32"])
@pytest.mark.parametrize("max_norm", [None, 1.0])
def test_lookup_of_ids_of_any_rank(tf, pool, kind, dtype, max_norm):
    table = make(tf, pool, kind, dtype)
    for shape in ([], [6], [3, 2], [2, 1, 3], [0], [2, 0]):
        values = np.random.RandomState(3).randint(-(10**6), 10**6, size=shape)
        rows = tf.nn.embedding_lookup(table, tf.constant(values, dtype), max_norm=max_norm)
        assert rows.shape.as_list() == [*shape, DIM]
        np.testing.assert_allclose(run(tf, rows), clipped(pool[values % ROWS], max_norm), rtol=1e-6)


def test_ids_of_unknown_shape(tf, pool):
    table = make(tf, pool, "parts")
    ids = tf.placeholder_with_default(np.array([[1, 2], [3, 1]], np.int64), None)
    np.testing.assert_array_equal(run(tf, tf.nn.embedding_lookup(table, ids)), pool[[[1, 2], [3, 1]]])


def test_python_numbers_are_keys(tf, pool):
    np.testing.assert_array_equal(run(tf, tf.nn.embedding_lookup(make(tf, pool), [4, 7])), pool[[4, 7]])


def test_ragged_ids(tf, pool):
    table = make(tf, pool)
    rows = tf.nn.embedding_lookup(table, tf.ragged.constant([[1, 2], [], [3]], dtype=tf.int64))
    values, splits = run(tf, [rows.flat_values, rows.row_splits])
    np.testing.assert_array_equal(values, pool[[1, 2, 3]])
    assert splits.tolist() == [0, 2, 2, 3]
    ids = tf.ragged.constant([[1, 2], [], [3]], dtype=tf.int64)
    total = tf.nn.safe_embedding_lookup_sparse(table, ids, combiner="sum")
    np.testing.assert_allclose(run(tf, total), [pool[1] + pool[2], np.zeros(DIM), pool[3]], rtol=1e-6)


@pytest.mark.parametrize("kind", ["one", "parts"])
def test_training_by_plain_lookups_is_that_of_an_ordinary_variable(tf, pool, kind):
    table = make(tf, pool, kind)
    ordinary = tf.get_variable("o", initializer=tf.constant(pool))
    values = np.random.RandomState(2).randint(0, ROWS, size=[6, 5])
    factors = np.random.RandomState(3).randn(6, 5, DIM).astype(np.float32)
    losses = [tf.reduce_sum(tf.nn.embedding_lookup(v, tf.constant(values)) * factors) for v in (table, ordinary)]
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.add_n(losses))
    rows = [tf.nn.embedding_lookup(v, tf.range(ROWS, dtype=tf.int64)) for v in (table, ordinary)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        ours, expected = session.run(rows)
        counts = sum(session.run(part.total_count())[0] for part in parts_of(table))
    np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)
    assert counts == len(np.unique(values))


@pytest.mark.parametrize("kind", ["one", "parts"])
def test_start_rows_are_taken_by_new_keys_only(tf, pool, kind):
    table = make(tf, pool, kind)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(
        tf.reduce_sum(tf.nn.embedding_lookup(table, tf.constant([3], tf.int64)))
    )
    start = np.arange(2 * DIM, dtype=np.float32).reshape(2, DIM)
    with_start = tf.nn.embedding_lookup(table, tf.constant([3, 1003], tf.int64), ev_init_value=start)
    plain = tf.nn.embedding_lookup(table, tf.constant([3, 1003], tf.int64))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        expected = [pool[3] - 0.5, start[1]]
        np.testing.assert_allclose(session.run(with_start), expected, rtol=1e-6)
        # Inserted by that lookup.
        np.testing.assert_allclose(session.run(plain), expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["one", "parts"])
def test_counts_are_handed_on(tf, pool, kind):
    table = make(tf, pool, kind, options={"filter_option": tf.CounterFilter(5)})
    keys = tf.constant([1, 2, 3], tf.int64)
    rows = tf.nn.embedding_lookup(table, keys, counts=tf.constant([4, 5, 1]))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(rows))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        found = sum(session.run(part.get_frequency(keys)) for part in parts_of(table))
        exported = np.concatenate([session.run(part.export()[0]) for part in parts_of(table)])
    assert found.tolist() == [4, 5, 1] and exported.tolist() == [2]


@pytest.mark.parametrize("parts", [2, 7])
def test_the_tier_of_keys_in_parts(tf, pool, parts):
    from tensorflow.python.ops import kv_variable_ops

    table = tf.get_embedding_variable("v", DIM, partitioner=tf.fixed_size_partitioner(parts))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(
        tf.reduce_sum(tf.nn.embedding_lookup(table, tf.constant([5, -8], tf.int64)))
    )
    tiers = kv_variable_ops.lookup_tier(table, tf.constant([[5, 6], [-8, 8]], tf.int64))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(tiers).tolist() == [[0, -1], [0, -1]]


# Sparse lookups.


@pytest.mark.parametrize("kind", ["one", "parts", "list"])
@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn", "tile"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_norm", [None, 1.5])
def test_sparse_lookups_by_definition(tf, pool, kind, combiner, weighted, max_norm):
    table = make(tf, pool, kind)
    batch = random_batch(5, weights=weighted)
    ids, weights = sparse(tf, batch)
    result = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner=combiner, max_norm=max_norm)
    safe = tf.nn.safe_embedding_lookup_sparse(table, ids, weights, combiner=combiner, max_norm=max_norm)
    expected = combined(pool, batch, combiner, max_norm)
    whole = combined(pool, batch, combiner, max_norm, num_rows=7)
    assert safe.shape.as_list() == list(whole.shape)
    ours, ours_safe = run(tf, [result, safe])
    np.testing.assert_allclose(ours, expected, rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(ours_safe, whole, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("safe", [False, True])
@pytest.mark.parametrize("kind", ["one", "parts"])
def test_training_by_sparse_lookups_is_that_of_an_ordinary_variable(tf, pool, combiner, weighted, safe, kind):
    table = make(tf, pool, kind)
    ordinary = tf.get_variable("o", initializer=tf.constant(pool))
    ids, weights = sparse(tf, random_batch(6, weights=weighted))
    lookup = tf.nn.safe_embedding_lookup_sparse if safe else tf.nn.embedding_lookup_sparse
    results = [lookup(v, ids, weights, combiner=combiner) for v in (table, ordinary)]
    factors = tf.constant(np.random.RandomState(7).randn(7, DIM).astype(np.float32))
    losses = [tf.reduce_sum(r * factors[: tf.shape(r)[0]]) for r in results]
    train = tf.train.AdagradOptimizer(0.3).minimize(tf.add_n(losses))
    rows = [tf.nn.embedding_lookup(v, tf.range(ROWS, dtype=tf.int64)) for v in (table, ordinary)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(*session.run(results), rtol=1e-5, atol=1e-6)
        for _ in range(3):
            session.run(train)
        np.testing.assert_allclose(*session.run(rows), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("ordinary", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_tile_trains_each_block(tf, pool, ordinary, weighted):
    table = tf.get_variable("o", initializer=tf.constant(pool)) if ordinary else make(tf, pool)
    batch = random_batch(8, weights=weighted)
    ids, weights = sparse(tf, batch)
    factors = np.random.RandomState(9).randn(7, 5 * DIM).astype(np.float32)
    result = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner="tile")
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(result * factors))
    rows = tf.nn.embedding_lookup(table, tf.range(ROWS, dtype=tf.int64))
    expected = pool.astype(np.float64)
    for i, (row, column) in enumerate(batch[0]):
        weight = 1.0 if batch[2] is None else batch[2][i]
        expected[batch[1][i]] -= weight * factors[row, column * DIM : (column + 1) * DIM]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(result), combined(pool, batch, "tile"), rtol=1e-5)
        session.run(train)
        np.testing.assert_allclose(session.run(rows), expected, rtol=1e-4, atol=1e-5)


def test_tile_of_ordinary_variables_in_parts(tf, pool):
    table = tf.get_variable(
        "o",
        initializer=lambda *a, **k: tf.constant(pool[: a[0][0]] * 0 + 1),
        shape=[ROWS, DIM],
        partitioner=tf.fixed_size_partitioner(2),
    )
    batch = random_batch(4, weights=False)
    result = tf.nn.safe_embedding_lookup_sparse(table, sparse(tf, batch)[0], combiner="tile")
    np.testing.assert_allclose(run(tf, result), combined(np.ones_like(pool), batch, "tile"))


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn", "tile"])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_empty_batch(tf, pool, combiner, weighted):
    table = make(tf, pool, "parts")
    empty = (np.zeros([0, 2], np.int64), np.zeros([0], np.int64), np.zeros([0], np.float32) if weighted else None)
    ids, weights = sparse(tf, (*empty, (3, 2)))
    width = 2 * DIM if combiner == "tile" else DIM
    rows = 3 if combiner == "tile" else 0
    result = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner=combiner)
    safe = tf.nn.safe_embedding_lookup_sparse(table, ids, weights, combiner=combiner)
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(result) + tf.reduce_sum(safe))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, found_safe, _ = session.run([result, safe, train])
        assert found.shape == (rows, width) and found_safe.tolist() == np.zeros([3, width]).tolist()
        assert sum(session.run(part.total_count())[0] for part in table) == 0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_value_dtypes(tf, pool, dtype):
    dtype = tf.as_dtype(dtype)
    exact = (np.round(pool * 4) / 4).astype(np.float32)
    table = tf.get_embedding_variable("v", DIM, value_dtype=dtype, initializer=tf.cast(tf.constant(exact), dtype))
    batch = random_batch(5, rows=3, columns=200, weights=False)
    for combiner in ("sum", "mean", "sqrtn"):
        result = tf.nn.safe_embedding_lookup_sparse(table, sparse(tf, batch)[0], combiner=combiner)
        assert result.dtype == dtype
        expected = combined(exact, batch, combiner, num_rows=3)
        # Added up in float32, so off by one rounding of the result.
        tolerance = {"float16": 1e-3, "bfloat16": 8e-3, "float64": 1e-12}[dtype.name]
        np.testing.assert_allclose(run(tf, tf.cast(result, tf.float64)), expected, rtol=tolerance, atol=tolerance / 4)


def test_no_combiner_is_mean(tf, pool):
    batch = random_batch(5, weights=False)
    result = tf.nn.embedding_lookup_sparse(make(tf, pool), sparse(tf, batch)[0], None)
    np.testing.assert_allclose(run(tf, result), combined(pool, batch, "mean"), rtol=1e-5, atol=1e-6)


def test_sparse_lookups_count_occurrences(tf, pool):
    table = make(tf, pool, options={"filter_option": tf.CounterFilter(3)})
    ids = tf.SparseTensor(
        [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0]], tf.constant([1, 1, 1, 2, 2, 3], tf.int64), [3, 3]
    )
    result = tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sum")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(result))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(table.get_frequency([1, 2, 3])).tolist() == [3, 2, 1]
        assert session.run(table.export()[0]).tolist() == [1]


# The safe form.


@pytest.mark.parametrize("combiner", ["sum", "mean"])
def test_safe_lookups_leave_out_negative_ids_and_weights(tf, pool, combiner):
    ids = tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0]], tf.constant([1, -2, 3, 4, -1], tf.int64), [4, 3])
    weights = tf.SparseTensor(ids.indices, tf.constant([1.0, 1.0, -0.5, 0.0, 1.0]), ids.dense_shape)
    result = run(tf, tf.nn.safe_embedding_lookup_sparse(make(tf, pool), ids, weights, combiner=combiner))
    first = pool[1] - 0.5 * pool[3] if combiner == "sum" else pool[1]
    np.testing.assert_allclose(result, [first, np.zeros(DIM), np.zeros(DIM), np.zeros(DIM)], rtol=1e-5, atol=1e-6)


def test_without_pruning_negative_keys_are_keys(tf, pool):
    ids = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([1, -2], tf.int64), [2, 2])
    result = run(tf, tf.nn.safe_embedding_lookup_sparse(make(tf, pool), ids, combiner="sum", prune=False))
    np.testing.assert_allclose(result, [pool[1] + pool[-2 % ROWS], np.zeros(DIM)], rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("default_id", [0, 9])
def test_empty_rows_read_the_default_id(tf, pool, weighted, default_id):
    batch = random_batch(5, weights=weighted)
    ids, weights = sparse(tf, batch)
    result = tf.nn.safe_embedding_lookup_sparse(make(tf, pool), ids, weights, combiner="mean", default_id=default_id)
    expected = combined(pool, batch, "mean", num_rows=7)
    expected[[2, 6]] = pool[default_id]
    for row in range(7):
        if not (batch[0][:, 0] == row).any():
            expected[row] = pool[default_id]
    np.testing.assert_allclose(run(tf, result), expected, rtol=1e-5, atol=1e-6)


def test_empty_rows_train_and_count_nothing(tf, pool):
    table = make(tf, pool, options={"filter_option": tf.CounterFilter(1)})
    ids = tf.SparseTensor([[1, 0]], tf.constant([5], tf.int64), [3, 1])
    result = tf.nn.safe_embedding_lookup_sparse(table, ids, combiner="sum")
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(result))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(table.export()[0]).tolist() == [5]
        assert session.run(table.get_frequency([0, 5])).tolist() == [0, 1]


@pytest.mark.parametrize("combiner", ["sum", "tile"])
@pytest.mark.parametrize("known", [True, False])
def test_safe_lookups_keep_leading_dimensions(tf, pool, combiner, known):
    indices = [[0, 0, 1], [0, 2, 0], [1, 1, 0], [1, 1, 1]]
    values = [4, 5, 6, 7]
    shape = np.array([2, 3, 2], np.int64)
    if not known:
        shape = tf.placeholder_with_default(shape, [3])
    ids = tf.SparseTensor(indices, tf.constant(values, tf.int64), shape)
    result = tf.nn.safe_embedding_lookup_sparse(make(tf, pool), ids, combiner=combiner)
    width = DIM if combiner == "sum" else 2 * DIM
    expected = np.zeros([2, 3, width])
    for (a, b, c), value in zip(indices, values):
        offset = 0 if combiner == "sum" else c * DIM
        expected[a, b, offset : offset + DIM] += pool[value]
    if known:
        assert result.shape.as_list() == [2, 3, width]
    np.testing.assert_allclose(run(tf, result), expected, rtol=1e-6)


# Many dimensions.


def by_dimension(pool, indices, values, weights, shape, combiners, weight_axis):
    """The definition of the multi-dimensional lookup, on lists of groups."""
    groups = {tuple(i): (pool[v] * w, w) for i, v, w in zip(indices, values, weights)}
    for axis in range(len(shape) - 1, 0, -1):
        combiner, next_groups = combiners[axis - 1], {}
        for key in {k[:axis] for k in groups}:
            members = [(k[axis], *groups[k]) for k in sorted(groups) if k[:axis] == key]
            rows, ws = [m[1] for m in members], np.array([m[2] for m in members])
            if axis != weight_axis:
                ws_used = np.ones(len(ws))
            else:
                ws_used = ws
            if combiner == "tile":
                row = np.zeros([shape[axis], len(rows[0])])
                for column, member, _ in members:
                    row[column] = member
                row = row.reshape(-1)
            elif combiner in ("max", "min"):
                row = getattr(np, combiner)(rows, axis=0)
            else:
                row = sum(rows) / {"sum": 1, "mean": ws_used.sum(), "sqrtn": np.sqrt((ws_used**2).sum())}[combiner]
            next_groups[key] = (row, ws.mean())
        groups = next_groups
    width = len(next(iter(groups.values()))[0])
    result = np.zeros([shape[0], width])
    for (row,), (value, _) in groups.items():
        result[row] = value
    return result


@pytest.mark.parametrize(
    "combiners",
    [
        ["sum", "sum"],
        ["mean", "sum"],
        ["sqrtn", "mean"],
        ["tile", "mean"],
        ["max", "sum"],
        ["sum", "tile"],
        ["min", "sqrtn"],
        ["mean", "mean", "tile"],
    ],
)
@pytest.mark.parametrize("weight_axis", [None, 1, -1])
@pytest.mark.parametrize("kind", ["parts", "ordinary"])
def test_many_dimensions_are_combined_one_after_another(tf, pool, combiners, weight_axis, kind):
    table = tf.get_variable("o", initializer=tf.constant(pool)) if kind == "ordinary" else make(tf, pool, kind)
    random = np.random.RandomState(4)
    shape = [5, 3, 4, 2][: len(combiners) + 1]
    present = random.rand(*shape) < 0.4
    present[1] = False
    present[4] = False
    present.reshape(-1)[0] = True
    indices = np.argwhere(present)
    values = random.randint(0, ROWS, size=len(indices))
    given = None if weight_axis is None else random.uniform(0.5, 2, size=len(indices)).astype(np.float32)
    ids = tf.SparseTensor(indices, tf.constant(values), shape)
    weights = None if given is None else tf.SparseTensor(indices, tf.constant(given), shape)
    axis = {None: 0, 1: 1, -1: len(combiners)}[weight_axis]
    expected = by_dimension(
        pool, indices, values, np.ones(len(values)) if given is None else given, shape, combiners, axis
    )
    arguments = {"combiners": combiners, "weight_axis": -1 if weight_axis is None else weight_axis}
    result = tf.nn.embedding_lookup_sparse_multi_dim(table, ids, weights, **arguments)
    safe = tf.nn.safe_embedding_lookup_multi_dim(table, ids, weights, **arguments)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(result) + tf.reduce_sum(safe))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        ours, ours_safe = session.run([result, safe])
        last = indices[-1][0] + 1
        np.testing.assert_allclose(ours, expected[:last], rtol=2e-5, atol=1e-6)
        np.testing.assert_allclose(ours_safe, expected, rtol=2e-5, atol=1e-6)
        session.run(train)


def test_dimensions_without_a_combiner_are_kept(tf, pool):
    ids = tf.SparseTensor([[0, 0, 0], [0, 2, 1], [2, 1, 0]], tf.constant([3, 4, 5], tf.int64), [4, 3, 2])
    result = run(tf, tf.nn.safe_embedding_lookup_multi_dim(make(tf, pool), ids, combiners=["sum"]))
    expected = np.zeros([4, 3, DIM])
    expected[0, 0], expected[0, 2], expected[2, 1] = pool[3], pool[4], pool[5]
    np.testing.assert_allclose(result, expected)


# Adaptive.


def test_adaptive_rows_come_from_where_the_mask_says(tf, pool):
    buckets = tf.get_variable("hash", initializer=tf.constant(pool[:10]))
    table = make(tf, pool)
    # Rows 0 and 3 have their own rows, keys 100 and 101, from buckets 4 and 5; row 1 and 2 read buckets 6 and 7.
    ids = tf.SparseTensor([[0, 0], [1, 0], [2, 0], [3, 0]], tf.constant([100, 6, 7, 101], tf.int64), [4, 1])
    arguments = {"adaptive_mask_tensor": tf.constant([1, 0, 0, 1]), "combiner": "sum", "bucket_size": 10}
    result = tf.nn.adaptive_embedding_lookup_sparse(
        buckets, table, ids, tf.constant([4, 5], tf.int64), None, **arguments
    )
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(result))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(result), pool[[4, 6, 7, 5]], rtol=1e-6)
        session.run(train)
        np.testing.assert_allclose(session.run(result), pool[[4, 6, 7, 5]] - 1, rtol=1e-5)
        changed = session.run(buckets) - pool[:10]
        assert sorted(session.run(table.export()[0]).tolist()) == [100, 101]
    # The buckets that own rows started from are not trained by them.
    np.testing.assert_allclose(changed[[6, 7]], -np.ones([2, DIM]), rtol=1e-5)
    np.testing.assert_array_equal(changed[[4, 5]], np.zeros([2, DIM]))


@pytest.mark.parametrize("default_id", [None, 2])
def test_safe_adaptive_lookups_of_rows_without_ids(tf, pool, default_id):
    buckets = tf.get_variable("hash", initializer=tf.constant(pool[:10]))
    table = make(tf, pool, "parts")
    ids = tf.SparseTensor([[0, 0], [1, 0], [3, 0]], tf.constant([100, 6, -5], tf.int64), [5, 1])
    result = tf.nn.safe_adaptive_embedding_lookup_sparse(
        buckets, table, ids, tf.constant([4, 8], tf.int64), default_id=default_id, adaptive_mask_tensor=[1, 0, 0, 1, 0]
    )
    empty = np.zeros(DIM) if default_id is None else pool[default_id]
    np.testing.assert_allclose(run(tf, result), [pool[4], pool[6], empty, empty, empty], rtol=1e-6)


@pytest.mark.parametrize("layout", ["one", "parts"])
def test_ids_of_any_rank_are_trained(tf, pool, layout):
    table = make(tf, pool, layout)
    ids = tf.placeholder(tf.int64)
    rows = tf.nn.embedding_lookup(table, ids)
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(rows))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected = pool.copy()
        for keys in (5, [1, 1], [[1, 2], [1, 3]], np.zeros([0, 4]), np.arange(8).reshape(2, 2, 2)):
            session.run(train, {ids: keys})
            np.subtract.at(expected, np.asarray(keys, np.int64).reshape(-1), 1)
            np.testing.assert_allclose(session.run(rows, {ids: range(8)}), expected[:8], rtol=1e-5)


@pytest.mark.parametrize("mask", [[1, 0], [1, 0, 2], [-1, 0, 0]])
def test_an_adaptive_mask_that_does_not_fit_is_refused_by_name(tf, pool, mask):
    buckets = tf.get_variable("hash", initializer=tf.constant(pool[:10]))
    table = make(tf, pool)
    ids = tf.SparseTensor([[0, 0], [1, 0], [2, 0]], tf.constant([100, 6, 7], tf.int64), [3, 1])
    fed = tf.placeholder(tf.int32, [None])
    for function in (tf.nn.adaptive_embedding_lookup_sparse, tf.nn.safe_adaptive_embedding_lookup_sparse):
        result = function(
            buckets, table, ids, tf.constant([4], tf.int64), None, combiner="sum", adaptive_mask_tensor=fed
        )
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            with pytest.raises(tf.errors.InvalidArgumentError, match="adaptive_mask_tensor"):
                session.run(result, {fed: mask})


# Bad input.


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"partition_strategy": "foo"}, "partition_strategy"),
        ({"counts": [1.0]}, "counts must be integers"),
        ({"counts": [1, 2]}, "counts must be integers of the shape"),
    ],
)
def test_a_bad_argument_of_a_plain_lookup_is_refused_by_name(tf, pool, arguments, message):
    with pytest.raises(ValueError, match=message):
        tf.nn.embedding_lookup(make(tf, pool), tf.constant([3], tf.int64), **arguments)


def test_bad_arguments_are_refused_by_name(tf, pool):
    table, ordinary = make(tf, pool), tf.get_variable("o", [5, DIM])
    other = make(tf, pool[:, :2], name="w")
    ids, weights = sparse(tf, random_batch(1))
    short = tf.SparseTensor(ids.indices[:1], weights.values[:1], ids.dense_shape)
    lookups = {
        "combiner": lambda: tf.nn.embedding_lookup_sparse(table, ids, None, combiner="median"),
        "sp_weights": lambda: tf.nn.embedding_lookup_sparse(table, ids, short, combiner="sum"),
        "blocknums": lambda: tf.nn.embedding_lookup(table, [1], blocknums=[1]),
        "ev_init_value": lambda: tf.nn.embedding_lookup(ordinary, [1], ev_init_value=[[1.0]]),
        "counts": lambda: tf.nn.embedding_lookup(ordinary, [1], counts=[1]),
        "dim": lambda: tf.nn.embedding_lookup([table, other], [1]),
        "all of them": lambda: tf.nn.embedding_lookup([table, ordinary], [1]),
        "int64.*int32": lambda: tf.nn.embedding_lookup(table, tf.constant([1])),
        "combiners": lambda: tf.nn.embedding_lookup_sparse_multi_dim(table, ids, None, combiners=["sum", "sum"]),
        "weight_axis": lambda: tf.nn.embedding_lookup_sparse_multi_dim(
            table, ids, None, combiners=["sum"], weight_axis=2
        ),
        "adaptive_mask_tensor": lambda: tf.nn.adaptive_embedding_lookup_sparse(ordinary, table, ids, [0], None),
        "hash_params": lambda: tf.nn.adaptive_embedding_lookup_sparse(table, table, ids, [0], None),
        "bucket_size": lambda: tf.nn.adaptive_embedding_lookup_sparse(
            ordinary, table, ids, [0], None, bucket_size=9, adaptive_mask_tensor=[0]
        ),
        "embedding_weights": lambda: tf.nn.safe_embedding_lookup_sparse(None, ids, combiner="tile"),
    }
    for message, lookup in lookups.items():
        with pytest.raises(ValueError, match=message):
            lookup()
    for lookup in (
        lambda: tf.nn.embedding_lookup_sparse(table, tf.constant([[1]]), None),
        lambda: tf.nn.safe_embedding_lookup_sparse(table, ids, tf.constant([1.0])),
    ):
        with pytest.raises(TypeError, match="SparseTensor"):
            lookup()


def test_ordinary_variables_go_to_the_released_functions(tf, pool):
    """The same ops in the same order as the released functions make, so that names and op seeds are theirs."""
    from tensorflow.python.ops import embedding_ops

    def built(lookup, sparse_lookup):
        with tf.Graph().as_default() as graph:
            table = tf.get_variable("o", initializer=tf.constant(pool))
            ids, weights = sparse(tf, random_batch(1))
            lookup(table, tf.constant([1, 2]))
            for w in (None, weights):
                sparse_lookup(table, ids, w, combiner="sum")
            return [(op.name, op.type) for op in graph.get_operations()]

    released = (tf.nn.embedding_lookup.__wrapped__, tf.nn.embedding_lookup_sparse.__wrapped__)
    assert released[0] is not embedding_ops.embedding_lookup
    assert built(tf.nn.embedding_lookup, tf.nn.embedding_lookup_sparse) == built(*released)
