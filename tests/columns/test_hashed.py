"""categorical_column_with_hash, and the multi-hash columns and their embeddings."""

import contextlib

import numpy as np
import pytest

from .conftest import bag

ROWS = [["a", "b", "c"], ["b"], [], ["d", "a"]]
WEIGHTS = [[1.0, 2, 3], [5.0], [], [6.0, 7]]
BUCKETS, DIM = 30, 3


def hashes(tf, run, rows, kind, **arguments):
    from tensorflow.python.ops import string_ops

    return [run(string_ops.string_to_hash(tf.constant(row, tf.string), kind, **arguments)).tolist() for row in rows]


@pytest.mark.parametrize("kind", ["farm", "murmur"])
@pytest.mark.parametrize("allow_neg", [True, False])
@pytest.mark.parametrize("dtype", ["string", "int64"])
def test_keys_are_the_hashes(tf, run, kind, allow_neg, dtype):
    fc = tf.feature_column
    rows = [[str(i * 7 + k) for k in range(i)] for i in range(8)]
    expected = hashes(tf, run, rows, kind, allow_neg=allow_neg)
    given = rows if dtype == "string" else [[int(v) for v in row] for row in rows]
    features = {"a": bag(tf, given, dtype=tf.as_dtype(dtype))}
    column = fc.categorical_column_with_hash("a", kind, allow_neg, tf.as_dtype(dtype))
    layer = fc.input_layer(features, [fc.embedding_column(column, DIM, combiner="sum")])
    (variable,) = tf.trainable_variables()
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(layer))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        after = session.run(layer)
        keys, table = session.run(variable.export()[:2])
    assert sorted(keys) == sorted(h for row in expected for h in row)
    assert (keys < 0).any() == allow_neg
    table = dict(zip(keys.tolist(), table))
    np.testing.assert_allclose(
        after, [sum([table[h] for h in row], np.zeros(DIM)) for row in expected], rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("combiner", ["sum", "mean"])
def test_hashes_below_zero_keep_their_weights(tf, trained, combiner):
    fc = tf.feature_column
    features = {"a": bag(tf, ROWS), "w": bag(tf, [[1.0, -2, 3], [0.0], [], [6.0, 7]])}
    results = []
    for column in (fc.categorical_column_with_hash("a"), fc.categorical_column_with_hash("a", allow_neg=False)):
        column = fc.embedding_column(
            fc.weighted_categorical_column(column, "w"), DIM, combiner=combiner, initializer=tf.ones_initializer()
        )
        with tf.variable_scope(None, default_name="layer"):
            results.append(fc.input_layer(features, [column]))
    before, after = trained(tf.concat(results, 1))
    np.testing.assert_allclose(before[:, :DIM], before[:, DIM:], rtol=1e-6)
    np.testing.assert_allclose(after[:, :DIM], after[:, DIM:], rtol=1e-6)


def test_hashes_below_zero_are_looked_up_with_other_columns(tf, run):
    fc = tf.feature_column
    features = {"a": bag(tf, ROWS), "b": bag(tf, ROWS)}
    layers = []
    for scope in (contextlib.nullcontext(), fc.group_embedding_column_scope()):
        with scope:
            columns = [
                fc.embedding_column(make(key), DIM, combiner="sum", initializer=tf.ones_initializer())
                for make, key in (
                    (fc.categorical_column_with_hash, "a"),
                    (fc.categorical_column_with_embedding, "b"),
                )
            ]
        with tf.variable_scope(None, default_name="layer"):
            layers.append(fc.input_layer(features, columns))
    alone, together = run(layers)
    np.testing.assert_array_equal(alone, together)
    assert alone[:, 0].tolist() == [3, 1, 0, 2]


def test_hashes_in_a_linear_model_and_shared(tf, trained):
    fc = tf.feature_column
    features = {k: bag(tf, ROWS) for k in "abc"}
    shared = fc.shared_embedding_columns([fc.categorical_column_with_hash(k) for k in "bc"], DIM)
    outputs = [fc.linear_model(features, [fc.categorical_column_with_hash("a")]), fc.input_layer(features, shared)]
    before, after = trained(tf.concat(outputs, 1))
    np.testing.assert_array_equal(before[:, 1 : 1 + DIM], before[:, 1 + DIM :])
    assert (after[[0, 1, 3], 0] < after[2, 0]).all()


def test_hash_configuration(tf, again):
    fc = tf.feature_column
    column = fc.categorical_column_with_hash("a", "murmur", False, tf.int32)
    assert again(column) == column and fc.make_parse_example_spec([fc.embedding_column(column, 2)]) == {
        "a": tf.io.VarLenFeature(tf.int32)
    }


def embedded(table, ids, weights, hash_combiner, combiner):
    """By the formulas: the rows of each value by one combiner, the values of a row by the other."""

    def combined(rows, weights, how):
        rows, weights = np.array(rows), np.array(weights, np.float64)
        if how in ("max", "min"):
            return getattr(rows, how)(0)
        total = (rows * weights[:, None]).sum(0)
        return total / {"sum": 1, "mean": weights.sum(), "sqrtn": np.sqrt((weights**2).sum())}[how]

    result = np.zeros([len(ids), DIM])
    for i, row in enumerate(ids):
        if row:
            result[i] = combined(
                [combined(table[list(v)], [1] * len(v), hash_combiner) for v in row], weights[i], combiner
            )
    return result


@pytest.fixture
def table():
    return np.random.RandomState(5).randn(BUCKETS, DIM).astype(np.float32)


@pytest.fixture
def ids(tf, run):
    by_kind = [hashes(tf, run, ROWS, kind, num_buckets=BUCKETS) for kind in ("farm", "murmur")]
    return [list(zip(*row)) for row in zip(*by_kind)]


def multi_hash(tf, weighted, table, key="a", **arguments):
    fc = tf.feature_column
    column = fc.categorical_column_with_multi_hash_bucket(key, BUCKETS, ["farm", "murmur"])
    if weighted:
        column = fc.weighted_categorical_column_with_multi_hash_bucket(column, "w")
    return fc.multi_hash_embedding_column(
        column, DIM, "shared", initializer=tf.constant_initializer(table), **arguments
    )


@pytest.mark.parametrize("hash_combiner", ["mean", "sum", "sqrtn", "max", "min"])
@pytest.mark.parametrize("combiner", ["mean", "sum", "sqrtn"])
@pytest.mark.parametrize("weighted", [False, True])
def test_multi_hash_embeddings_are_the_formula(tf, trained, table, ids, hash_combiner, combiner, weighted):
    column = multi_hash(tf, weighted, table, hash_combiner=hash_combiner, combiner=combiner)
    features = {"a": bag(tf, ROWS), "w": bag(tf, WEIGHTS)}
    before, after = trained(tf.feature_column.input_layer(features, [column]))
    weights = WEIGHTS if weighted else [[1] * len(row) for row in ROWS]
    np.testing.assert_allclose(before, embedded(table, ids, weights, hash_combiner, combiner), rtol=1e-5, atol=1e-6)
    assert np.abs(after - before).max() > 0.05
    assert [v.op.name for v in tf.trainable_variables()] == ["input_layer/shared/embedding_weights"]


def test_columns_of_one_name_share_the_table(tf, run, table, ids):
    features = {"a": bag(tf, ROWS), "b": bag(tf, ROWS[::-1])}
    layer = tf.feature_column.input_layer(features, [multi_hash(tf, False, table, key) for key in "ab"])
    got = run(layer)
    np.testing.assert_array_equal(got[:, :DIM], got[::-1, DIM:])
    assert len(tf.trainable_variables()) == 1
    other = tf.feature_column.categorical_column_with_multi_hash_bucket("b", BUCKETS + 1, ["farm"])
    with pytest.raises(
        ValueError, match="shared_name 'shared' must agree.*'hash_bucket_size': 31.* and .*'hash_bucket_size': 30"
    ):
        tf.feature_column.input_layer(features, [tf.feature_column.multi_hash_embedding_column(other, DIM, "shared")])


def test_columns_of_one_name_agree_about_the_table(tf, table):
    features = {"a": bag(tf, ROWS), "b": bag(tf, ROWS)}
    columns = [multi_hash(tf, False, table), multi_hash(tf, False, table, "b", trainable=False)]
    with pytest.raises(ValueError, match="must agree in hash_bucket_size, dimension.*'trainable': False"):
        tf.feature_column.input_layer(features, columns)


def test_a_table_in_parts(tf, trained, tmp_path):
    fc = tf.feature_column
    column = fc.multi_hash_embedding_column(
        fc.categorical_column_with_multi_hash_bucket("a", BUCKETS, ["farm", "murmur"]),
        DIM,
        "shared",
        combiner="sum",
        initializer=tf.ones_initializer(),
    )
    with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(4)):
        layer = fc.input_layer({"a": bag(tf, ROWS)}, [column])
    assert [v.shape.as_list() for v in tf.trainable_variables()] == [[8, DIM], [8, DIM], [7, DIM], [7, DIM]]
    before, after = trained(layer)
    assert before[:, 0].tolist() == [3, 1, 0, 2] and (after[[0, 1, 3]] < before[[0, 1, 3]]).all()
    tf.train.export_meta_graph(str(tmp_path / "graph.meta"))


def test_multi_hash_of_a_cut_off_column(tf, run, table, ids):
    fc = tf.feature_column
    column = fc.categorical_column_with_multi_hash_bucket("a", BUCKETS, ["farm", "murmur"])
    column = fc.cutoff_categorical_column(fc.weighted_categorical_column_with_multi_hash_bucket(column, "w"), 1)
    column = fc.multi_hash_embedding_column(
        column, DIM, "shared", combiner="sum", initializer=tf.constant_initializer(table)
    )
    got = run(fc.input_layer({"a": bag(tf, ROWS), "w": bag(tf, WEIGHTS)}, [column]))
    short = lambda rows: [row[:1] for row in rows]  # noqa: E731
    np.testing.assert_allclose(got, embedded(table, short(ids), short(WEIGHTS), "mean", "sum"), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("combiner", ["mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
def test_multi_hash_of_a_sequence(tf, run, table, ids, combiner, weighted):
    from tensorflow.contrib.feature_column import sequence_input_layer
    from tensorflow.python.feature_column import feature_column_v2

    fc = tf.feature_column
    column = fc.categorical_column_with_multi_hash_bucket("a", BUCKETS, ["farm", "murmur"])
    if weighted:
        column = fc.weighted_categorical_column_with_multi_hash_bucket(column, "w")
    column = feature_column_v2.SequenceCategoricalColumn(column)
    column = fc.multi_hash_embedding_column(
        column, DIM, "shared", combiner=combiner, initializer=tf.constant_initializer(table)
    )
    features = {"a": bag(tf, ROWS), "w": bag(tf, WEIGHTS)}
    layer, lengths = run(sequence_input_layer(features, [column]))
    assert lengths.tolist() == [3, 1, 0, 2] and layer.shape == (4, 3, DIM)
    for i, row in enumerate(ids):
        for step, value in enumerate(row):
            weight = [[WEIGHTS[i][step] if weighted else 1]]
            expected = embedded(table, [[value]], weight, "mean", combiner)[0]
            np.testing.assert_allclose(layer[i, step], expected, rtol=1e-5, atol=1e-6)
        assert (layer[i, len(row) :] == 0).all()


def test_multi_hash_in_a_linear_model_adds_all_hashes(tf, run, ids):
    fc = tf.feature_column
    column = fc.categorical_column_with_multi_hash_bucket("a", BUCKETS, ["farm", "murmur"])
    model = fc.linear_model({"a": bag(tf, ROWS)}, [column])
    (weights,) = [v for v in tf.trainable_variables() if "bias" not in v.name]
    values = np.arange(BUCKETS, dtype=np.float32)[:, None]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        weights.load(values, session)
        got = session.run(model)
    np.testing.assert_allclose(got[:, 0], [sum(sum(v) for v in row) for row in ids])


def test_multi_hash_configuration(tf, again):
    fc = tf.feature_column
    column = fc.categorical_column_with_multi_hash_bucket("a", 10, ["farm"], tf.int64)
    weighted = fc.weighted_categorical_column_with_multi_hash_bucket(column, "w")
    assert again(column) == column and again(weighted) == weighted and type(again(weighted)) is type(weighted)
    embedding = fc.multi_hash_embedding_column(weighted, 2, "s")
    assert fc.make_parse_example_spec([embedding]) == {
        "a": tf.io.VarLenFeature(tf.int64),
        "w": tf.io.VarLenFeature(tf.float32),
    }


def test_a_table_from_a_checkpoint(tf, run, table, tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("kept", initializer=table)
        session.run(variable.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    column = multi_hash(tf, False, 0 * table, ckpt_to_load_from=path, tensor_name_in_ckpt="kept")
    layer = tf.feature_column.input_layer({"a": bag(tf, ROWS)}, [column])
    assert np.abs(run(layer)).max() > 0.1


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda fc, c: fc.categorical_column_with_hash(None), "key must be a string, got None"),
        (lambda fc, c: fc.categorical_column_with_hash("a", None), "hash_type must be one of .*got None"),
        (lambda fc, c: fc.categorical_column_with_hash("a", dtype="float32"), "string or an integer, got float32"),
        (lambda fc, c: fc.categorical_column_with_multi_hash_bucket("a", 0, ["farm"]), "hash_bucket_size must be"),
        (lambda fc, c: fc.categorical_column_with_multi_hash_bucket("a", 5, []), "hash_types must be a list"),
        (lambda fc, c: fc.categorical_column_with_multi_hash_bucket("a", 5, "farm"), "hash_types must be a list"),
        (lambda fc, c: fc.categorical_column_with_multi_hash_bucket("a", 5, ["x"]), "each of hash_types .*got 'x'"),
        (
            lambda fc, c: fc.weighted_categorical_column_with_multi_hash_bucket(
                fc.categorical_column_with_hash("a"), "w"
            ),
            "got Hash",
        ),
        (lambda fc, c: fc.weighted_categorical_column_with_multi_hash_bucket(c, "w", "string"), "integer or float"),
        (
            lambda fc, c: fc.weighted_categorical_column(c, "w"),
            "use weighted_categorical_column_with_multi_hash_bucket",
        ),
        (lambda fc, c: fc.embedding_column(c, 2), "use multi_hash_embedding_column"),
        (lambda fc, c: fc.shared_embedding_columns([c, c], 2), "use multi_hash_embedding_column"),
        (lambda fc, c: fc.indicator_column(fc.cutoff_categorical_column(c, 1)), "use multi_hash_embedding_column"),
        (
            lambda fc, c: fc.multi_hash_embedding_column(fc.categorical_column_with_hash("a"), 2, "s"),
            "categorical_column must be",
        ),
        (lambda fc, c: fc.multi_hash_embedding_column(c, 0, "s"), "dimension must be"),
        (lambda fc, c: fc.multi_hash_embedding_column(c, 2, ""), "shared_name must be"),
        (lambda fc, c: fc.multi_hash_embedding_column(c, 2, "s", "tile"), "hash_combiner must be one of"),
        (lambda fc, c: fc.multi_hash_embedding_column(c, 2, "s", combiner="max"), "combiner must be one of"),
        (lambda fc, c: fc.multi_hash_embedding_column(c, 2, "s", initializer=3), "initializer must be callable"),
        (lambda fc, c: fc.multi_hash_embedding_column(c, 2, "s", ckpt_to_load_from="x"), "given together"),
    ],
)
def test_bad_arguments_are_named(tf, make, message):
    fc = tf.feature_column
    with pytest.raises(ValueError, match=message):
        make(fc, fc.categorical_column_with_multi_hash_bucket("a", 5, ["farm"]))


def test_a_feature_of_another_kind_is_refused(tf):
    fc = tf.feature_column
    features = {"a": bag(tf, [[1, 2]], dtype=tf.int64)}
    for column in (
        fc.embedding_column(fc.categorical_column_with_hash("a"), 2),
        fc.multi_hash_embedding_column(fc.categorical_column_with_multi_hash_bucket("a", 5, ["farm"]), 2, "s"),
    ):
        with pytest.raises(ValueError, match="'a' must be string, as its column, got int64"):
            fc.input_layer(features, [column])
