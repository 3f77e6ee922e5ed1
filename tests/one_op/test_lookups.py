"""Sparse lookups of unmodified programs as one op: the results, gradients and graphs of the small ops."""

import contextlib
import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from .conftest import marks, ops_run, without_marks

ROWS = 40


def random_ids(seed, rows=6, most=4, dtype=np.int64, low=-2, high=ROWS):
    """A SparseTensorValue; some rows are empty, some ids below 0."""
    random = np.random.RandomState(seed)
    counts = random.randint(0, most + 1, rows)
    indices = [(row, column) for row, count in enumerate(counts) for column in range(count)]
    return tf.SparseTensorValue(
        np.array(indices, np.int64).reshape(-1, 2), random.randint(low, high, len(indices)).astype(dtype), [rows, most]
    )


def weights_of(ids, seed):
    values = np.random.RandomState(seed).uniform(-0.3, 2, len(ids.values)).astype(np.float32)
    return tf.SparseTensorValue(ids.indices, values, ids.dense_shape)


def values(build, marked, number):
    """Results and dense gradients of `build`, that returns (list of tensors, feed)."""
    with tf.Graph().as_default() as graph, contextlib.nullcontext() if marked else without_marks():
        results, feed = build()
        loss = sum(tf.reduce_sum(tf.sin(result) * result) for result in results)
        grads = [tf.convert_to_tensor(grad) for grad in tf.gradients(loss, tf.trainable_variables())]
        assert len(marks(graph)) == (number if marked else 0)
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            run = ops_run(session, [results, grads], feed)
            assert (
                run.count("GroupEmbeddingLookup") == run.count("GroupEmbeddingLookupGrad") == int(marked and number > 0)
            )
            return session.run([*results, *grads], feed)


def check_equal(build, number=1):
    pairs = list(zip(values(build, True, number), values(build, False, number)))
    assert len(pairs) > 1
    for one, other in pairs:
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def table(name="table", dim=5, rows=ROWS, **kwargs):
    return tf.get_variable(name, [rows, dim], initializer=tf.random_normal_initializer(seed=3), **kwargs)


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("default_id", [None, 7])
@pytest.mark.parametrize("use_resource", [False, True])
def test_lookup_gives_results_and_gradients_of_the_small_ops(combiner, weighted, default_id, use_resource):
    def build():
        value = random_ids(1)
        ids, weights = tf.sparse_placeholder(tf.int64), tf.sparse_placeholder(tf.float32)
        feed = {ids: value, weights: weights_of(value, 2)}
        given = weights if weighted else None
        variable = table(use_resource=use_resource)
        return [tf.nn.safe_embedding_lookup_sparse(variable, ids, given, combiner, default_id)], feed

    check_equal(build)


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_partitioned_variables(strategy):
    def build():
        with tf.variable_scope("scope", partitioner=tf.fixed_size_partitioner(3)):
            variable = table()
        ids = tf.SparseTensor(*random_ids(4, dtype=np.int32, low=0))
        return [tf.nn.safe_embedding_lookup_sparse(variable, ids, partition_strategy=strategy, combiner="sum")], None

    check_equal(build)


def test_ids_of_three_dimensions():
    def build():
        ids = tf.SparseTensor([[0, 0, 0], [0, 1, 1], [1, 1, 0]], tf.constant([3, 4, 3], tf.int64), [2, 2, 3])
        return [tf.nn.safe_embedding_lookup_sparse(table(), ids)], None

    check_equal(build)


def test_no_ids_at_all():
    def build():
        ids = tf.SparseTensor(np.zeros([0, 2], np.int64), np.zeros([0], np.int64), [4, 3])
        return [tf.nn.safe_embedding_lookup_sparse(table(), ids)], None

    check_equal(build)


def columns():
    city = tf.feature_column.categorical_column_with_hash_bucket("city", 30)
    item = tf.feature_column.categorical_column_with_identity("item", ROWS, default_value=0)
    other = tf.feature_column.categorical_column_with_identity("other", ROWS, default_value=0)
    word = tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b", "c"])
    initializer = tf.random_normal_initializer(seed=5)
    return [
        tf.feature_column.embedding_column(city, 4, initializer=initializer),
        *tf.feature_column.shared_embedding_columns([item, other], 6, combiner="sum", initializer=initializer),
        tf.feature_column.embedding_column(word, 2, combiner="sqrtn", initializer=initializer),
    ], [city, item, word]


def features():
    random = np.random.RandomState(0)
    return {
        "city": tf.constant(random.choice(["x", "y", "z", ""], [8, 2])),
        "item": tf.constant(random.randint(0, ROWS, [8, 3])),
        "other": tf.constant(random.randint(0, ROWS, [8, 1])),
        "word": tf.constant(random.choice(["a", "b", "d"], [8, 1])),
    }


def test_feature_columns_of_a_layer_are_one_op():
    def build():
        deep, _ = columns()
        return [tf.feature_column.input_layer(features(), deep)], None

    check_equal(build, number=4)


def test_linear_model():
    def build():
        _, wide = columns()
        return [tf.feature_column.linear_model(features(), wide, units=2)], None

    check_equal(build, number=3)


def test_losses_of_100_steps_are_those_of_the_small_ops():
    def losses(marked):
        with tf.Graph().as_default(), contextlib.nullcontext() if marked else without_marks():
            tf.set_random_seed(1)
            deep, wide = columns()
            net = tf.layers.dense(tf.feature_column.input_layer(features(), deep), 8, tf.nn.relu)
            logits = tf.layers.dense(net, 1) + tf.feature_column.linear_model(features(), wide)
            loss = tf.losses.sigmoid_cross_entropy(np.arange(8).reshape(8, 1) % 2, logits)
            train = tf.train.AdagradOptimizer(0.1).minimize(loss)
            with tf.Session() as session:
                session.run([tf.global_variables_initializer(), tf.tables_initializer()])
                return [session.run([loss, train])[0] for _ in range(100)]

    np.testing.assert_allclose(losses(True), losses(False), rtol=1e-5, atol=1e-6)


def test_a_fetch_needs_only_the_ids_of_its_own_lookups():
    with tf.Graph().as_default(), tf.Session() as session:
        first, second = tf.sparse_placeholder(tf.int64), tf.sparse_placeholder(tf.int64)
        rows = [tf.nn.safe_embedding_lookup_sparse(table(str(i)), ids) for i, ids in enumerate((first, second))]
        session.run(tf.global_variables_initializer())
        assert session.run(rows[1], {second: random_ids(0)}).shape == (6, 5)
        assert len(session.run(rows, {first: random_ids(1), second: random_ids(0)})) == 2


def test_sets_of_fetches_of_one_session_have_lookups_of_their_own():
    with tf.Graph().as_default(), tf.Session() as session:
        variables = [table(str(i), dim=5, use_resource=i % 2 == 0) for i in range(4)]
        ids = tf.SparseTensor([[0, 0]], tf.constant([1], tf.int64), [1, 1])
        rows = [
            tf.nn.safe_embedding_lookup_sparse(variable, ids, combiner=combiner, default_id=1)
            for variable, combiner in zip(variables, ["sum", "mean", "sqrtn", "sum"])
        ]
        session.run(tf.global_variables_initializer())
        for chosen in ([0, 1], [0, 2], [0, 3], [0, 1, 2, 3], [1, 3, 0], [0, 1]):
            values = session.run([[rows[i], variables[i][1:2]] for i in chosen])
            for found, expected in values:
                np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_ids_that_come_from_another_lookup():
    def build():
        ids = tf.SparseTensor(*random_ids(4, low=0))
        first = tf.nn.safe_embedding_lookup_sparse(table("first"), ids)
        chosen = tf.SparseTensor([[0, 0], [1, 0]], tf.cast(tf.argmax(first[:2], 1), tf.int64), [2, 1])
        return [first + 0.0, tf.nn.safe_embedding_lookup_sparse(table("second"), chosen)], None

    with tf.Graph().as_default() as graph, tf.Session() as session:
        results, _ = build()
        session.run(tf.global_variables_initializer())
        assert ops_run(session, results).count("GroupEmbeddingLookup") == 2 and len(marks(graph)) == 2
    with tf.Graph().as_default(), without_marks(), tf.Session() as session:
        expected, _ = build()
        session.run(tf.global_variables_initializer())
        expected = session.run(expected)
    with tf.Graph().as_default(), tf.Session() as session:
        results, _ = build()
        session.run(tf.global_variables_initializer())
        for one, other in zip(session.run(results), expected):
            np.testing.assert_allclose(one, other, rtol=1e-6)


def test_ids_out_of_range_are_refused():
    with tf.Graph().as_default(), tf.Session() as session:
        ids = tf.SparseTensor([[0, 0]], tf.constant([ROWS], tf.int64), [1, 1])
        rows = tf.nn.safe_embedding_lookup_sparse(table(), ids)
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"{ROWS}"):
            session.run(rows)


def test_a_gradient_by_the_sums_within_is_that_of_the_small_ops():
    def gradient(marked):
        with tf.Graph().as_default() as graph, contextlib.nullcontext() if marked else without_marks():
            rows = tf.nn.safe_embedding_lookup_sparse(table(), tf.SparseTensor(*random_ids(4)), combiner="sum")
            (read,) = [op.outputs[0] for op in graph.get_operations() if op.type == "SparseSegmentSum"]
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                return session.run(tf.gradients(tf.reduce_sum(rows**2), read)[0])

    np.testing.assert_allclose(gradient(True), gradient(False), rtol=1e-6)


def test_in_loops_and_conditions_lookups_are_left_as_they_are():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        variable = table()
        ids = tf.SparseTensor(*random_ids(4))
        rows = tf.cond(
            tf.constant(True), lambda: tf.nn.safe_embedding_lookup_sparse(variable, ids), lambda: tf.zeros([6, 5])
        )
        assert not marks(graph)
        session.run(tf.global_variables_initializer())
        assert session.run(rows).shape == (6, 5)


def test_clipped_rows_are_left_as_they_are():
    with tf.Graph().as_default() as graph:
        tf.nn.safe_embedding_lookup_sparse(table(), tf.SparseTensor(*random_ids(4)), max_norm=1.5)
        assert not marks(graph)


def test_a_lookup_waits_for_what_it_waited_for():
    with tf.Graph().as_default(), tf.Session() as session:
        variable = table()
        ids = tf.SparseTensor([[0, 0]], tf.constant([1], tf.int64), [1, 1])
        with tf.control_dependencies([tf.assign(variable, tf.fill([ROWS, 5], 3.0))]):
            rows = tf.nn.safe_embedding_lookup_sparse(variable, ids)
        session.run(tf.global_variables_initializer())
        assert session.run(rows).tolist() == [[3.0] * 5]


def test_names_and_ops_of_the_graph_are_those_without_marks():
    def names(marked):
        with tf.Graph().as_default() as graph, contextlib.nullcontext() if marked else without_marks():
            deep, _ = columns()
            tf.feature_column.input_layer(features(), deep)
            tf.random_uniform([], name="seeded")
            ours = {op.name for op in marks(graph)}
            return {
                op.name: op.type for op in graph.get_operations() if "/lookup/" not in op.name and op.name not in ours
            }

    assert names(True) == names(False)


def test_released_tensorflow_runs_the_exported_graph(tmp_path, released_prediction):
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.int64, [None, 3])
        column = tf.feature_column.categorical_column_with_identity("item", ROWS)
        y = tf.feature_column.input_layer({"item": fed}, tf.feature_column.embedding_column(column, 4))
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": fed}, {"y": y})
        x = np.random.RandomState(0).randint(0, ROWS, [5, 3])
        expected = session.run(y, {fed: x})
    np.testing.assert_allclose(released_prediction(x, "y"), expected, rtol=1e-5, atol=1e-6)


def test_the_environment_leaves_lookups_as_they_are():
    code = """
import tensorflow as tf
ids = tf.SparseTensor([[0, 0]], tf.constant([1], tf.int64), [1, 1])
tf.nn.safe_embedding_lookup_sparse(tf.get_variable("v", [3, 2]), ids)
print([op.name for op in tf.get_default_graph().get_operations() if op.type == "IdentityN"])
"""
    environment = {**os.environ, "TF_DEEPREC_DISABLE_FUSIONS": "lookup"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, text=True, capture_output=True, check=True)
    assert done.stdout == "[]\n"
