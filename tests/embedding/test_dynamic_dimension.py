"""EmbeddingVariables of dynamic dimension, and the older hash tables."""

import numpy as np
import pytest


@pytest.fixture
def tf():
    """TensorFlow with an empty default graph."""
    import tensorflow

    with tensorflow.Graph().as_default():
        yield tensorflow


def make(tf, dimension=2, blocks=3, **kwargs):
    return tf.get_dynamic_dimension_embedding_variable(
        kwargs.pop("name", "v"), dimension, blocks, **{"initializer": tf.ones_initializer(), **kwargs}
    )


def run(tf, *fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(fetch) for fetch in fetches][-1]


def test_blocks_that_an_id_does_not_have_are_zero(tf):
    table = make(tf, 6, 4)
    numbers = [4, 1, 4, 3, 1]
    rows = tf.nn.embedding_lookup(table, tf.constant([21, 34, 78, 99, 56], tf.int64), blocknums=numbers)
    assert rows.shape.as_list() == [5, 24] and table.shape.as_list() == [24]
    assert run(tf, rows).tolist() == [[1.0] * 6 * n + [0.0] * (24 - 6 * n) for n in numbers]
    assert [block.op.name for block in table] == [f"v/block{i}" for i in range(4)]


@pytest.mark.parametrize("parts", [None, 3])
def test_only_the_blocks_read_are_trained(tf, parts):
    table = make(tf, partitioner=None if parts is None else tf.fixed_size_partitioner(parts))
    ids = tf.constant([5, -6, 2**62], tf.int64)
    rows = tf.nn.embedding_lookup(table, ids, blocknums=[1, 3, 0])
    whole = tf.nn.embedding_lookup(table, ids, blocknums=[3, 3, 3])
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(rows))
    counts = [sum(p.total_count()[0] for p in (b if parts else [b])) for b in table.blocks]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(whole).tolist() == [[0.5, 0.5, 1, 1, 1, 1], [0.5] * 6, [1] * 6]
        assert session.run(counts) == [2, 1, 1]


def test_all_blocks_together_are_a_plain_variable(tf):
    table = make(tf, 4, 2)
    plain = tf.get_embedding_variable("plain", 8, initializer=tf.ones_initializer())
    ids = tf.constant([0, 1, 2, 2, 5, 6], tf.int64)
    factors = tf.constant(np.random.RandomState(0).randn(6, 8).astype(np.float32))
    results = [tf.nn.embedding_lookup(table, ids, blocknums=[2] * 6), tf.nn.embedding_lookup(plain, ids)]
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.add_n([tf.reduce_sum(r * factors) for r in results]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            session.run(train)
        ours, expected = session.run(results)
    np.testing.assert_allclose(ours, expected, rtol=1e-6)
    assert np.abs(ours - 1).max() > 0.1


def test_the_largest_number_of_an_id_holds_for_all(tf):
    rows = tf.nn.embedding_lookup(make(tf), tf.constant([[7, 8], [7, 8]], tf.int64), blocknums=[[1, 0], [2, 0]])
    assert run(tf, rows).tolist() == [[[1, 1, 1, 1, 0, 0], [0] * 6]] * 2


@pytest.mark.parametrize("default_id", [None, 9])
@pytest.mark.parametrize("combiner", ["sum", "mean"])
def test_sparse_lookups(tf, combiner, default_id):
    table = make(tf, 1, 3)
    ids = tf.SparseTensor([[0, 0], [0, 1], [0, 2], [2, 0]], tf.constant([7, 8, -1, 7], tf.int64), [4, 3])
    numbers = tf.constant([1, 3, 3, 2])
    first = np.array([2, 2, 1]) / (1 if combiner == "sum" else 2)
    safe = tf.contrib.layers.safe_embedding_lookup_sparse(
        table, ids, combiner=combiner, blocknums=numbers, default_id=default_id
    )
    empty = [0, 0, 0] if default_id is None else [1, 1, 1]
    np.testing.assert_allclose(run(tf, safe), [first, empty, [1, 1, 0], empty])
    positive = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([7, 8, 7], tf.int64), [4, 3])
    plain = tf.nn.embedding_lookup_sparse(table, positive, None, combiner=combiner, blocknums=[1, 3, 2])
    np.testing.assert_allclose(run(tf, plain), [first, [0, 0, 0], [1, 1, 0]])


def test_max_norm_is_of_the_whole_row(tf):
    rows = tf.nn.embedding_lookup(make(tf), [1, 2], blocknums=[1, 3], max_norm=1.0)
    expected = [[2**-0.5] * 2 + [0] * 4, [6**-0.5] * 6]
    np.testing.assert_allclose(run(tf, rows), expected, rtol=1e-5)


def test_an_empty_batch(tf):
    rows = tf.nn.embedding_lookup(make(tf), tf.zeros([0], tf.int64), blocknums=tf.zeros([0], tf.int32))
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(rows))
    assert run(tf, train, rows).shape == (0, 6)


@pytest.mark.parametrize("number", [-1, 4])
def test_a_number_of_blocks_out_of_range_is_refused(tf, number):
    number = tf.placeholder_with_default(np.array([number], np.int32), [1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="blocknums of v"):
        run(tf, tf.nn.embedding_lookup(make(tf), [1], blocknums=number))


def test_bad_arguments_are_refused_by_name(tf):
    table = make(tf)
    cases = {
        "blocknums": lambda: tf.nn.embedding_lookup(table, [1]),
        "blocknums must have the shape of ids, \\(1,\\), got \\(2,\\)": lambda: tf.nn.embedding_lookup(
            table, [1], blocknums=[1, 2]
        ),
        "max_norm must be positive, or None, got -1": lambda: tf.nn.embedding_lookup(
            table, [1], blocknums=[1], max_norm=-1
        ),
        "ev_init_value": lambda: tf.nn.embedding_lookup(table, [1], blocknums=[1], ev_init_value=[[1.0] * 6]),
        "embedding_block_dimension": lambda: make(tf, 0, 2, name="a"),
        "embedding_block_num": lambda: make(tf, 2, -1, name="b"),
        "embedding_block_num ": lambda: make(tf, 2, 1.5, name="c"),
        "steps_to_live": lambda: make(tf, name="d", steps_to_live=-2),
    }
    for message, lookup in cases.items():
        with pytest.raises(ValueError, match=message.strip()):
            lookup()


# Hash tables.


@pytest.mark.parametrize("shape", [3, [3], [2, 2]])
@pytest.mark.parametrize("parts", [None, 2])
def test_a_hash_table_trains_the_ids_looked_up(tf, shape, parts):
    from tensorflow.python.ops.hash_table import hash_table

    table = tf.get_hash_table(
        "t",
        shape,
        initializer=tf.zeros_initializer(),
        partitioner=None if parts is None else hash_table.FixedSizeHashTablePartitioner(parts),
    )
    row = [3] if shape == 3 else shape
    first, second = table.lookup(tf.constant([0, 1, 60000], tf.int64)), tf.nn.embedding_lookup(table, [0, 3])
    everything = table.lookup([0, 1, 2, 3, 60000])
    train = [tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(rows)) for rows in (first, second)]
    assert first.shape.as_list() == [3, *row] and table.dtype == tf.float32
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for op in train:
            session.run(op)
        found, size = session.run([everything, table.size()])
    np.testing.assert_array_equal(found.reshape(5, -1)[:, 0], [-2, -1, 0, -1, -1])
    assert size == 4 and len(table.partitions) == (parts or 1)


def test_hash_tables_are_found_by_name(tf):
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        first, second = tf.get_hash_table("a", [2]), tf.get_hash_table("a", [2])
        assert first.partitions == second.partitions and first.name == "s/a"
        tf.get_variable("c", [2])
        with pytest.raises(ValueError, match="no EmbeddingVariable"):
            tf.get_hash_table("c", [2])


def test_bad_hash_tables_are_refused_by_name(tf):
    cases = {
        "embedding_dim": lambda: tf.get_hash_table("a", 0),
        "children": lambda: tf.get_hash_table("a", 2, children=["b"]),
        "synchronization": lambda: tf.get_hash_table("a", 2, synchronization=tf.VariableSynchronization.ON_READ),
        "blocknums": lambda: tf.get_hash_table("a", 2).lookup([1], blocknums=[1]),
    }
    for message, make_table in cases.items():
        with pytest.raises(ValueError, match=message):
            make_table()
