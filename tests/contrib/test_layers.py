"""tf.contrib.layers: lookups, encoders, crosses, targets; layers of tf_slim by their formulas."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from tensorflow.contrib.layers.python.layers import embedding_ops, target_column
from tensorflow.contrib.layers.python.ops import sparse_feature_cross_op

C = tf.contrib.layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches, feed=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        return sess.run(fetches, feed)


TABLE = np.random.RandomState(1).normal(size=[7, 3]).astype(np.float32)
ROWS = [[4, 1, 1], [], [-1], [0, 6]]
WEIGHTS = [[1.0, 0.5, -1.0], [], [2.0], [0.0, 3.0]]


def sparse(rows, dtype):
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    width = max(len(row) for row in rows)
    return tf.SparseTensor(indices, np.array([v for r in rows for v in r], dtype), [len(rows), width])


def combined(rows, weights, combiner, default_id):
    """safe_embedding_lookup_sparse in NumPy."""
    out = []
    for ids, factors in zip(rows, weights):
        pairs = [(i, w) for i, w in zip(ids, factors) if i >= 0 and (combiner == "sum" or w > 0)]
        if not pairs:
            out.append(np.zeros(3) if default_id is None else TABLE[default_id])
            continue
        total = sum(TABLE[i] * w for i, w in pairs)
        norm = {"sum": 1, "mean": sum(w for _, w in pairs), "sqrtn": np.sqrt(sum(w * w for _, w in pairs))}
        out.append(total / norm[combiner])
    return np.array(out)


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("default_id", [None, 2])
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("resource", [False, True])
def test_safe_embedding_lookup_sparse(combiner, default_id, parts, resource):
    with tf.variable_scope("", use_resource=resource):
        params = tf.get_variable(
            "t", initializer=TABLE if parts == 1 else None, shape=None if parts == 1 else [7, 3],
            partitioner=None if parts == 1 else tf.fixed_size_partitioner(parts),
        )  # fmt: skip
    assigns = []
    if parts > 1:
        rows = 0
        for part in params:
            size = part.shape.as_list()[0]
            assigns.append(part.assign(TABLE[rows : rows + size]))
            rows += size
    with tf.control_dependencies(assigns):
        ids, weights = sparse(ROWS, np.int64), sparse(WEIGHTS, np.float32)
    plain = C.safe_embedding_lookup_sparse(params, ids, None, combiner, default_id)
    weighted = C.safe_embedding_lookup_sparse(params, ids, weights, combiner, default_id)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(assigns)
        got_plain, got = sess.run([plain, weighted])
    ones = [[1.0] * len(row) for row in ROWS]
    np.testing.assert_allclose(got_plain, combined(ROWS, ones, combiner, default_id), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got, combined(ROWS, WEIGHTS, combiner, default_id), rtol=1e-5, atol=1e-6)


def test_safe_embedding_lookup_sparse_gradient_counts_ids():
    table = tf.get_variable("t", initializer=TABLE)
    result = C.safe_embedding_lookup_sparse(table, sparse(ROWS, np.int64), combiner="sum")
    grad = run(tf.convert_to_tensor(tf.gradients(tf.reduce_sum(result), table)[0]))
    # Empty rows look up id 0, and their result is replaced.
    assert grad[:, 0].tolist() == [1, 2, 0, 0, 1, 0, 1]


def test_safe_embedding_lookup_sparse_of_rank_3():
    ids = tf.SparseTensor([[0, 0, 0], [0, 1, 1], [1, 1, 0]], np.array([1, 2, 3], np.int64), [2, 2, 2])
    got = run(C.safe_embedding_lookup_sparse(tf.constant(TABLE), ids, combiner="mean"))
    np.testing.assert_allclose(got, [[TABLE[1], TABLE[2]], [np.zeros(3), TABLE[3]]])


def test_bad_combiner():
    with pytest.raises(ValueError, match="combiner"):
        C.safe_embedding_lookup_sparse(tf.constant(TABLE), sparse(ROWS, np.int64), combiner="max")
    with pytest.raises(ValueError, match="embedding_weights"):
        C.safe_embedding_lookup_sparse(None, sparse(ROWS, np.int64))


def test_embedding_lookup_unique():
    ids = np.array([[1, 1], [5, 1]])
    result = C.embedding_lookup_unique(tf.constant(TABLE), tf.constant(ids))
    assert result.shape.as_list() == [2, 2, 3]
    np.testing.assert_array_equal(run(result), TABLE[ids])


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("strategy", ["mod", "div"])
@pytest.mark.parametrize("weighted", [False, True])
def test_distributed_aggregation_is_embedding_lookup_sparse(combiner, strategy, weighted):
    rows = [[4, 1, 1], [3], [0, 6]]
    ids = sparse(rows, np.int64)
    weights = sparse([[1.0, 0.5, 2.0], [3.0], [1.0, 3.0]], np.float32) if weighted else None
    params = [tf.constant(TABLE[:3]), tf.constant(TABLE[3:5]), tf.constant(TABLE[5:])]
    want = tf.nn.embedding_lookup_sparse(params, ids, weights, partition_strategy=strategy, combiner=combiner)
    got = embedding_ops.embedding_lookup_sparse_with_distributed_aggregation(
        params, ids, weights, partition_strategy=strategy, combiner=combiner
    )
    got, want = run([got, want])
    np.testing.assert_allclose(got, want, rtol=1e-5)


def fingerprint(text):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(tf.raw_ops.Fingerprint(data=[text], method="farmhash64"))[0].view(np.uint64)[0]


def legacy_hash(values, buckets):
    """The combination of 64-bit values by 1.15's SparseFeatureCross, in Python's integers."""
    state, mask = 0xDECAFCAFFE, 2**64 - 1
    for value in values:
        signed = state - 2**64 if state >= 2**63 else state
        state = (state ^ (value + 0x9E3779B97F4A7800 + (state << 10) + (signed >> 4))) & mask
    return state % (buckets or 2**63 - 1)


CROSS = [[["a", "b"], ["c"], []], [["x"], ["y", "z"], ["x"]]]


@pytest.mark.parametrize("buckets", [0, 7, 2**40 + 1])
def test_feature_cross_by_the_older_hash(buckets):
    inputs = [sparse(rows, object) for rows in CROSS]
    got = run(sparse_feature_cross_op.sparse_feature_cross(inputs, hashed_output=True, num_buckets=buckets))
    hashes = {text: int(fingerprint(text)) for text in "abcxyz"}
    want, indices = [], []
    for i, rows in enumerate(zip(*CROSS)):
        for j, pair in enumerate(itertools.product(*rows)):
            want.append(legacy_hash([hashes[p] for p in pair], buckets))
            indices.append([i, j])
    assert got.values.tolist() == want and got.indices.tolist() == indices
    assert got.dense_shape.tolist() == [3, 2]


def test_feature_cross_of_integers_and_dense_tensors():
    numbers = sparse([[5], [6, 7]], np.int64)
    other = tf.constant([["p", "q"], ["r", "s"]])
    text = run(sparse_feature_cross_op.sparse_feature_cross([numbers, other]))
    assert text.values.tolist() == [b"5_X_p", b"5_X_q", b"6_X_r", b"6_X_s", b"7_X_r", b"7_X_s"]
    got = run(sparse_feature_cross_op.sparse_feature_cross([numbers, tf.constant([[1], [-2]])], True, 11))
    assert got.values.tolist() == [legacy_hash(p, 11) for p in ([5, 1], [6, -2], [7, -2])]


def test_feature_cross_with_a_hash_key_is_cores():
    inputs = [sparse(rows, object) for rows in CROSS]
    key = C.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
    got = sparse_feature_cross_op.sparse_feature_cross(inputs, True, 100, hash_key=key)
    want = tf.raw_ops.SparseCross(
        indices=[i.indices for i in inputs], values=[i.values for i in inputs], shapes=[i.dense_shape for i in inputs],
        dense_inputs=[], hashed_output=True, num_buckets=100, hash_key=key, out_type=tf.int64, internal_type=tf.string,
    )  # fmt: skip
    got, want = run([got, want.output_values])
    assert got.values.tolist() == want.tolist()


def test_feature_cross_of_an_empty_batch():
    empty = tf.SparseTensor(np.zeros([0, 2], np.int64), np.array([], object).astype(str), [0, 3])
    got = run(sparse_feature_cross_op.sparse_feature_cross([empty, empty], True, 5))
    assert got.values.size == 0 and got.dense_shape.tolist() == [0, 0]


def test_feature_cross_refuses_other_inputs():
    with pytest.raises(TypeError, match="list"):
        sparse_feature_cross_op.sparse_feature_cross(tf.constant([["a"]]))


def test_scattered_embedding_lookup_takes_parameters_by_hash():
    params = tf.constant(np.arange(50, dtype=np.float32))
    values = tf.constant([["a", "b"], ["a", "c"]])
    got = run(embedding_ops.scattered_embedding_lookup(params, values, dimension=4, hash_key=1))
    assert got.shape == (2, 2, 4) and got.dtype == np.float32
    assert got[0, 0].tolist() == got[1, 0].tolist() != got[0, 1].tolist()
    with pytest.raises(ValueError, match="dimension"):
        embedding_ops.scattered_embedding_lookup(params, values, dimension=0)
    with pytest.raises(ValueError, match="size"):
        embedding_ops.scattered_embedding_lookup([params, tf.zeros([3])], values, dimension=2)


def test_sampled_scattered_lookup_selects_components():
    params = tf.constant(np.arange(50, dtype=np.float32))
    words = sparse([["a", "b"], ["c"]], object)
    whole = embedding_ops._sampled_scattered_embedding_lookup_sparse(params, words, dimension=5, hash_key=3)
    some = embedding_ops._sampled_scattered_embedding_lookup_sparse(
        params, words, sampled_candidates=tf.constant([[1, 4], [0, 2]]), hash_key=3
    )
    signed = embedding_ops._sampled_scattered_embedding_lookup_sparse(
        params, words, dimension=5, hash_key=3, with_sign_hash=True
    )
    whole, some, signed = run([whole, some, signed])
    assert some.tolist() == [[whole[0, 1], whole[0, 4]], [whole[1, 0], whole[1, 2]]]
    np.testing.assert_array_equal(np.abs(signed[1]), whole[1])


def test_bow_encoder_averages():
    ids = tf.constant([[1, 2, 0], [3, 0, 0]])
    sparse_result = C.bow_encoder(ids, 4, 2, scope="bow")
    dense_result = C.bow_encoder(ids, 4, 2, sparse_lookup=False, scope="bow", reuse=True)
    (table,) = tf.trainable_variables()
    assert table.op.name == "bow/embeddings"
    table, by_rows, by_all = run([table, sparse_result, dense_result])
    # Id 0 is padding for the sparse lookup.
    np.testing.assert_allclose(by_rows, [(table[1] + table[2]) / 2, table[3]], rtol=1e-6)
    np.testing.assert_allclose(by_all, [table[[1, 2, 0]].mean(0), table[[3, 0, 0]].mean(0)], rtol=1e-6)


def test_embed_sequence_reuses_without_a_shape():
    ids = tf.constant([[1, 3], [3, 0]])
    first = C.embed_sequence(ids, 4, 2, scope="e")
    second = C.embed_sequence(ids, scope="e", reuse=True, unique=True)
    (table,) = tf.global_variables()
    assert table.op.name == "e/embeddings" and table in tf.contrib.framework.get_model_variables()
    a, b, table = run([first, second, table])
    np.testing.assert_array_equal(a, table[[[1, 3], [3, 0]]])
    np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="vocab_size"):
        C.embed_sequence(ids)


def test_regression_target_weighs_examples():
    target = C.regression_target(weight_column_name="w")
    logits, labels = tf.constant([[1.0], [4.0]]), tf.constant([0.0, 2.0])
    features = {"w": tf.constant([[1.0], [3.0]])}
    got = run(
        [
            target.training_loss(logits, labels, features),
            target.loss(logits, labels, features),
            target.logits_to_predictions(logits),
        ]
    )
    np.testing.assert_allclose(got[0], (1 * 1 + 3 * 4) / 2)
    np.testing.assert_allclose(got[1], (1 * 1 + 3 * 4) / 4)
    assert got[2].tolist() == [1.0, 4.0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_multi_class_target(n_classes):
    target = C.multi_class_target(n_classes)
    logits = np.random.RandomState(2).normal(size=[4, 1 if n_classes == 2 else 3]).astype(np.float32)
    labels = np.array([0, 1, 1, n_classes - 1])
    full = np.concatenate([np.zeros_like(logits), logits], 1) if n_classes == 2 else logits
    proba = np.exp(full) / np.exp(full).sum(1, keepdims=True)
    loss = target.training_loss(tf.constant(logits), tf.constant(labels), {})
    metrics = target.get_eval_ops({}, tf.constant(logits), tf.constant(labels))
    predictions = [target.logits_to_predictions(tf.constant(logits), proba=p) for p in (False, True)]
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        got_loss, (classes, got_proba) = sess.run([loss, predictions])
        updates = sess.run({k: v[1] for k, v in metrics.items()})
    np.testing.assert_allclose(got_loss, -np.log(proba[np.arange(4), labels]).mean(), rtol=1e-5)
    np.testing.assert_allclose(got_proba, proba, rtol=1e-5)
    assert classes.tolist() == full.argmax(1).tolist()
    np.testing.assert_allclose(updates["accuracy"], (full.argmax(1) == labels).mean())
    assert ("auc" in updates) == (n_classes == 2)


def test_svm_target_is_hinge_loss():
    target = target_column.binary_svm_target()
    loss = target.training_loss(tf.constant([[0.5], [-2.0]]), tf.constant([1.0, 1.0]), {})
    np.testing.assert_allclose(run(loss), (0.5 + 3.0) / 2)


def test_bad_targets():
    with pytest.raises(ValueError, match="n_classes"):
        C.multi_class_target(1)
    with pytest.raises(ValueError, match="metrics"):
        C.multi_class_target(2).get_eval_ops({}, tf.constant([[1.0]]), tf.constant([1]), metrics={("a", "b"): None})


def test_variables_and_collections_of_layers():
    x = tf.ones([2, 5])
    h = C.fully_connected(x, 3, weights_regularizer=C.l2_regularizer(0.5))
    C.layer_norm(h)
    C.batch_norm(h, scale=True)
    C.conv2d(tf.ones([1, 4, 4, 2]), 3, 3, scope="c")
    assert [v.op.name for v in tf.global_variables()] == [
        "fully_connected/weights", "fully_connected/biases", "LayerNorm/beta", "LayerNorm/gamma", "BatchNorm/beta",
        "BatchNorm/gamma", "BatchNorm/moving_mean", "BatchNorm/moving_variance", "c/weights", "c/biases",
    ]  # fmt: skip
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2
    weights, loss = run([tf.global_variables()[0], tf.losses.get_regularization_loss()])
    np.testing.assert_allclose(loss, 0.5 * 0.5 * (weights**2).sum(), rtol=1e-5)


def test_layer_norm_by_the_formula():
    x = np.random.RandomState(3).normal(size=[4, 6]).astype(np.float32)
    got = run(C.layer_norm(tf.constant(x)))
    np.testing.assert_allclose(got, (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True), rtol=1e-3, atol=1e-5)


def test_xavier_bounds():
    value = run(C.xavier_initializer(seed=1)([30, 20]))
    limit = np.sqrt(6.0 / 50)
    assert abs(value).max() <= limit and abs(value).max() > 0.95 * limit


def test_rev_block_and_recompute_grad_give_plain_gradients():
    x1, x2 = tf.ones([2, 2]), tf.ones([2, 2]) * 2

    def f(x):
        return tf.layers.dense(x, 2, use_bias=False, kernel_initializer=tf.ones_initializer())

    with tf.variable_scope("rev", use_resource=True):
        y1, y2 = C.rev_block(x1, x2, f, f, num_layers=1)
    # y1 = x1 + f(x2), y2 = x2 + g(y1)
    grads = tf.gradients(tf.reduce_sum(y1) + tf.reduce_sum(y2), [x1, x2])
    a, b, g1, g2 = run([y1, y2, *grads])
    assert a.tolist() == [[5, 5]] * 2 and b.tolist() == [[12, 12]] * 2
    assert g1.tolist() == [[3, 3]] * 2 and g2.tolist() == [[7, 7]] * 2

    @C.recompute_grad
    def square(x):
        return x * x

    x = tf.constant(3.0)
    assert run(tf.gradients(square(x), x)) == [6.0]


def test_summaries_and_optimize_loss():
    v = tf.get_variable("v", initializer=4.0)
    step = tf.train.get_or_create_global_step()
    train = C.optimize_loss(v * v, step, 0.25, "SGD", summaries=C.OPTIMIZER_SUMMARIES)
    C.summarize_tensor(v)
    C.summaries.summarize_variables()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run([v, step]) == [2.0, 1]
        assert tf.Summary.FromString(sess.run(tf.summary.merge_all())).value


def test_deep_paths_are_the_same_functions():
    from tensorflow.contrib.layers.python.layers import initializers, layers, utils
    from tensorflow.contrib.layers.python.layers.layers import fully_connected
    from tensorflow.contrib.layers.python.layers.regularizers import l2_regularizer

    assert layers.fully_connected is fully_connected is C.fully_connected
    assert initializers.xavier_initializer is C.xavier_initializer and l2_regularizer is C.l2_regularizer
    assert utils.collect_named_outputs
