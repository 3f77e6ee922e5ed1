"""Whole programs: the same training with and without."""

import numpy as np
import pytest
import tensorflow as tf

from fusion_helpers import check

BATCH, STEPS = 64, 20


def sparse(random, buckets, strings=False):
    """A sparse placeholder of 0 to 4 ids a row, and its value."""
    rows, columns = np.nonzero(random.rand(BATCH, 4) < 0.6)
    ids = random.randint(0, buckets, len(rows))
    values = np.array([f"id{i}" for i in ids]) if strings else ids
    place = tf.sparse_placeholder(tf.string if strings else tf.int64, [None, 4])
    return place, tf.SparseTensorValue(np.stack([rows, columns], 1), values, np.array([BATCH, 4]))


@pytest.mark.parametrize("optimizer", [tf.train.AdamOptimizer, tf.train.AdagradOptimizer])
def test_feature_columns(optimizer):
    tf.set_random_seed(1)
    random = np.random.RandomState(0)
    (a, of_a), (b, of_b) = sparse(random, 50), sparse(random, 50, strings=True)
    columns = tf.feature_column
    network = columns.input_layer(
        {"a": a, "b": b},
        [
            # With max_norm, for otherwise the lookup is one op anyway.
            columns.embedding_column(
                columns.categorical_column_with_identity("a", 50), 8, combiner="mean", max_norm=10.0
            ),
            columns.indicator_column(columns.categorical_column_with_hash_bucket("b", 30)),
        ],
    )
    labels = tf.constant(random.rand(BATCH, 1) < 0.5, tf.float32)
    hidden = tf.nn.l2_normalize(tf.layers.dense(network, 16, tf.nn.relu), 1)
    loss = tf.losses.sigmoid_cross_entropy(labels, tf.layers.dense(hidden, 1))
    train = optimizer(0.01).minimize(loss)
    with tf.control_dependencies([train]):
        weights = [variable.read_value() for variable in tf.trainable_variables()]
    fused = check([loss, weights], {a: of_a, b: of_b}, None, STEPS)
    assert {"select", "sparse_flatten", "one_hot_sum"} <= set(fused.templates())


def attention(queries, keys, lengths):
    """As the scripts of the DIN paper have it."""
    queries = tf.tile(tf.expand_dims(queries, 1), [1, tf.shape(keys)[1], 1])
    pairs = tf.concat([queries, keys, queries - keys, queries * keys], -1)
    scores = tf.layers.dense(tf.layers.dense(pairs, 20, tf.nn.sigmoid), 1)
    scores = tf.reshape(scores, [-1, 1, tf.shape(keys)[1]])
    mask = tf.expand_dims(tf.sequence_mask(lengths, tf.shape(keys)[1]), 1)
    scores = tf.where(mask, scores, tf.ones_like(scores) * (-(2**32) + 1))
    return tf.squeeze(tf.matmul(tf.nn.softmax(scores), keys), 1)


def test_attention():
    tf.set_random_seed(1)
    random = np.random.RandomState(0)
    table = tf.get_variable("table", initializer=random.randn(40, 12).astype(np.float32))
    items, history = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int64, [None, None])
    lengths = tf.placeholder(tf.int64, [None])
    pooled = attention(tf.nn.embedding_lookup(table, items), tf.nn.embedding_lookup(table, history), lengths)
    logits = tf.layers.dense(pooled, 1)[:, 0]
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(items % 2, tf.float32), logits=logits))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([train]):
        after = table.read_value()
    feeds = {
        items: random.randint(0, 40, [BATCH]),
        history: random.randint(0, 40, [BATCH, 9]),
        lengths: random.randint(1, 10, [BATCH]),
    }
    fused = check([loss, after], feeds, None, STEPS)
    assert fused.templates().count("select") >= 2
