"""Legacy feature columns of tf.contrib.layers against NumPy."""

import numpy as np
import pytest
import tensorflow as tf

C = tf.contrib.layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches, feed=None, values=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        for name, value in (values or {}).items():
            (variable,) = [v for v in tf.global_variables() if v.op.name == name]
            variable.load(value, sess)
        return sess.run(fetches, feed)


def sparse(rows, dtype=None):
    """A SparseTensor of ragged rows."""
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = np.array([v for row in rows for v in row], dtype)
    width = max([len(row) for row in rows] + [1])
    return tf.SparseTensor(np.array(indices, np.int64).reshape(-1, 2), values, [len(rows), width])


def dense(sparse_value, default=-1):
    out = np.full(sparse_value.dense_shape, default)
    for (i, j), value in zip(sparse_value.indices, sparse_value.values):
        out[i, j] = value
    return out.tolist()


def test_columns_with_equal_settings_are_equal():
    a, b = C.sparse_column_with_keys("a", ["x"]), C.sparse_column_with_keys("a", ["x"])
    assert a == b and hash(a) == hash(b) and a.key == b.key


def test_names():
    number, word = C.real_valued_column("n"), C.sparse_column_with_hash_bucket("w", 5)
    bucket = C.bucketized_column(number, [1.0])
    assert bucket.name == "n_bucketized"
    assert C.embedding_column(word, 2).name == "w_embedding"
    assert C.one_hot_column(word).name == "w_one_hot"
    assert C.weighted_sparse_column(word, "k").name == "w_weighted_by_k"
    assert C.crossed_column([word, bucket], 7).name == "n_bucketized_X_w"
    assert C.scattered_embedding_column("w", 8, 2, 1).name == "w_scattered_embedding"


def test_keys_give_positions_and_others_the_default():
    column = C.sparse_column_with_keys("w", ["a", "b"], default_value=-1)
    tensors = C.transform_features({"w": sparse([["b"], ["z", "a"]], object)}, [column])
    assert dense(run(tensors[column]), 9) == [[1, 9], [-1, 0]]


def test_integer_keys():
    column = C.sparse_column_with_keys("w", [7, 5], dtype=tf.int64)
    tensors = C.transform_features({"w": sparse([[5], [7]], np.int64)}, [column])
    assert dense(run(tensors[column])) == [[1], [0]]


def test_integerized_feature_is_taken_modulo():
    column = C.sparse_column_with_integerized_feature("i", 4)
    tensors = C.transform_features({"i": sparse([[3], [6]], np.int64)}, [column])
    assert dense(run(tensors[column])) == [[3], [2]]


def test_hash_bucket_of_integers_hashes_their_text():
    column = C.sparse_column_with_hash_bucket("i", 13, dtype=tf.int64)
    tensors = C.transform_features({"i": sparse([[42], [7]], np.int64)}, [column])
    got, want = run([tensors[column].values, tf.string_to_hash_bucket_fast(["42", "7"], 13)])
    assert got.tolist() == want.tolist()


def test_hash_keys_give_one_id_each():
    column = C.sparse_column_with_hash_bucket("w", 13, hash_keys=[[1, 2], [3, 4]])
    tensors = C.transform_features({"w": sparse([["x"], ["y"]], object)}, [column])
    strong = [tf.string_to_hash_bucket_strong(["x", "y"], 13, key) for key in ([1, 2], [3, 4])]
    got, want = run([tensors[column], strong])
    assert dense(got) == np.transpose(want).tolist()


def test_vocabulary_file(tmp_path):
    path = tmp_path / "words"
    path.write_text("a\nb\nc\n")
    column = C.sparse_column_with_vocabulary_file("w", str(path), num_oov_buckets=1, vocab_size=3)
    tensors = C.transform_features({"w": sparse([["c"], ["z"]], object)}, [column])
    assert column.length == 4
    assert dense(run(tensors[column])) == [[2], [3]]


def test_dense_strings_lose_empty_ones():
    column = C.sparse_column_with_keys("w", ["a", "b"])
    tensors = C.transform_features({"w": tf.constant([["a", ""], ["", "b"]])}, [column])
    assert dense(run(tensors[column]), 9) == [[0, 9], [9, 1]]


def test_bucketized_for_networks_and_linear_models():
    column = C.bucketized_column(C.real_valued_column("n", dimension=2), [0.0, 10.0])
    features = {"n": tf.constant([[-1.0, 5.0], [10.0, 0.0]])}
    layer = C.input_from_feature_columns(features, [column])
    logits, weights, bias = C.weighted_sum_from_feature_columns(features, [column], 1)
    table = np.arange(6, dtype=np.float32).reshape(6, 1)
    name = weights[column][0].op.name
    got_layer, got_logits = run([layer, logits], values={name: table, bias.op.name: [100.0]})
    assert got_layer.tolist() == [[1, 0, 0, 0, 1, 0], [0, 0, 1, 0, 1, 0]]
    assert got_logits.ravel().tolist() == [100 + 0 + 4, 100 + 2 + 4]


def test_equal_boundaries_count_once():
    assert C.bucketized_column(C.real_valued_column("n"), [1, 1, 2]).boundaries == (1, 2)


def test_embedding_combines():
    words = sparse([[0, 1], [], [2]], np.int64)
    column = C.embedding_column(C.sparse_column_with_integerized_feature("i", 3), 2, combiner="sqrtn")
    layer = C.input_from_feature_columns({"i": words}, [column], scope="s")
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
    got = run(layer, values={"s/i_embedding/weights": table})
    np.testing.assert_allclose(got, [(table[0] + table[1]) / np.sqrt(2), [0, 0], table[2]], rtol=1e-6)


def test_shared_embedding_is_one_variable():
    columns = [C.sparse_column_with_integerized_feature(name, 3) for name in "ab"]
    embedded = C.shared_embedding_columns(columns, 2)
    features = {name: sparse([[i]], np.int64) for i, name in enumerate("ab")}
    layer = C.input_from_feature_columns(features, embedded)
    (variable,) = tf.global_variables()
    assert variable.op.name.endswith("a_b_shared_embedding")
    table = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert run(layer, values={variable.op.name: table}).tolist() == [[0, 1, 2, 3]]


def test_weighted_column_in_all_three_uses():
    ids, weights = sparse([[0, 1], [2]], np.int64), sparse([[0.5, 2.0], [3.0]], np.float32)
    column = C.weighted_sparse_column(C.sparse_column_with_integerized_feature("i", 3), "w")
    features = {"i": ids, "w": weights}
    logits, variables, _ = C.weighted_sum_from_feature_columns(features, [column], 1, scope="l")
    hot = C.input_from_feature_columns(features, [C.one_hot_column(column)])
    embedded = C.input_from_feature_columns(features, [C.embedding_column(column, 1, combiner="sum")], scope="e")
    table = np.array([[1.0], [10.0], [100.0]], np.float32)
    names = [variables[column][0].op.name, "e/i_weighted_by_w_embedding/weights"]
    got = run([logits, hot, embedded], values=dict.fromkeys(names, table))
    assert got[0].ravel().tolist() == [20.5, 300.0] == got[2].ravel().tolist()
    assert got[1].tolist() == [[0.5, 2.0, 0.0], [0.0, 0.0, 3.0]]


def test_crossed_column_has_all_pairs_of_a_row():
    a, b = C.sparse_column_with_hash_bucket("a", 5), C.sparse_column_with_hash_bucket("b", 5)
    column = C.crossed_column([b, a], 1000)
    features = {"a": sparse([["x", "y"], ["x"]], object), "b": sparse([["p", "q"], ["p"]], object)}
    got = run(C.transform_features(features, [column])[column])
    assert got.dense_shape.tolist() == [2, 4]
    ids = dense(got)
    # Row 1 is the pair (x, p), the first of row 0; the other pairs differ.
    assert ids[1] == [ids[0][0], -1, -1, -1] and len(set(ids[0])) == 4


def test_crossed_column_of_numbers_and_crosses():
    bucket = C.bucketized_column(C.real_valued_column("n"), [0.0])
    word = C.sparse_column_with_integerized_feature("i", 4)
    column = C.crossed_column([C.crossed_column([bucket, word], 50), word], 50)
    features = {"n": tf.constant([[1.0], [-1.0]]), "i": sparse([[1], [1]], np.int64)}
    logits, weights, _ = C.weighted_sum_from_feature_columns(features, [column], 1)
    first, second = run(logits, values={weights[column][0].op.name: np.arange(50.0).reshape(50, 1)}).ravel()
    assert 0 <= first < 50 and 0 <= second < 50 and first != second


def test_scattered_embedding_is_the_mean_over_a_row():
    column = C.scattered_embedding_column("w", 100, 3, hash_key=C.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY)
    features = {"w": sparse([["x"], ["y"], ["x", "y"]], object)}
    x, y, both = run(C.input_from_feature_columns(features, [column]))
    np.testing.assert_allclose(both, (x + y) / 2, rtol=1e-5)
    assert len(set(np.concatenate([x, y]))) > 3


def test_real_valued_column_normalizes_and_casts():
    column = C.real_valued_column("n", dimension=2, dtype=tf.int64, normalizer=lambda x: x * 2)
    layer = C.input_from_feature_columns({"n": tf.constant([[1, 2]], tf.int64)}, [column])
    assert layer.dtype == tf.float32 and run(layer).tolist() == [[2.0, 4.0]]


def test_input_is_in_the_order_of_keys_and_cols_to_outs_holds_parts():
    first, second = C.real_valued_column("b"), C.real_valued_column("a")
    outs = {}
    features = {"a": tf.constant([[1.0]]), "b": tf.constant([[2.0]])}
    layer, parts = run(
        [C.input_from_feature_columns(features, [first, second], cols_to_outs=outs), list(outs.values())]
    )
    assert layer.tolist() == [[1.0, 2.0]]
    assert set(outs) == {first, second} and [p.ravel().tolist() for p in parts] == [[1.0], [2.0]]


def test_joint_weighted_sum_has_one_table():
    a, b = (C.sparse_column_with_integerized_feature(name, 2) for name in "ab")
    features = {"a": sparse([[0], [1]], np.int64), "b": sparse([[1], [0]], np.int64)}
    logits, (weights,), bias = C.joint_weighted_sum_from_feature_columns(features, [a, b], 1)
    table = np.array([[1.0], [2.0], [30.0], [40.0]], np.float32)
    got = run(logits, values={weights.op.name: table, bias.op.name: [0.5]})
    assert got.ravel().tolist() == [41.5, 32.5]


def test_sequence_input():
    number = C.real_valued_column("n", dimension=2)
    word = C.embedding_column(C.sparse_column_with_integerized_feature("i", 3), 2)
    ids = tf.SparseTensor([[0, 0, 0], [0, 1, 0], [0, 1, 1]], np.array([0, 1, 2], np.int64), [1, 2, 2])
    features = {"n": tf.constant([[[1.0, 2.0], [3.0, 4.0]]]), "i": ids}
    layer = C.sequence_input_from_feature_columns(features, [number, word], scope="s")
    table = np.array([[1.0, 1.0], [2.0, 4.0], [4.0, 8.0]], np.float32)
    got = run(layer, values={"s/i_embedding/weights": table})
    assert got.tolist() == [[[1, 1, 1, 2], [3, 6, 3, 4]]]


def test_sequence_input_refuses_crosses():
    word = C.sparse_column_with_hash_bucket("w", 5)
    with pytest.raises(ValueError, match="_CrossedColumn"):
        C.sequence_input_from_feature_columns({}, [C.embedding_column(C.crossed_column([word, word], 5), 2)])


def test_parsing_examples():
    number, word = C.real_valued_column("n", default_value=5.0), C.sparse_column_with_keys("w", ["a", "b"])
    feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"b"]))
    example = tf.train.Example(features=tf.train.Features(feature={"w": feature}))
    parsed = C.parse_feature_columns_from_examples([example.SerializeToString()], [number, word])
    n, w = run([parsed[number], parsed[word]])
    assert n.tolist() == [[5.0]] and dense(w) == [[1]]
    assert set(C.create_feature_spec_for_parsing([number, word])) == {"n", "w"}


def test_parsing_sequence_examples():
    column, context = C.real_valued_column("n"), C.sparse_column_with_keys("w", ["a"])
    example = tf.train.SequenceExample()
    example.context.feature["w"].bytes_list.value.append(b"a")
    for value in (1.0, 2.0):
        example.feature_lists.feature_list["n"].feature.add().float_list.value.append(value)
    got_context, got = C.parse_feature_columns_from_sequence_examples(example.SerializeToString(), [context], [column])
    values, words = run([got["n"], got_context["w"]])
    assert values.tolist() == [[1.0], [2.0]] and words.values.tolist() == [b"a"]


def test_placeholders():
    number, word = C.real_valued_column("n", dimension=3), C.sparse_column_with_hash_bucket("w", 5)
    got = C.make_place_holder_tensors_for_base_features([number, word])
    assert got["n"].shape.as_list() == [None, 3] and isinstance(got["w"], tf.SparseTensor)


def test_infer_real_valued_columns():
    (column,) = C.infer_real_valued_columns({"x": tf.zeros([2, 3, 4])})
    assert (column.name, column.dimension) == ("x", 12)


def test_gradients_reach_embeddings_and_weights():
    column = C.sparse_column_with_integerized_feature("i", 3)
    features = {"i": sparse([[0, 2], [2]], np.int64)}
    layer = C.input_from_feature_columns(features, [C.embedding_column(column, 1, combiner="sum")])
    logits, weights, _ = C.weighted_sum_from_feature_columns(features, [column], 1)
    table = [v for v in tf.trainable_variables() if v.op.name.startswith("input")][0]
    grads = tf.gradients(tf.reduce_sum(layer) + tf.reduce_sum(logits), [table, weights[column][0]])
    for grad in run([tf.convert_to_tensor(g) for g in grads]):
        assert grad.ravel().tolist() == [1.0, 0.0, 2.0]


def test_starting_from_a_checkpoint(tmp_path):
    value = np.arange(6, dtype=np.float32).reshape(3, 2)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("old", initializer=value)
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    column = C.embedding_column(
        C.sparse_column_with_integerized_feature("i", 3), 2, ckpt_to_load_from=path, tensor_name_in_ckpt="old"
    )
    assert run(C.input_from_feature_columns({"i": sparse([[2]], np.int64)}, [column])).tolist() == [[4.0, 5.0]]


BAD = {
    "dimension of a number": (lambda: C.real_valued_column("n", dimension=0), ValueError, "dimension"),
    "float dimension": (lambda: C.real_valued_column("n", dimension=1.5), TypeError, "dimension"),
    "default of another length": (
        lambda: C.real_valued_column("n", dimension=2, default_value=[1.0]),
        ValueError,
        "default_value",
    ),
    "float default of integers": (
        lambda: C.real_valued_column("n", default_value=1.5, dtype=tf.int64),
        TypeError,
        "default_value",
    ),
    "no buckets": (lambda: C.sparse_column_with_hash_bucket("w", 0), ValueError, "bucket_size"),
    "float ids": (lambda: C.sparse_column_with_integerized_feature("w", 2, dtype=tf.float32), ValueError, "dtype"),
    "no vocabulary size": (lambda: C.sparse_column_with_vocabulary_file("w", "f"), ValueError, "vocab_size"),
    "unsorted": (lambda: C.bucketized_column(C.real_valued_column("n"), [2, 1]), ValueError, "boundaries"),
    "bucketized word": (
        lambda: C.bucketized_column(C.sparse_column_with_hash_bucket("w", 2), [1]),
        TypeError,
        "source_column",
    ),
    "one crossed column": (
        lambda: C.crossed_column([C.sparse_column_with_hash_bucket("w", 2)], 5),
        ValueError,
        "columns",
    ),
    "crossed number": (lambda: C.crossed_column([C.real_valued_column("n")] * 2, 5), TypeError, "columns"),
    "half a checkpoint": (
        lambda: C.embedding_column(C.sparse_column_with_hash_bucket("w", 2), 2, ckpt_to_load_from="x"),
        ValueError,
        "tensor_name_in_ckpt",
    ),
    "shared by none": (lambda: C.shared_embedding_columns([], 2), ValueError, "sparse_id_columns"),
    "twice the same": (lambda: C.check_feature_columns([C.real_valued_column("n")] * 2), ValueError, "Duplicate"),
    "unknown combiner": (lambda: C.scattered_embedding_column("w", 5, 2, 1, combiner="max"), ValueError, "combiner"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments(case):
    call, error, match = BAD[case]
    with pytest.raises(error, match=match):
        call()


def test_embedding_in_a_linear_model_is_refused():
    column = C.embedding_column(C.sparse_column_with_integerized_feature("i", 3), 2)
    with pytest.raises(ValueError, match="i_embedding"):
        C.weighted_sum_from_feature_columns({"i": sparse([[0]], np.int64)}, [column], 1)
