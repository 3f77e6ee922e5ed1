"""Multi-hash variables: two small tables for quotients and remainders."""

import numpy as np
import pytest

# Ids 0 ... 14: quotients by 3 in 0 ... 4.
Q, R = 5, 3


@pytest.fixture
def tf():
    """TensorFlow with an empty default graph."""
    import tensorflow

    with tensorflow.Graph().as_default():
        yield tensorflow


def combine(operation, first, second):
    if operation == "concat":
        return np.concatenate([first, second], -1)
    return first + second if operation == "add" else first * second


def values_of(variable):
    return list(variable) if hasattr(variable, "__iter__") and not hasattr(variable, "op") else [variable]


@pytest.mark.parametrize("operation", ["add", "mul", "mult", "concat"])
@pytest.mark.parametrize("parts", [None, 2])
def test_rows_are_those_of_quotient_and_remainder(tf, operation, parts):
    table = tf.get_multihash_variable(
        "m",
        [[Q, 4], [R, 4]],
        operation=operation,
        partitioner=None if parts is None else tf.fixed_size_partitioner(parts),
    )
    ids = np.arange(Q * R).reshape(3, 5)
    rows = tf.nn.embedding_lookup(table, tf.constant(ids), partition_strategy="div")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        ours, first, second = session.run([rows, tf.identity(table.quotient), tf.identity(table.remainder)])
    np.testing.assert_allclose(
        ours, combine(operation.replace("mult", "mul"), first[ids // R], second[ids % R]), rtol=1e-6
    )
    assert (first.shape, second.shape, table.num_ids) == ((Q, 4), (R, 4), Q * R)
    assert table.dim == (8 if operation == "concat" else 4)
    letters = [v.op.name for v in tf.trainable_variables()]
    expected = ["m/multhash_Q", "m/multhash_R"]
    assert letters == (expected if parts is None else [f"{n}/part_{i}" for n in expected for i in range(parts)])


def test_no_two_ids_share_both_rows(tf):
    pairs = {(i // R, i % R) for i in range(Q * R)}
    table = tf.get_multihash_variable("m", [[Q, 2], [R, 2]], operation="concat")
    rows = tf.nn.embedding_lookup(table, tf.range(Q * R))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert len({tuple(row) for row in session.run(rows).tolist()}) == len(pairs) == Q * R


@pytest.mark.parametrize("operation, dims", [("add", (3, 3)), ("mul", (3, 3)), ("concat", (2, 4))])
def test_training_reaches_both_tables(tf, operation, dims):
    random = np.random.RandomState(0)
    first, second = (random.randn(n, d).astype(np.float32) for n, d in zip((Q, R), dims))
    given = iter([first, second])
    table = tf.get_multihash_variable(
        "m", [[Q, dims[0]], [R, dims[1]]], operation=operation, initializer=lambda *a, **k: tf.constant(next(given))
    )
    ids = np.array([1, 7, 7, 14, 2])
    factors = random.randn(5, sum(dims) if operation == "concat" else dims[0]).astype(np.float32)
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, tf.constant(ids)) * factors)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    to_first, to_second = first.copy(), second.copy()
    for i, x in enumerate(ids):
        if operation == "concat":
            d1, d2 = factors[i, : dims[0]], factors[i, dims[0] :]
        elif operation == "add":
            d1 = d2 = factors[i]
        else:
            d1, d2 = factors[i] * second[x % R], factors[i] * first[x // R]
        to_first[x // R] -= 0.1 * d1
        to_second[x % R] -= 0.1 * d2
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run(table.quotient), to_first, rtol=1e-5)
        np.testing.assert_allclose(session.run(table.remainder), to_second, rtol=1e-5)


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn", "tile"])
def test_sparse_lookups(tf, combiner):
    table = tf.get_multihash_variable("m", [[Q, 2], [R, 2]])
    ids = tf.SparseTensor([[0, 0], [0, 1], [2, 1]], tf.constant([3, 8, 3], tf.int64), [4, 2])
    rows = tf.nn.embedding_lookup(table, [3, 8])
    result = tf.nn.safe_embedding_lookup_sparse(table, ids, combiner=combiner)
    unsafe = tf.nn.embedding_lookup_sparse(table, ids, None, combiner=combiner)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        (a, b), ours, short = session.run([rows, result, unsafe])
    if combiner == "tile":
        expected = [[*a, *b], [0] * 4, [0, 0, *a], [0] * 4]
        np.testing.assert_allclose(short, expected, rtol=1e-6)
    else:
        first = (a + b) / {"sum": 1, "mean": 2, "sqrtn": np.sqrt(2)}[combiner]
        expected = [first, [0, 0], a, [0, 0]]
        np.testing.assert_allclose(short, expected[:3], rtol=1e-6)
    np.testing.assert_allclose(ours, expected, rtol=1e-6)


def test_a_name_used_again_gives_the_same_tables(tf):
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        first = tf.get_multihash_variable("m", [[Q, 2], [R, 2]])
        second = tf.get_multihash_variable("m", [[Q, 2], [R, 2]])
    assert list(first) == list(second) and first.name == "s/m"


@pytest.mark.parametrize("operation", ["add", "mul", "concat"])
def test_the_column_is_the_variable(tf, operation):
    fc = tf.feature_column
    category = fc.categorical_column_with_multihash("a", (Q, R), operation=operation)
    column = fc.embedding_column(category, dimension=(2, 2), initializer=tf.random_normal_initializer(seed=3))
    values = [3, 8, 14]
    layer = fc.input_layer(
        {"a": tf.SparseTensor([[0, 0], [1, 0], [3, 0]], tf.constant(values, tf.int64), [4, 1])}, [column]
    )
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(layer))
    first, second = tf.trainable_variables()
    assert [v.op.name.rsplit("/", 2)[1:] for v in (first, second)] == [
        ["embedding_weights", "multhash_Q"],
        ["embedding_weights", "multhash_R"],
    ]
    assert layer.shape.as_list() == [4, 4 if operation == "concat" else 2]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            q, r, ours = session.run([first, second, layer])
            expected = combine(operation, q[[1, 2, 4]], r[[0, 2, 2]])
            np.testing.assert_allclose(ours, [expected[0], expected[1], 0 * expected[0], expected[2]], rtol=1e-6)
            session.run(train)


def test_string_columns_are_hashed_to_the_ids(tf):
    fc = tf.feature_column
    category = fc.categorical_column_with_multihash("a", (Q, R), operation="add", dtype=tf.string)
    layer = fc.input_layer({"a": tf.constant([["x"], [""], ["y"]])}, [fc.embedding_column(category, (2, 2))])
    first, second = tf.trainable_variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        ids, q, r, ours = session.run([tf.strings.to_hash_bucket_fast(["x", "y"], Q * R), first, second, layer])
    expected = q[ids // R] + r[ids % R]
    np.testing.assert_allclose(ours, [expected[0], [0, 0], expected[1]], rtol=1e-6)


def test_an_id_out_of_range_is_refused(tf):
    table = tf.get_multihash_variable("m", [[Q, 2], [R, 2]])
    for bad in (Q * R, -1):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            ids = tf.placeholder_with_default([bad], [1])
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"ids of m must be in \[0, 15\)"):
                session.run(tf.nn.embedding_lookup(table, ids))


def test_bad_arguments_are_refused_by_name(tf):
    column = tf.feature_column.categorical_column_with_multihash
    cases = {
        "dims": lambda: tf.get_multihash_variable("a", [[5, 2]]),
        "dims ": lambda: tf.get_multihash_variable("a", [[5, 2], [0, 2]]),
        "d1 = d2": lambda: tf.get_multihash_variable("a", [[5, 2], [3, 4]], operation="add"),
        "operation": lambda: tf.get_multihash_variable("a", [[5, 2], [3, 2]], operation="max"),
        "complementary_strategy": lambda: tf.get_multihash_variable(
            "a", [[5, 2], [3, 2]], complementary_strategy="R-Q"
        ),
        "dims  ": lambda: column("a", dims=(5,)),
        "dims   ": lambda: column("a", dims=(5, 0)),
        "operation ": lambda: column("a", dims=(5, 3), operation="max"),
        "complementary_strategy ": lambda: column("a", dims=(5, 3), complementary_strategy="Q"),
        "d1 = d2 ": lambda: tf.feature_column.embedding_column(column("a", (5, 3), operation="add"), (2, 3)),
        "blocknums": lambda: tf.nn.embedding_lookup(
            tf.get_multihash_variable("b", [[5, 2], [3, 2]]), [1], blocknums=[1]
        ),
    }
    for message, make in cases.items():
        with pytest.raises(ValueError, match=message.strip()):
            make()
