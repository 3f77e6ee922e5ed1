"""tf.contrib.learn: graphs without an estimator, queues of examples, monitors that write, small models."""

import glob

import numpy as np
import pytest
import tensorflow as tf

L = tf.contrib.learn
X = np.random.RandomState(0).normal(size=[8, 3]).astype(np.float32)


def make_training():
    x = tf.constant(4.0)
    w = tf.get_variable("w", initializer=1.0)
    loss = tf.square(w - x, name="loss")
    step = tf.train.get_or_create_global_step()
    return loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)


def test_train_evaluate_and_infer(tmp_path):
    with tf.Graph().as_default() as graph:
        loss, train_op = make_training()
        got = L.train(graph, str(tmp_path), train_op, loss, steps=3, log_every_steps=1)
        assert np.isfinite(got)
    path = tf.train.latest_checkpoint(str(tmp_path))
    w = 4 - 3 * 0.8**3
    assert tf.train.load_variable(path, "w") == pytest.approx(w, rel=1e-5)
    with tf.Graph().as_default() as graph:
        loss, _ = make_training()
        results, step = L.evaluate(graph, str(tmp_path / "eval"), path, {"loss": loss}, max_steps=2)
        assert step == 3 and results["loss"] == pytest.approx((4 - w) ** 2, rel=1e-5)
        L.graph_actions.clear_summary_writers()
        [events] = glob.glob(str(tmp_path / "eval" / "events*"))
        values = [v for e in tf.train.summary_iterator(events) for v in e.summary.value]
        assert [v.tag for v in values] == ["loss"]
        assert L.infer(path, {"l": loss})["l"] == pytest.approx((4 - w) ** 2, rel=1e-5)
        assert [r["l"] for r in L.run_n({"l": loss}, n=2)] == [9.0, 9.0]
        x = tf.placeholder(tf.float32)
        assert [r["y"] for r in L.run_feeds({"y": x * 2}, [{x: 1.0}, {x: 2.0}])] == [2.0, 4.0]
        with pytest.raises(ValueError, match="output_dict"):
            L.run_feeds({}, [{}])
        with pytest.raises(ValueError, match="train_op"):
            L.train(graph, str(tmp_path), None, loss)
        with pytest.raises(ValueError, match="max_steps"):
            L.train(graph, str(tmp_path), loss, loss, steps=1, max_steps=1)


def write_examples(path):
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(4):
            example = tf.train.Example()
            example.features.feature["x"].int64_list.value.append(i)
            writer.write(example.SerializeToString())
    return path


def run_all(make):
    """All values of a queue's tensors, until it ends."""
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = make()
        session.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        values = []
        with pytest.raises(tf.errors.OutOfRangeError):
            for _ in range(100):
                values.append(session.run(tensors))
        coord.request_stop()
        coord.join(threads)
        return values


FEATURES = {"x": tf.FixedLenFeature([], tf.int64)}


@pytest.mark.parametrize("read_batch_size", [1, 2])
def test_queues_of_examples(tmp_path, read_batch_size):
    path = write_examples(str(tmp_path / "f"))
    options = dict(randomize_input=False, num_epochs=1, read_batch_size=read_batch_size)
    got = run_all(lambda: L.read_keyed_batch_examples(path, 2, tf.TFRecordReader, **options))
    assert [k.split(b":")[0] for keys, _ in got for k in keys] == [path.encode()] * 4
    assert [tf.train.Example.FromString(e).features.feature["x"].int64_list.value[0] for _, v in got for e in v] == [
        0, 1, 2, 3,
    ]  # fmt: skip
    got = run_all(lambda: L.read_batch_features(path, 2, FEATURES, tf.TFRecordReader, num_enqueue_threads=1, **options))
    assert [batch["x"].tolist() for batch in got] == [[0, 1], [2, 3]]


def test_other_readers_of_examples(tmp_path):
    path = write_examples(str(tmp_path / "f"))
    keyed = run_all(lambda: L.read_keyed_batch_features(path, 2, FEATURES, tf.TFRecordReader, num_epochs=1))
    shared = run_all(
        lambda: L.read_keyed_batch_features_shared_queue(path, 2, FEATURES, tf.TFRecordReader, num_epochs=1)
    )
    for got in keyed, shared:
        assert sorted(i for _, batch in got for i in batch["x"]) == [0, 1, 2, 3]
    records = run_all(lambda: L.read_batch_record_features(path, 2, FEATURES, num_epochs=2))
    assert sorted(i for batch in records for i in batch["x"]) == [0, 0, 1, 1, 2, 2, 3, 3]
    (tmp_path / "t").write_text("1\n2\n3\n")
    numbers = run_all(
        lambda: L.read_batch_examples(
            str(tmp_path / "t"), 2, tf.TextLineReader, num_epochs=1, seed=1, parse_fn=tf.string_to_number
        )
    )
    assert sorted(x for batch in numbers for x in batch) == [1, 2, 3]
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="No files match"):
            L.read_batch_examples(str(tmp_path / "none"), 2, tf.TextLineReader)
        with pytest.raises(ValueError, match="batch_size"):
            L.read_batch_examples(path, 0, tf.TFRecordReader)


def test_generator_input_fn():
    def generator():
        for i in range(4):
            yield {"a": np.array([i, 2 * i]), "y": np.array(i)}

    make = L.io.generator_input_fn(generator, "y", batch_size=4, num_epochs=1, shuffle=False)
    got = run_all(make)
    assert np.concatenate([features["a"] for features, _ in got])[:4].tolist() == [[0, 0], [1, 2], [2, 4], [3, 6]]
    assert np.concatenate([labels for _, labels in got])[:4].tolist() == [0, 1, 2, 3]
    with pytest.raises(TypeError, match="generator"):
        L.io.generator_input_fn([1])
    with tf.Graph().as_default(), pytest.raises(KeyError, match="z"):
        L.io.generator_input_fn(generator, "z")()


def test_data_that_are_no_frames_stay():
    assert L.extract_dask_data(X) is X and L.extract_dask_labels(X) is X
    assert L.preprocessing.setup_processor_data_feeder(X) is X


def test_monitors_that_write(tmp_path):
    with tf.Graph().as_default() as graph:
        loss, train_op = make_training()
        out = str(tmp_path / "m")
        dump, scalar = L.monitors.GraphDump(), tf.summary.scalar("s", loss)
        monitors = [
            L.monitors.CheckpointSaver(out, save_steps=2, saver=tf.train.Saver()),
            L.monitors.SummarySaver(scalar, save_steps=1, output_dir=out),
            L.monitors.StepCounter(every_n_steps=1, output_dir=out),
            L.monitors.LoggingTrainable(every_n=1),
            dump,
        ]
        L.train(graph, str(tmp_path / "t"), train_op, loss, steps=3, monitors=monitors)
        assert [type(m).__name__ for m in L.monitors.get_default_monitors(loss, scalar)] == [
            "PrintTensor",
            "SummarySaver",
        ]
    L.graph_actions.clear_summary_writers()
    assert tf.train.load_variable(out, "w") == pytest.approx(4 - 3 * 0.8**3, rel=1e-5)
    tags = [v.tag for f in glob.glob(out + "/events*") for e in tf.train.summary_iterator(f) for v in e.summary.value]
    assert tags.count("s") == 3 and tags.count("global_step/sec") == 2
    assert sorted(dump.data) == [1, 2, 3]
    assert dump.compare(dump, 2)[1] == {} and "loss:0" in dump.compare(dump, 2)[0]
    with pytest.raises(ValueError, match="step 9"):
        dump.compare(dump, 9)
    with pytest.raises(ValueError, match="save_secs"):
        L.monitors.CheckpointSaver(out, saver=1)


def test_logistic_regressor(tmp_path):
    labels = (X[:, 0] > 0).astype(np.float32)

    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
        p = tf.sigmoid(tf.reduce_sum(features * w, 1))
        return p, tf.losses.log_loss(labels, p), tf.assign_add(tf.train.get_global_step(), 1)

    estimator = L.LogisticRegressor(model_fn, [0.3], str(tmp_path)).fit(X, labels, steps=1)
    result = estimator.evaluate(X, labels)
    p = 1 / (1 + np.exp(-X.sum(1)))
    assert result["labels/prediction_mean"] == pytest.approx(p.mean(), rel=1e-4)
    assert result["labels/actual_label_mean"] == pytest.approx(labels.mean())
    assert result["accuracy/threshold_0.300000_mean"] == pytest.approx(np.mean((p >= 0.3) == labels))


def test_k_means(tmp_path):
    points = np.concatenate([X[:4] * 0.01, X[4:] * 0.01 + 5])
    estimator = L.KMeansClustering(2, str(tmp_path), initial_clusters=points[[0, 7]], use_mini_batch=False)

    def input_fn():
        return tf.train.limit_epochs(tf.constant(points), num_epochs=1), None

    estimator.fit(input_fn=lambda: (tf.constant(points), None), steps=5)
    want = np.stack([points[:4].mean(0), points[4:].mean(0)])
    np.testing.assert_allclose(estimator.clusters(), want, rtol=1e-4, atol=1e-5)
    assert list(estimator.predict_cluster_idx(input_fn=input_fn)) == [0] * 4 + [1] * 4
    distances = ((points[:, None] - want) ** 2).sum(2)
    np.testing.assert_allclose(estimator.transform(input_fn=input_fn), distances, rtol=1e-3, atol=1e-3)
    assert estimator.score(input_fn=input_fn, steps=1) == pytest.approx(distances.min(1).sum(), rel=1e-2, abs=1e-3)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_models(bidirectional):
    y = np.eye(2, dtype=np.float32)[[0, 1] * 4]
    with tf.Graph().as_default(), tf.Session() as session:
        linear = L.models.linear_regression_zero_init(tf.constant(X), tf.constant(X[:, 0]))
        logistic = L.models.logistic_regression_zero_init(tf.constant(X), tf.constant(y))
        names = [v.name for v in tf.global_variables()]
        assert names == [f"{m}_regression/{v}:0" for m in ("linear", "logistic") for v in ("weights", "bias")]
        model = L.models.get_rnn_model(
            4, "gru", 1, lambda x: tf.unstack(x[:, :, None], axis=1), bidirectional,
            lambda state, y: (state, tf.gradients(state, tf.trainable_variables()[-1])[0]), None, None, None, None, None,
        )  # fmt: skip
        state, gradient = model(tf.constant(X), None)
        session.run(tf.global_variables_initializer())
        (_, a), (p, b) = session.run([linear, logistic])
        assert a == pytest.approx(np.mean(X[:, 0] ** 2)) and b == pytest.approx(np.log(2)) and np.allclose(p, 0.5)
        assert session.run(state).shape == (8, 8 if bidirectional else 4) and np.any(session.run(gradient))
        with pytest.raises(ValueError, match="cell_type"):
            L.models.get_rnn_model(4, "x", 1, tf.unstack, False, None, None, None, None, None, None)(tf.constant(X), 0)


def test_sequences_to_sequences():
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.constant(X.reshape(2, 4, 3)), tf.constant(X[:6].reshape(2, 3, 3))
        encoder, decoder, targets = L.ops.seq2seq_inputs(x, y, 4, 3)
        cell = tf.nn.rnn_cell.BasicRNNCell(3)
        outputs, states, samples, _ = L.ops.rnn_seq2seq(encoder, decoder, cell)
        predictions, loss = L.ops.sequence_classifier(outputs, targets, samples)
        session.run(tf.global_variables_initializer())
        kernel, bias = session.run([v for v in tf.trainable_variables()][:2])
        d, t, o, s, first, p, value = session.run([decoder, targets, outputs, samples, states[0], predictions, loss])
    np.testing.assert_array_equal(d[0], 0)
    np.testing.assert_array_equal(d[1], t[0])
    state = first
    for inputs, output in zip(d, o):
        state = np.tanh(np.concatenate([inputs, state], 1) @ kernel + bias)
        np.testing.assert_allclose(output, state, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(p, np.stack(s, 1))
    logs = [z - np.log(np.exp(z).sum(1, keepdims=True)) for z in o]
    np.testing.assert_allclose(value, -sum((a * b).sum() for a, b in zip(t, logs)), rtol=1e-4)
