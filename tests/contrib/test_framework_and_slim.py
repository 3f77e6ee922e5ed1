"""tf.contrib.framework, slim, losses, metrics, lookup, data, feature_column and the small modules beside them."""

import numpy as np
import pytest
import tensorflow as tf

F = tf.contrib.framework
slim = tf.contrib.slim


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches, feed=None):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        return sess.run(fetches, feed)


# framework


def test_arg_scope_and_variables():
    @F.add_arg_scope
    def layer(x, factor=1):
        return x * factor

    with F.arg_scope([layer], factor=3):
        assert layer(2) == 6 and layer(2, factor=1) == 2
    assert F.has_arg_scope(layer) and F.arg_scoped_arguments(layer) == ("factor",)
    with tf.variable_scope("a"):
        v = F.model_variable("v", [2], regularizer=tf.contrib.layers.l2_regularizer(1.0))
        w = F.variable("w", [2], trainable=False)
    local = F.local_variable(1, name="l")
    assert F.get_model_variables() == [v] and F.get_variables("a") == [v, w] and F.get_local_variables() == [local]
    assert F.get_unique_variable("a/v") is v and F.get_variables_by_suffix("w") == [w]
    assert F.get_variables_by_name("v", scope="a") == [v] and F.filter_variables([v, w], include_patterns=["v:0$"]) == [
        v
    ]
    assert F.get_variables_to_restore(exclude=["a/w"]) == [v] and F.get_trainable_variables() == [v]
    assert len(tf.losses.get_regularization_losses()) == 1
    step = F.create_global_step()
    assert F.get_global_step() is step is F.get_or_create_global_step()


def test_checkpoint_functions(tmp_path):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
        assert F.list_variables(checkpoint_dir=str(tmp_path)) == [("v", [2])]
        assert F.load_variable(checkpoint_dir=str(tmp_path), name="v").tolist() == [1.0, 2.0]
        assert F.load_checkpoint(filepattern=path).has_tensor("v")
        session.run(v.assign([0.0, 0.0]))
        F.assign_from_checkpoint_fn(path, {"v": v})(session)
        assert session.run(v).tolist() == [1.0, 2.0]
        assign, feed = F.assign_from_values({"v": np.array([5.0, 6.0])})
        session.run(assign, feed)
        assert session.run(v).tolist() == [5.0, 6.0]
    with tf.variable_scope("new"):
        w = tf.get_variable("v", [2])
    F.init_from_checkpoint(checkpoint_dir=path, assignment_map={"v": "new/v"})
    assert run(w).tolist() == [1.0, 2.0]


def test_remapping_initializers(tmp_path):
    for name, words in (("old", "a\nb\n"), ("new", "b\nc\na\n")):
        (tmp_path / name).write_text(words)
    tf.get_variable("bias", initializer=[[1.0], [2.0]])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    bias = F.load_linear_multiclass_bias_initializer(path, "bias", 3, old, new)
    got = tf.get_variable("b", [3, 1], initializer=bias)
    from tensorflow.contrib.framework.python.ops import checkpoint_ops as info  # The deep path.

    assert info.load_linear_multiclass_bias_initializer is F.load_linear_multiclass_bias_initializer
    slot = F.load_variable_slot_initializer(
        path, "bias", None, 3, 1, old_row_vocab_file=old, new_row_vocab_file=new, initializer=tf.ones_initializer()
    )
    other = tf.get_variable("s", initializer=slot([3, 1], tf.float32))
    b, s = run([got, other])
    assert b.ravel().tolist() == [2.0, 0.0, 1.0] and s.ravel().tolist() == [2.0, 1.0, 1.0]


def test_with_shape():
    x = tf.placeholder(tf.float32)
    known = tf.zeros([2, 3])
    assert F.with_shape([2, 3], known) is known
    checked, same = F.with_shape([2, None], x), F.with_same_shape(known, x)
    assert checked.shape.as_list() == [2, None]
    assert run([checked, same], {x: np.ones([2, 3])})[0].shape == (2, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape"):
        run(checked, {x: np.ones([3, 2])})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape"):
        run(F.with_shape(tf.constant([2, 3]), x), {x: np.ones([3, 2])})
    with pytest.raises(ValueError, match="Wrong shape"):
        F.with_shape([3, 3], known)
    with pytest.raises(ValueError, match="int32"):
        F.with_shape(tf.constant([1.0]), x)


def test_tensor_helpers():
    a, b = tf.constant([1.0, 2.0]), tf.constant([[3.0]])
    assert run(F.reduce_sum_n([a, b])) == 6.0 and run(F.reduce_sum_n([a])) == 3.0
    with pytest.raises(ValueError, match="tensors"):
        F.reduce_sum_n([])
    with pytest.raises(ValueError, match="int32"):
        F.assert_scalar_int(tf.constant(1.0))
    assert F.assert_scalar_int(tf.constant(1)).dtype == tf.int32
    p, y = F.remove_squeezable_dimensions(tf.zeros([2, 1]), tf.ones([2]))
    assert p.shape.as_list() == [2] and run(y).tolist() == [1.0, 1.0]
    assert F.is_tensor(a) and run(F.sort(tf.constant([2, 1]))).tolist() == [1, 2]
    assert F.nest.flatten({"b": 1, "a": 2}) == [2, 1]


@pytest.mark.parametrize("resource", [False, True])
def test_zero_initializer(resource):
    v = tf.get_variable("v", [2, 3], use_resource=resource)
    op = F.zero_initializer(v)
    with tf.Session() as session:
        session.run(op)
        assert session.run(v).tolist() == [[0.0] * 3] * 2


def test_py_func_with_structures():
    def func(x, scale):
        return {"sum": x["a"] + x["b"], "scaled": x["a"] * scale}

    out = F.py_func(
        func, [{"a": tf.constant(1.0), "b": tf.constant(2.0)}], {"scale": tf.constant(5.0)},
        output_types={"sum": tf.float32, "scaled": tf.float32}, output_shapes={"sum": [], "scaled": []},
    )  # fmt: skip
    assert out["sum"].shape.as_list() == [] and run(out) == {"sum": 3.0, "scaled": 5.0}
    with pytest.raises(TypeError, match="args"):
        F.py_func(func, "x", output_types=tf.float32)


def test_placeholders_and_fuse_op():
    a = tf.placeholder(tf.float32, name="a")
    b = tf.sqrt(tf.square(a, name="b"), name="c")
    tf.identity(b, name="d")
    tf.negative(tf.get_default_graph().get_tensor_by_name("d:0"), name="e")
    assert F.get_placeholders(tf.get_default_graph()) == [a]
    with pytest.raises(TypeError, match="Graph"):
        F.get_placeholders("x")
    fused = F.fuse_op(tf.get_default_graph().as_graph_def(), ["a"], ["d"], [1], False, "op", "type")
    assert [(n.name, n.op, list(n.input)) for n in fused.node] == [
        ("a", "Placeholder", []), ("op", "type", ["a"]), ("d", "Identity", ["op"]), ("e", "Neg", ["d"]),
    ]  # fmt: skip
    with pytest.raises(TypeError, match="input_nodes"):
        F.fuse_op(fused, "a", ["d"], [1], False, "op", "type")
    with pytest.raises(ValueError, match="nothing"):
        F.fuse_op(fused, ["nothing"], ["d"], [1], False, "op", "type")


# slim


def test_slim_networks_under_both_paths():
    from tensorflow.contrib.slim.nets import resnet_v1, vgg
    from tensorflow.contrib.slim.python.slim.nets import resnet_v1 as other

    assert resnet_v1 is other
    with slim.arg_scope(vgg.vgg_arg_scope()):
        logits, ends = vgg.vgg_a(tf.zeros([1, 224, 224, 3]), num_classes=5, is_training=False)
    assert logits.shape.as_list() == [1, 5] and "vgg_a/conv1/conv1_1" in ends
    assert slim.conv2d is tf.contrib.layers.conv2d and slim.losses is tf.contrib.losses


def test_slim_learning_and_evaluation(tmp_path):
    x = tf.constant(np.eye(3, dtype=np.float32))
    y = slim.fully_connected(x, 1, activation_fn=None, weights_initializer=tf.zeros_initializer())
    slim.losses.mean_squared_error(y, tf.ones([3, 1]))
    total = slim.losses.get_total_loss()
    train_op = slim.learning.create_train_op(total, tf.train.GradientDescentOptimizer(0.5))
    loss = slim.learning.train(train_op, str(tmp_path), number_of_steps=20, log_every_n_steps=10, save_summaries_secs=0)
    assert loss < 0.05
    path = tf.train.latest_checkpoint(str(tmp_path))
    with tf.Graph().as_default():
        y = slim.fully_connected(x := tf.eye(3), 1, activation_fn=None)
        tf.train.get_or_create_global_step()
        value, update = slim.metrics.streaming_mean(y)
        got = slim.evaluation.evaluate_once("", path, str(tmp_path / "e"), eval_op=update, final_op=value)
        assert x.shape.as_list() == [3, 3]
    assert abs(got - 1) < 0.2


def test_slim_data(tmp_path):
    path = str(tmp_path / "f")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(3):
            example = tf.train.Example()
            example.features.feature["x"].int64_list.value.append(i)
            writer.write(example.SerializeToString())
    decoder = slim.tfexample_decoder.TFExampleDecoder(
        {"x": tf.FixedLenFeature([], tf.int64)}, {"x": slim.tfexample_decoder.Tensor("x")}
    )
    dataset = slim.dataset.Dataset(path, tf.TFRecordReader, decoder, 3, {"x": "a number"})
    provider = slim.dataset_data_provider.DatasetDataProvider(dataset, shuffle=False, num_epochs=1)
    (x,) = provider.get(["x"])
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with slim.queues.QueueRunners(session):
            assert [session.run(x) for _ in range(3)] == [0, 1, 2]


# losses and metrics


def test_losses_collect_themselves():
    a, b = tf.constant([1.0, 2.0]), tf.constant([0.0, 4.0])
    L = tf.contrib.losses
    values = [
        L.absolute_difference(a, b),
        L.mean_squared_error(a, b, weights=2.0),
        L.log_loss(tf.constant([0.5, 0.5]), tf.constant([1.0, 0.0])),
    ]
    hinge = L.hinge_loss(tf.constant([[0.5], [-2.0]]), tf.constant([[1.0], [0.0]]))  # Neither summed nor collected.
    total = L.get_total_loss(add_regularization_losses=False)
    got, total, hinge = run([values, total, hinge])
    assert hinge.tolist() == [[0.5], [0.0]]
    np.testing.assert_allclose(got, [1.5, 5.0, np.log(2)], rtol=1e-4)
    np.testing.assert_allclose(total, np.sum(got), rtol=1e-5)
    assert L.get_losses() == values


def test_metric_learning():
    embeddings = tf.constant(np.random.RandomState(0).normal(size=[6, 4]).astype(np.float32))
    labels = tf.constant([0, 0, 1, 1, 2, 2])
    M = tf.contrib.losses.metric_learning
    losses = [M.triplet_semihard_loss(labels, embeddings), M.lifted_struct_loss(labels, embeddings)]
    losses.append(M.npairs_loss(labels, embeddings, embeddings))
    losses.append(M.contrastive_loss(tf.constant([1, 0, 1, 0, 1, 0]), embeddings, embeddings[::-1]))
    grads = tf.gradients(tf.add_n(losses), embeddings)
    values, grad = run([losses, grads])
    assert np.isfinite(values).all() and np.isfinite(grad).all() and np.abs(grad).max() > 0


def test_streaming_metrics():
    M = tf.contrib.metrics
    p, y = tf.constant([0.9, 0.2, 0.6, 0.4]), tf.constant([1.0, 0.0, 0.0, 1.0])
    values, updates = M.aggregate_metric_map(
        {"mean": M.streaming_mean(p), "auc": M.streaming_auc(p, y), "acc": M.streaming_accuracy(tf.round(p), y)}
    )
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(updates)
        session.run(updates)
        got = session.run(values)
    np.testing.assert_allclose(got["mean"], 0.525)
    np.testing.assert_allclose(got["acc"], 0.5)
    np.testing.assert_allclose(got["auc"], 0.75, atol=0.02)
    assert run(M.confusion_matrix([0, 1, 1], [1, 1, 0])).tolist() == [[0, 1], [1, 1]]
    union = M.set_union(tf.constant([[1, 2]]), tf.constant([[2, 3]]))
    assert run(union).values.tolist() == [1, 2, 3]


# lookup, data, feature_column


def test_lookup():
    L = tf.contrib.lookup
    words = tf.constant(["a", "b"])
    table = L.HashTable(L.KeyValueTensorInitializer(words, tf.constant([10, 20], tf.int64)), -1)
    keys, values = table.export()
    query = tf.constant(["b", "z"])
    got = run(
        {
            "hash": table.lookup(query),
            "index": L.index_table_from_tensor(mapping=words).lookup(query),
            "oov": L.index_table_from_tensor(words, num_oov_buckets=1).lookup(query),
            "string": L.string_to_index(query, words, default_value=7),
            "typed": L.string_to_index_table_from_tensor(words).lookup(query),
            "back": L.index_to_string(tf.constant([1, 5], tf.int64), words, default_value="?"),
            "table": L.index_to_string_table_from_tensor(mapping=words).lookup(tf.constant([0, 9], tf.int64)),
            "size": table.size(),
            "export": [keys, values],
        }
    )
    assert {k: v.tolist() for k, v in got.items() if k not in ("size", "export")} == {
        "hash": [20, -1], "index": [1, -1], "oov": [1, 2], "string": [1, 7], "typed": [1, -1], "back": [b"b", b"?"],
        "table": [b"a", b"UNK"],
    }  # fmt: skip
    assert got["size"] == 2 and sorted(zip(*[e.tolist() for e in got["export"]])) == [(b"a", 10), (b"b", 20)]
    assert table.init is table.initializer and table.name.startswith("hash_table")
    for call in (L.index_table_from_tensor, L.index_to_string_table_from_tensor):
        with pytest.raises(ValueError, match="mapping"):
            call(None)
    with pytest.raises(ValueError, match="strings"):
        L.string_to_index_table_from_tensor([1, 2])


def test_lookup_from_files(tmp_path):
    path = tmp_path / "v"
    path.write_text("a\nb\n")
    L = tf.contrib.lookup
    tables = [L.string_to_index_table_from_file(str(path)), L.index_table_from_file(str(path))]
    assert [r.tolist() for r in run([t.lookup(tf.constant(["b"])) for t in tables])] == [[1], [1]]


def elements(dataset):
    row, rows = dataset.make_one_shot_iterator().get_next(), []
    with tf.Session() as session:
        try:
            while True:
                rows.append(session.run(row))
        except tf.errors.OutOfRangeError:
            return rows


def test_data_transformations():
    D = tf.contrib.data
    numbers = tf.data.Dataset.range(7)
    as_lists = lambda dataset: [r.tolist() for r in elements(dataset)]  # noqa: E731
    assert as_lists(numbers.apply(D.batch_and_drop_remainder(3))) == [[0, 1, 2], [3, 4, 5]]
    windows = numbers.apply(D.sliding_window_batch(3, window_shift=2, window_stride=2))
    assert as_lists(windows) == [[0, 2, 4], [2, 4, 6]]
    assert as_lists(numbers.apply(D.sliding_window_batch(5, stride=2))) == [[0, 1, 2, 3, 4], [2, 3, 4, 5, 6]]
    pairs = tf.data.Dataset.zip((numbers, {"x": numbers})).apply(D.sliding_window_batch(6))
    assert elements(pairs)[1][1]["x"].tolist() == [1, 2, 3, 4, 5, 6]
    padded = numbers.map(lambda n: tf.fill([n], n)).apply(D.padded_batch_and_drop_remainder(3, [None]))
    assert [r.shape for r in elements(padded)] == [(3, 2), (3, 5)]
    mixed = numbers.apply(D.sloppy_interleave(lambda n: tf.data.Dataset.from_tensors(n), 2))
    assert sorted(elements(mixed)) == list(range(7))
    reducer = D.Reducer(lambda _: tf.constant(0, tf.int64), lambda s, x: s + x, lambda s: s * 2)
    assert run(D.reduce_dataset(numbers, reducer)) == 42
    with pytest.raises(ValueError, match="stride"):
        D.sliding_window_batch(2, stride=1, window_shift=1)
    with pytest.raises(TypeError, match="dataset"):
        D.reduce_dataset([1], reducer)


def test_assert_element_shape():
    D = tf.contrib.data
    unknown = tf.data.Dataset.range(2).map(lambda n: tf.py_func(lambda n: np.zeros([n + 1, 2]), [n], tf.float64))
    checked = unknown.apply(D.assert_element_shape(tf.TensorShape([1, 2])))
    assert checked.output_shapes.as_list() == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        elements(checked)
    assert len(elements(unknown.apply(D.assert_element_shape(tf.TensorShape([None, 2]))))) == 2
    with pytest.raises(ValueError, match="shape"):
        tf.data.Dataset.from_tensors([1, 2]).apply(D.assert_element_shape(tf.TensorShape([3])))


def test_sequence_input_layer():
    S = tf.contrib.feature_column
    number = S.sequence_numeric_column("n")
    word = tf.feature_column.embedding_column(
        S.sequence_categorical_column_with_identity("w", 3), 2, initializer=tf.ones_initializer()
    )
    features = {
        "n": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2]),
        "w": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], np.array([0, 1, 2], np.int64), [2, 2]),
    }
    layer, lengths = S.sequence_input_layer(features, [word, number])
    assert tf.global_variables()[0].op.name == "sequence_input_layer/w_embedding/embedding_weights"
    got, length = run([layer, lengths])
    assert got.tolist() == [[[1, 1, 1], [2, 1, 1]], [[3, 1, 1], [0, 0, 0]]] and length.tolist() == [2, 1]
    with pytest.raises(ValueError, match="sequences"):
        S.sequence_input_layer(features, [tf.feature_column.numeric_column("n")])


def test_concatenate_context_input():
    from tensorflow.contrib.feature_column.python.feature_column import sequence_feature_column as module

    got = run(module.concatenate_context_input(tf.constant([[7.0], [8.0]]), tf.zeros([2, 2, 1])))
    assert got.tolist() == [[[0, 7], [0, 7]], [[0, 8], [0, 8]]]


# nn, summary, checkpoint, copy_graph, input_pipeline, stat_summarizer, keras, util


def test_alpha_dropout_keeps_mean_and_variance():
    x = tf.random_normal([100000], seed=1)
    got = run(tf.contrib.nn.alpha_dropout(x, 0.8, seed=2))
    assert abs(got.mean()) < 0.02 and abs(got.std() - 1) < 0.02
    assert tf.contrib.nn.alpha_dropout(x, 1.0) is x
    with pytest.raises(ValueError, match="keep_prob"):
        tf.contrib.nn.alpha_dropout(x, 1.5)


def test_flipped_cross_entropies():
    N = tf.contrib.nn
    z, y = tf.constant([[1.0, 2.0]]), tf.constant([[0.0, 1.0]])
    got = run(
        [
            N.deprecated_flipped_softmax_cross_entropy_with_logits(z, y),
            N.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(z, [1]),
            N.deprecated_flipped_sigmoid_cross_entropy_with_logits(z, y),
        ]
    )
    np.testing.assert_allclose(got[0], [np.log(np.exp(1) + np.exp(2)) - 2], rtol=1e-5)
    np.testing.assert_allclose(got[1], got[0])
    np.testing.assert_allclose(got[2], [[np.log1p(np.exp(1)), np.log1p(np.exp(-2))]], rtol=1e-5)


def test_scaled_softplus_and_its_gradients():
    x = tf.constant(np.linspace(-3, 3, 7), tf.float64)
    alpha, clip = tf.constant(0.7, tf.float64), tf.constant(2.0, tf.float64)
    y = tf.contrib.nn.scaled_softplus(x, alpha, clip)
    plain = tf.minimum(alpha * tf.nn.softplus(x / alpha), clip)
    got, want, got_grads, want_grads = run(
        [y, plain, tf.gradients(y, [x, alpha, clip]), tf.gradients(plain, [x, alpha, clip])]
    )
    np.testing.assert_allclose(got, want)
    for a, b in zip(got_grads, want_grads):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_sampled_losses_of_all_classes_are_softmax():
    r = np.random.RandomState(0)
    w, b, x = (r.normal(size=s).astype(np.float32) for s in ([6, 3], [6], [4, 3]))
    y = np.array([[0], [2], [5], [1]])
    sampled = (tf.constant(np.arange(6)), tf.ones([4, 1]), tf.ones([6]))
    loss = tf.contrib.nn.sampled_sparse_softmax_loss(w, b, y, x, 6, 6, sampled_values=sampled)
    ranked = tf.contrib.nn.rank_sampled_softmax_loss(w, b, y, x, 6, 5, 6, 1, sampled, 1.0, True, "div")
    got, ranked = run([loss, ranked])
    z = x @ w.T + b
    want = np.log(np.exp(z).sum(1)) - z[np.arange(4), y.ravel()]
    np.testing.assert_allclose(got, want, rtol=1e-4)
    # One class less makes the loss smaller, or keeps it where that class is the label.
    assert (ranked <= want + 1e-5).all() and (ranked > 0).all()
    with pytest.raises(ValueError, match="num_resampled"):
        tf.contrib.nn.rank_sampled_softmax_loss(w, b, y, x, 5, 5, 6, 1, None, 1.0, True, "div")


def test_forward_gradients():
    from tensorflow.contrib.nn.python.ops.fwd_gradients import fwd_gradients

    x = tf.constant([1.0, 2.0])
    (got,) = run(fwd_gradients([tf.stack([x[0] * x[1], x[0] ** 2])], [x], [tf.constant([1.0, 10.0])]))
    assert got.tolist() == [2.0 + 10.0, 2.0]


def test_summaries_in_event_files(tmp_path):
    S = tf.contrib.summary
    step = tf.train.get_or_create_global_step()
    writer = S.create_file_writer(str(tmp_path), flush_millis=100)
    with writer.as_default(), S.always_record_summaries():
        S.scalar("loss", 3.0, step=step)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), S.summary_writer_initializer_op()])
        session.run(S.all_summary_ops())
        session.run(writer.flush())
    events = [e for f in tmp_path.iterdir() for e in tf.train.summary_iterator(str(f))]
    assert [v.tag for e in events for v in e.summary.value] == ["loss"]
    with pytest.raises(NotImplementedError, match="create_file_writer"):
        S.create_db_writer("x.db")


def test_object_checkpoints(tmp_path):
    K = tf.contrib.checkpoint
    tracker, arrays = K.UniqueNameTracker(), K.NumpyState()
    for value in (1.0, 2.0):
        tracker.track(tf.Variable(value), "x")
    arrays.a = np.arange(3)
    root = tf.train.Checkpoint(tracker=tracker, arrays=arrays)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = root.save(str(tmp_path / "c"), session=session)
        names = {name for name, _ in tf.train.list_variables(path)}
        assert {"tracker/x/.ATTRIBUTES/VARIABLE_VALUE", "tracker/x_1/.ATTRIBUTES/VARIABLE_VALUE"} <= names
        arrays.a = np.zeros(2)
        root.restore(path).run_restore_ops(session)
        assert arrays.a.tolist() == [0, 1, 2]
    assert "digraph" in K.dot_graph_from_checkpoint(path) and len(K.list_objects(root)) >= 5
    with pytest.raises(ValueError, match="trackable"):
        tracker.track(5, "x")


def test_copy_graph():
    v = tf.Variable([1.0, 2.0], name="v")
    y = tf.square(v * 3.0, name="y")
    other = tf.Graph()
    copy = tf.contrib.copy_graph.copy_variable_to_graph(v, other, "s")
    z = tf.contrib.copy_graph.copy_op_to_graph(y, other, [copy], "s")
    assert copy.op.name == "s/v" and z.name == "s/y:0" and z.graph is other
    assert tf.contrib.copy_graph.get_copied_op(y, other, "s") is z
    with tf.Session(graph=other) as session:
        session.run(copy.initializer)
        assert session.run(z).tolist() == [9.0, 36.0]
    with pytest.raises(TypeError, match="Variable"):
        tf.contrib.copy_graph.copy_variable_to_graph(y, other)


def test_obtain_next_goes_round():
    counter = tf.get_variable("c", initializer=np.int64(-1), trainable=False)
    following = tf.contrib.input_pipeline.obtain_next(["a", "b"], counter)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(following) for _ in range(3)] == [b"a", b"b", b"a"]


def test_stat_summarizer():
    graph_def = tf.get_default_graph().as_graph_def()
    summarizer = tf.contrib.stat_summarizer.NewStatSummarizer(graph_def.SerializeToString())
    with tf.Session() as session:
        metadata = tf.RunMetadata()
        session.run(tf.constant(1.0) + 1.0, options=tf.RunOptions(trace_level=3), run_metadata=metadata)
    summarizer.ProcessStepStatsStr(metadata.step_stats.SerializeToString())
    assert "Run" in summarizer.GetOutputString()
    tf.contrib.stat_summarizer.DeleteStatSummarizer(summarizer)


def test_keras_is_tf_keras():
    from tensorflow.contrib.keras.api.keras.layers import Dense
    from tensorflow.contrib.keras.api.keras.preprocessing import text

    assert Dense is tf.keras.layers.Dense is tf.contrib.keras.layers.Dense
    assert text.Tokenizer is tf.keras.preprocessing.text.Tokenizer
    optimizer = tf.contrib.keras.optimizers.SGD(0.1, 0.9, 0.5, True)
    assert optimizer.get_config()["decay"] == pytest.approx(0.5)


def test_util_and_hooks():
    U = tf.contrib.util
    assert U.make_ndarray(U.make_tensor_proto([1, 2])).tolist() == [1, 2] and U.constant_value(tf.constant(3)) == 3
    tf.square(tf.constant(1.0))
    assert "Square" in U.ops_used_by_graph_def(tf.get_default_graph().as_graph_def())
    assert tf.contrib.hooks.ProfilerHook is tf.train.ProfilerHook
