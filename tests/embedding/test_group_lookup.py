"""Grouped and fused sparse lookups: equal to the composed ones, forward and backward, whatever the tables are made of."""

import numpy as np
import pytest

ROWS, DIM = 23, 5
KINDS = ["ev", "ev parts", "resource", "reference", "resource parts", "reference parts"]


@pytest.fixture
def tf():
    import tensorflow as tf

    with tf.Graph().as_default():
        yield tf


@pytest.fixture
def pool():
    return np.random.RandomState(5).randn(ROWS, DIM).astype(np.float32)


def make(tf, pool, kind, name="v", dtype=None):
    """A table whose row k is pool[k]."""
    initial = tf.constant(pool, dtype or tf.float32)
    partitioner = tf.fixed_size_partitioner(3) if kind.endswith("parts") else None
    if kind.startswith("ev"):
        option = tf.EmbeddingVariableOption(init_option=tf.InitializerOption(initial))
        return tf.get_embedding_variable(
            name, DIM, ev_option=option, partitioner=partitioner, value_dtype=dtype or tf.float32
        )

    def rows(shape, dtype=None, partition_info=None):
        begin = 0 if partition_info is None else partition_info.var_offset[0]
        return tf.cast(initial[begin : begin + shape[0]], dtype)

    return tf.get_variable(
        name,
        pool.shape,
        dtype or tf.float32,
        rows,
        partitioner=partitioner,
        use_resource=kind.startswith("resource"),
    )


def batch(seed, shape=(7, 6), low=0, weights=True, fill=0.4):
    """Feeds of a SparseTensor: some rows are empty, the last too; some keys are below 0 if low is."""
    random = np.random.RandomState(seed)
    present = random.rand(*shape) < fill
    present[[2, -1]] = False
    present[0, 0] = True
    indices = np.argwhere(present)
    n = len(indices)
    return (
        indices.astype(np.int64),
        random.randint(low, ROWS, n).astype(np.int64),
        (random.rand(n) * 2 - (0.5 if low < 0 else 0) + 0.1).astype(np.float32) if weights else None,
        np.array(shape, np.int64),
    )


def sparse(tf, values, dtype=None):
    indices, ids, weights, shape = values
    with_weights = None if weights is None else tf.SparseTensor(indices, tf.constant(weights), shape)
    return tf.SparseTensor(indices, tf.constant(ids, dtype), shape), with_weights


def variables_of(table):
    return list(table) if hasattr(table, "_get_partitions") or isinstance(table, (list, tuple)) else [table]


def dense_gradients(tf, session, gradients, kinds):
    """Each gradient as {row: sum of its gradients}, without rows of zeros."""
    found = []
    for values, indices in session.run([(g.values, g.indices) for g in gradients]):
        rows = {}
        for key, row in zip(indices.tolist(), values.astype(np.float64)):
            rows[key] = rows.get(key, 0) + row
        found.append({key: row for key, row in rows.items() if np.abs(row).max() > 1e-9})
    return found


def check_equal(tf, table, kind, composed, fused, rtol=1e-5):
    direction = tf.constant(np.random.RandomState(1).randn(*[3 + d for d in (90, DIM)])[:1, :DIM], composed.dtype)
    parts = variables_of(table)
    gradients = [tf.gradients(tf.reduce_sum(rows * direction), parts) for rows in (composed, fused)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected, found = session.run([composed, fused])
        np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), rtol=rtol, atol=rtol / 10)
        for of_composed, of_fused in zip(*gradients):
            if of_composed is None or of_fused is None:
                assert of_composed is of_fused
                continue
            (a,) = dense_gradients(tf, session, [of_composed], kind)
            (b,) = dense_gradients(tf, session, [of_fused], kind)
            assert a.keys() == b.keys()
            for key in a:
                np.testing.assert_allclose(b[key], a[key], rtol=rtol * 10, atol=rtol)


def ops_of(tf, kind="GroupEmbeddingLookup"):
    return [op for op in tf.get_default_graph().get_operations() if op.type == kind]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("max_norm", [None, 1.5])
def test_safe_lookups_equal_the_composed_ones(tf, pool, kind, combiner, weights, max_norm):
    from tensorflow.python.ops import embedding_ops

    table = make(tf, pool, kind)
    ids, with_weights = sparse(tf, batch(3, low=-4, weights=weights))
    arguments = dict(sparse_weights=with_weights, combiner=combiner, max_norm=max_norm)
    composed = tf.nn.safe_embedding_lookup_sparse(table, ids, **arguments)
    fused = embedding_ops.fused_safe_embedding_lookup_sparse(table, ids, **arguments)
    assert len(ops_of(tf)) == 1
    assert fused.shape.as_list() == composed.shape.as_list() == [7, DIM]
    check_equal(tf, table, kind, composed, fused)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("default_id", [0, 7])
def test_empty_rows_read_the_default_id(tf, pool, kind, default_id):
    from tensorflow.python.ops import embedding_ops

    table = make(tf, pool, kind)
    ids, weights = sparse(tf, batch(4, low=-4))
    composed = tf.nn.safe_embedding_lookup_sparse(table, ids, weights, default_id=default_id)
    fused = embedding_ops.fused_safe_embedding_lookup_sparse(table, ids, weights, default_id=default_id)
    check_equal(tf, table, kind, composed, fused)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rank", [3, 4])
def test_ids_of_more_dimensions_are_combined_over_the_last(tf, pool, kind, rank):
    from tensorflow.python.ops import embedding_ops

    table = make(tf, pool, kind)
    ids, weights = sparse(tf, batch(5, (3, 4, 2, 3)[:rank]))
    composed = tf.nn.safe_embedding_lookup_sparse(table, ids, weights)
    fused = embedding_ops.fused_safe_embedding_lookup_sparse(table, ids, weights)
    assert fused.shape.as_list() == composed.shape.as_list()
    check_equal(tf, table, kind, composed, fused)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype, rtol", [("float64", 1e-6), ("float16", 2e-3), ("bfloat16", 2e-2)])
def test_every_dtype(tf, pool, kind, dtype, rtol):
    from tensorflow.python.ops import embedding_ops

    table = make(tf, pool, kind, dtype=tf.as_dtype(dtype))
    ids, _ = sparse(tf, batch(6, weights=False))
    fused = embedding_ops.fused_safe_embedding_lookup_sparse(table, ids)
    indices, keys, _, shape = batch(6, weights=False)
    expected = np.zeros([shape[0], DIM])
    for row in range(shape[0]):
        of_row = keys[indices[:, 0] == row]
        if len(of_row):
            expected[row] = pool[of_row].mean(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert fused.dtype == tf.as_dtype(dtype)
        np.testing.assert_allclose(session.run(fused).astype(np.float64), expected, rtol=rtol, atol=rtol)


def test_weights_have_the_gradients_of_the_composed_lookup(tf, pool):
    from tensorflow.python.ops import embedding_ops

    indices, keys, weights, shape = batch(8)
    weights = tf.constant(weights)
    ids = tf.SparseTensor(indices, keys, shape)
    sp_weights = tf.SparseTensor(indices, weights, shape)
    table = make(tf, pool, "resource")
    for combiner in ("sum", "mean", "sqrtn"):
        results = [
            lookup(table, ids, sp_weights, combiner=combiner, max_norm=1.5)
            for lookup in (tf.nn.safe_embedding_lookup_sparse, embedding_ops.fused_safe_embedding_lookup_sparse)
        ]
        composed, fused = [
            tf.convert_to_tensor(tf.gradients(tf.reduce_sum(tf.square(rows)), weights)[0]) for rows in results
        ]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            np.testing.assert_allclose(*session.run([fused, composed]), rtol=1e-4, atol=1e-4)


def test_an_empty_row_gives_id_0_a_gradient_of_zeros_as_the_composed_lookup_does(tf, pool):
    from tensorflow.python.ops import embedding_ops

    tables = [make(tf, pool, "resource", name) for name in ("a", "b")]
    ids, _ = sparse(tf, batch(9, weights=False))
    ids = tf.SparseTensor(ids.indices, tf.maximum(ids.values, 1), ids.dense_shape)
    lookups = (tf.nn.safe_embedding_lookup_sparse, embedding_ops.fused_safe_embedding_lookup_sparse)
    loss = tf.add_n([tf.reduce_sum(lookup(table, ids)) for lookup, table in zip(lookups, tables)])
    # A step of FTRL changes a row whose gradient is 0: it makes the row what its slots say.
    train = tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.5).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        composed, fused = session.run(tables)
    np.testing.assert_allclose(fused, composed, rtol=1e-5, atol=1e-6)
    assert not np.allclose(fused[0], pool[0])


@pytest.mark.parametrize("optimizer", ["Adam", "Adagrad", "Ftrl"])
def test_a_hundred_steps_of_a_group_equal_those_of_its_lookups(tf, optimizer):
    pools = np.random.RandomState(0).randn(4, ROWS, DIM).astype(np.float32)
    kinds = ["ev", "ev parts", "resource", "reference parts"]
    make_optimizer = {
        "Adam": lambda: tf.train.AdamOptimizer(0.01),
        "Adagrad": lambda: tf.train.AdagradOptimizer(0.05),
        "Ftrl": lambda: tf.train.FtrlOptimizer(0.05),
    }[optimizer]
    feeds = [batch(seed, fill=0.5) for seed in range(20)]
    results = {}
    for grouped in (False, True):
        with tf.Graph().as_default():
            tables = [make(tf, pool, kind, f"v{i}") for i, (pool, kind) in enumerate(zip(pools, kinds))]
            holders = [tf.sparse.placeholder(tf.int64) for _ in tables]
            combiners = ["sum", "mean", "sqrtn", "mean"]
            if grouped:
                rows = tf.nn.group_embedding_lookup_sparse(tables, holders, combiners, "div")
                assert len(ops_of(tf)) == 1
            else:
                rows = [
                    tf.nn.safe_embedding_lookup_sparse(table, ids, combiner=combiner)
                    for table, ids, combiner in zip(tables, holders, combiners)
                ]
            loss = tf.add_n([tf.reduce_sum(tf.square(r - 0.3)) for r in rows])
            train = make_optimizer().minimize(loss)
            losses = []
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                for step in range(100):
                    feed = {
                        ids: tf.SparseTensorValue(*[feeds[(step + i) % 20][k] for k in (0, 1, 3)])
                        for i, ids in enumerate(holders)
                    }
                    losses.append(session.run([loss, train], feed)[0])
            results[grouped] = losses
    np.testing.assert_allclose(results[True], results[False], rtol=1e-5)
    assert results[True][-1] < results[True][0]


def test_the_public_example_of_a_group(tf):
    ones = tf.ones_initializer()
    tables = [tf.get_embedding_variable("a", DIM, initializer=ones), tf.get_variable("b", [9, 3], initializer=ones)]
    ids = tf.SparseTensor([[0, 0], [1, 1], [2, 0], [2, 1], [3, 2]], tf.constant([1, 2, 3, 4, 5], tf.int64), [4, 3])
    mean, total = tf.nn.group_embedding_lookup_sparse(tables, [ids, ids], ["mean", "sum"])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(mean), np.ones([4, DIM]))
        np.testing.assert_array_equal(session.run(total), np.array([[1], [1], [2], [1]]) * np.ones([1, 3]))


def test_occurrences_in_a_group_are_counted(tf):
    option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(3))
    table = tf.get_embedding_variable("v", 2, initializer=tf.ones_initializer(), ev_option=option)
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 0]], tf.constant([5, 5, 5, 6], tf.int64), [3, 2])
    (rows,) = tf.nn.group_embedding_lookup_sparse([table], [ids], ["sum"])
    plain = tf.nn.embedding_lookup(table, tf.constant([6], tf.int64))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(rows) + tf.reduce_sum(plain))
    frequencies = table.get_frequency(tf.constant([5, 6], tf.int64))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(rows), np.zeros([3, 2]))
        session.run(train)
        assert session.run(frequencies).tolist() == [3, 2]
        np.testing.assert_array_equal(session.run(rows), [[-4, -4], [-2, -2], [0, 0]])


def test_a_tile_column_in_a_group_is_looked_up_by_itself(tf, pool):
    tables = [make(tf, pool, "ev", "a"), make(tf, pool, "ev", "b")]
    ids, _ = sparse(tf, batch(2, weights=False))
    tiled, mean = tf.nn.group_embedding_lookup_sparse(tables, [ids, ids], ["tile", "mean"])
    expected = tf.nn.embedding_lookup_sparse(tables[0], ids, None, combiner="tile")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, wanted = session.run([tiled, expected])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert mean.shape.as_list() == [7, DIM]


def test_nothing_to_look_up(tf, pool):
    for kind in KINDS:
        table = make(tf, pool, kind, f"v_{KINDS.index(kind)}")
        ids = tf.SparseTensor(np.zeros([0, 2], np.int64), np.zeros([0], np.int64), [0, 3])
        (rows,) = tf.nn.group_embedding_lookup_sparse([table], [ids], "mean")
        train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(rows), var_list=variables_of(table))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run(rows).shape == (0, DIM)
            session.run(train)


# Columns.


def features(tf):
    return {
        name: tf.SparseTensor([[0, 0], [0, 1], [2, 0], [3, 1]], tf.constant(values), [5, 2])
        for name, values in {"a": ["x", "y", "z", "x"], "b": ["u", "u", "v", "w"], "c": ["p", "q", "", "r"]}.items()
    }


def columns(tf, scope, **kwargs):
    fc = tf.feature_column
    hashed = [fc.categorical_column_with_hash_bucket(name, 50) for name in ("a", "b")]
    with scope() as made:
        if kwargs.get("coalesced_scope"):
            kwargs["coalesced_scope"] = made
        return [
            *[fc.embedding_column(c, 4, initializer=tf.ones_initializer(), **kwargs) for c in hashed],
            fc.embedding_column(
                fc.categorical_column_with_embedding("c"), 3, initializer=tf.ones_initializer(), **kwargs
            ),
        ]


@pytest.mark.parametrize("layer", ["input_layer", "DenseFeatures"])
@pytest.mark.parametrize("how", ["group scope", "do_fusion", "coalesced scope", "coalesced argument"])
def test_the_columns_of_a_scope_share_an_op(tf, how, layer):
    import contextlib

    fc = tf.feature_column
    scope = {
        "group scope": fc.group_embedding_column_scope,
        "coalesced scope": fc.coalesced_embedding_scope,
        "coalesced argument": fc.coalesced_embedding_scope,
    }.get(how, contextlib.nullcontext)
    arguments = {"do_fusion": {"do_fusion": True}, "coalesced argument": {"coalesced_scope": True}}.get(how, {})
    results = {}
    for fused in (False, True):
        with tf.Graph().as_default():
            of_layer = columns(tf, scope, **arguments) if fused else columns(tf, contextlib.nullcontext)
            if layer == "input_layer":
                rows = fc.input_layer(features(tf), of_layer)
            else:
                rows = tf.keras.layers.DenseFeatures(of_layer)(features(tf))
            names = sorted(v.op.name for v in tf.global_variables())
            train = tf.train.AdagradOptimizer(0.5).minimize(tf.reduce_sum(tf.square(rows)))
            if fused:
                joined = [op for op in ops_of(tf) if op.get_attr("N") == 3 or op.get_attr("N") == 2]
                assert joined and sum(op.get_attr("N") for op in ops_of(tf, "GroupEmbeddingLookupGrad")) == 3
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                results[fused] = [names]
                for _ in range(3):
                    results[fused].append(session.run([rows, train])[0])
    assert results[True][0] == results[False][0]
    for a, b in zip(results[True][1:], results[False][1:]):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_one_gradient_op_serves_all_columns_of_a_scope(tf):
    scope = tf.feature_column.group_embedding_column_scope
    rows = tf.feature_column.input_layer(features(tf), columns(tf, scope))
    tf.gradients(tf.reduce_sum(rows), tf.trainable_variables())
    assert [op.get_attr("N") for op in ops_of(tf, "GroupEmbeddingLookupGrad")] == [3]


def test_columns_of_two_scopes_have_two_ops(tf):
    fc = tf.feature_column
    of_layer = []
    for name in ("a", "b"):
        with fc.group_embedding_column_scope():
            of_layer.append(fc.embedding_column(fc.categorical_column_with_hash_bucket(name, 9), 2))
    rows = fc.input_layer(features(tf), of_layer)
    tf.gradients(tf.reduce_sum(rows), tf.trainable_variables())
    assert [op.get_attr("N") for op in ops_of(tf, "GroupEmbeddingLookupGrad")] == [1, 1]


def test_contribs_columns_fuse(tf):
    layers = tf.contrib.layers
    results = {}
    for fused in (False, True):
        with tf.Graph().as_default():
            of_layer = [
                layers.embedding_column(
                    layers.sparse_column_with_hash_bucket(name, 20),
                    4,
                    initializer=tf.ones_initializer(),
                    do_fusion=fused,
                )
                for name in ("a", "b")
            ]
            rows = layers.input_from_feature_columns(features(tf), of_layer)
            train = tf.train.AdagradOptimizer(0.5).minimize(tf.reduce_sum(tf.square(rows)))
            assert [op.get_attr("N") for op in ops_of(tf, "GroupEmbeddingLookupGrad")] == ([2] if fused else [])
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                session.run(train)
                results[fused] = session.run(rows)
    np.testing.assert_allclose(results[True], results[False], rtol=1e-5)


def test_a_grouped_graph_is_imported_and_trained(tf, tmp_path):
    scope = tf.feature_column.group_embedding_column_scope
    rows = tf.feature_column.input_layer(features(tf), columns(tf, scope))
    loss = tf.reduce_sum(tf.square(rows))
    train = tf.train.AdagradOptimizer(0.5).minimize(loss)
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        prefix = saver.save(session, str(tmp_path / "model"))
        session.run(train)
        expected = session.run(loss)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(f"{prefix}.meta").restore(session, prefix)
        session.run(train.name)
        assert session.run(loss.name) == pytest.approx(expected, rel=1e-6)


# Bad input.


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"sp_ids": 1}, "sp_ids"),
        ({"combiners": ["mean"] * 3}, "combiners must have one element for each of the 2 params, got 3"),
        ({"combiners": ["mean", "median"]}, "combiner must be one of"),
        ({"partition_strategy": "foo"}, "partition_strategy"),
        ({"sp_weights": [None]}, "sp_weights"),
        ({"sp_weights": 1.5}, "sp_weights must have one element for each of the 2 params, got 1"),
        ({"combiners": 5}, "combiners must have one element for each of the 2 params, got 1"),
    ],
)
def test_bad_arguments_are_refused_by_name(tf, pool, arguments, message):
    ids, _ = sparse(tf, batch(1))
    tables = [make(tf, pool, "ev", "a"), make(tf, pool, "resource", "b")]
    lists = {"sp_ids": [ids, ids], "combiners": ["mean", "sum"], **arguments}
    if arguments.get("sp_ids") == 1:
        lists["sp_ids"] = [ids]
    with pytest.raises(ValueError, match=message):
        tf.nn.group_embedding_lookup_sparse(tables, **lists)


@pytest.mark.parametrize("kind", ["resource", "reference", "resource parts", "reference parts"])
@pytest.mark.parametrize("key", [ROWS, -1])
def test_an_id_that_an_ordinary_variable_does_not_have_is_named(tf, pool, kind, key):
    table = make(tf, pool, kind)
    ids = tf.SparseTensor([[0, 0]], tf.constant([key], tf.int64), [1, 1])
    (rows,) = tf.nn.group_embedding_lookup_sparse([table], [ids], ["sum"])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"id {key} is not in \[0, {ROWS}\)"):
            session.run(rows)


@pytest.mark.parametrize("kind", ["ev", "resource"])
def test_a_table_that_is_not_initialized_is_named(tf, pool, kind):
    ids, _ = sparse(tf, batch(1))
    (rows,) = tf.nn.group_embedding_lookup_sparse([make(tf, pool, kind, "mine")], [ids], ["sum"])
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="mine"):
        session.run(rows)


def test_indices_out_of_order_or_shape_are_named(tf, pool):
    table = make(tf, pool, "ev")
    indices, shape = tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.int64, [2])
    ids = tf.SparseTensor(indices, tf.constant([1, 2], tf.int64), shape)
    (rows,) = tf.nn.group_embedding_lookup_sparse([table], [ids], ["sum"])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for wrong, dense, message in (
            ([[1, 0], [0, 0]], [2, 1], "row-major"),
            ([[0, 0], [5, 0]], [2, 1], r"indices\[1,0\] = 5"),
            ([[0, 0]], [2, 1], r"column 0: indices, values"),
            ([[0, 0], [1, 0]], [-2, 1], r"dense_shape\[0\]"),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(rows, {indices: wrong, shape: dense})


def test_bad_scopes_are_refused_by_name(tf):
    fc = tf.feature_column
    with pytest.raises(ValueError, match="coalesced_scope"):
        fc.embedding_column(fc.categorical_column_with_identity("a", 3), 2, coalesced_scope="s")
    with pytest.raises(ValueError, match="num_partitions"):
        fc.coalesced_embedding_scope(num_partitions=2)


@pytest.mark.parametrize(
    "argument, error",
    [
        ({"max_norm": -1.0}, ValueError),
        ({"max_norm": "1"}, TypeError),
        ({"default_id": 1.5}, TypeError),
        ({"blocknums": [1]}, ValueError),
        ({"partition_strategy": "x"}, ValueError),
    ],
)
def test_bad_arguments_of_the_fused_lookup_are_refused_by_name(tf, pool, argument, error):
    ids, _ = sparse(tf, batch(1))
    with pytest.raises(error, match=next(iter(argument))):
        tf.nn.fused_embedding_lookup_sparse(make(tf, pool, "ev"), ids, combiner="sum", **argument)
