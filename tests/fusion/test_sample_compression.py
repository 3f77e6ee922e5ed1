"""`tf.graph_optimizer.enable_sample_awared_graph_compression`: one row of a user against many items."""

import numpy as np
import pytest
import tensorflow as tf

ITEMS = 7


def _model():
    """(user's inputs, items' inputs, probabilities, the user's vector)."""
    user, tags = (
        tf.placeholder(tf.float32, [None, 3], name="user"),
        tf.sparse_placeholder(tf.int64, [None, None], "tags"),
    )
    item, names = tf.placeholder(tf.float32, [None, 2], name="item"), tf.placeholder(tf.string, [None], name="names")
    table = tf.get_variable("table", [10, 4])
    of_user = tf.concat([user, tf.nn.safe_embedding_lookup_sparse(table, tags, combiner="mean")], 1)
    of_user = tf.layers.dense(of_user, 5, tf.nn.relu)
    ids = tf.strings.to_hash_bucket_fast(names, 10)
    of_item = tf.concat([item, tf.nn.embedding_lookup(table, ids)], 1)
    both = tf.concat([of_user, of_item, tf.layers.dense(of_item, 5) * of_user], 1)
    return [user, tags], [item, names], tf.sigmoid(tf.layers.dense(both, 1)), of_user


def _values(rows):
    rng = np.random.default_rng(1)
    user = np.repeat(rng.normal(size=(1, 3)), rows, 0)
    indices = [[row, k] for row in range(rows) for k in range(2)]
    tags = tf.SparseTensorValue(indices, np.tile([3, 8], rows), [rows, 2])
    items = [np.random.default_rng(2).normal(size=(ITEMS, 2)), [f"item {k}" for k in range(ITEMS)]]
    return [user, tags], items


def test_the_result_is_that_of_the_repeated_user_and_the_users_side_has_one_row():
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        users, items, result, of_user = _model()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            weights = session.run(tf.global_variables())
            values = [*zip(users, _values(ITEMS)[0]), *zip(items, _values(ITEMS)[1])]
            expected = session.run(result, dict(values))
    with tf.Graph().as_default() as graph:
        users, items, result, of_user = _model()
        tf.graph_optimizer.enable_sample_awared_graph_compression(users, items, ITEMS)
        with tf.Session(graph=graph) as session:
            for variable, value in zip(tf.global_variables(), weights):
                variable.load(value, session)
            values = [*zip(users, _values(1)[0]), *zip(items, _values(1)[1])]
            got, rows = session.run([result, of_user], dict(values))
    assert rows.shape == (1, 5) and got.shape == (ITEMS, 1)
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_the_number_of_items_may_be_a_tensor():
    user, item = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 2])
    both = tf.concat([tf.square(user), item], 1)
    tf.graph_optimizer.enable_sample_awared_graph_compression([user], [item], tf.shape(item)[0])
    with tf.Session() as session:
        for rows in (1, 4, 0):
            got = session.run(both, {user: [[1, 2]], item: np.ones([rows, 2])})
            np.testing.assert_array_equal(got, [[1, 4, 1, 1]] * rows if rows else np.zeros([0, 4]))


def test_texts_of_both_sides_are_crossed():
    user, item = tf.placeholder(tf.string, [None]), tf.placeholder(tf.string, [None])
    cross = tf.strings.join([user, item], "_")
    tf.graph_optimizer.enable_sample_awared_graph_compression([user], [item], 2)
    with tf.Session() as session:
        assert session.run(cross, {user: ["u"], item: ["a", "b"]}).tolist() == [b"u_a", b"u_b"]


def test_what_has_no_rows_to_repeat_is_refused_where_it_meets_items():
    compress = tf.graph_optimizer.enable_sample_awared_graph_compression
    user, item = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 2])
    tf.reshape(item, [tf.shape(user)[0], -1], name="by_users_rows")
    with pytest.raises(ValueError, match="is read by by_users_rows.* together with items"):
        compress([user], [item], 2)
    with tf.Graph().as_default():
        tags, item = tf.sparse_placeholder(tf.float32), tf.placeholder(tf.float32, [None, None])
        tf.sparse_tensor_dense_matmul(tags, item)
        with pytest.raises(ValueError, match="of the user's side"):
            compress([tags], [item], 2)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (lambda x, y: ([], [y], 2), ValueError, "user_tensors must be at least one tensor"),
        (lambda x, y: ([x], [], 2), ValueError, "item_tensors must be at least one tensor"),
        (lambda x, y: ([x], [x], 2), ValueError, "must differ"),
        (lambda x, y: ([3], [y], 2), TypeError, "user_tensors must be tensors"),
        (lambda x, y: ([x], [y], 2.5), ValueError, "item_size must be an integer scalar, got float32"),
        (lambda x, y: ([x], [y], [2]), ValueError, "item_size must be an integer scalar, got int32 of shape"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, message):
    x, y = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    with pytest.raises(error, match=message):
        tf.graph_optimizer.enable_sample_awared_graph_compression(*arguments(x, y))
