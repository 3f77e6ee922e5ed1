"""tf.contrib.estimator: heads against NumPy, and what extends an estimator."""

import numpy as np
import pytest
import tensorflow as tf

_C = tf.contrib.estimator
_ROWS = 12


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def _run(head, logits, labels, mode=tf.estimator.ModeKeys.EVAL, features=None):
    """Predictions, loss and metrics of a head for fixed logits."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.get_or_create_global_step()
        labels = labels if isinstance(labels, dict) or labels is None else tf.constant(labels)
        features = {k: tf.constant(v) for k, v in (features or {"x": np.zeros([_ROWS, 1], np.float32)}).items()}
        logits = {k: tf.constant(v) for k, v in logits.items()} if isinstance(logits, dict) else tf.constant(logits)
        spec = head.create_estimator_spec(
            features,
            mode,
            logits,
            labels=labels,
            train_op_fn=lambda loss: tf.constant(b"trained") if loss is not None else None,
        )
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        if mode == tf.estimator.ModeKeys.TRAIN:
            return session.run([spec.loss, spec.train_op])
        session.run([update for _, update in (spec.eval_metric_ops or {}).values()])
        values = {name: value for name, (value, _) in (spec.eval_metric_ops or {}).items()}
        loss = spec.loss if spec.loss is not None else tf.constant(0.0)
        return session.run([spec.predictions, loss, values])


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _cross_entropy(logits, labels):
    return np.maximum(logits, 0) - logits * labels + np.log1p(np.exp(-np.abs(logits)))


def test_binary_classification_head(rng):
    logits = rng.normal(size=[_ROWS, 1]).astype(np.float32)
    labels = rng.integers(0, 2, [_ROWS, 1])
    predictions, loss, metrics = _run(_C.binary_classification_head(thresholds=[0.3]), logits, labels)
    np.testing.assert_allclose(predictions["logistic"], _sigmoid(logits), rtol=1e-5)
    np.testing.assert_allclose(loss, _cross_entropy(logits, labels).mean(), rtol=1e-5)
    hits = (_sigmoid(logits) > 0.3) == labels
    np.testing.assert_allclose(metrics["accuracy/positive_threshold_0.3"], hits.mean(), rtol=1e-5)


def test_multi_class_head(rng):
    logits = rng.normal(size=[_ROWS, 3]).astype(np.float32)
    labels = rng.integers(0, 3, [_ROWS, 1])
    predictions, loss, metrics = _run(_C.multi_class_head(3), logits, labels)
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    np.testing.assert_allclose(predictions["probabilities"], p, rtol=1e-5)
    np.testing.assert_allclose(loss, -np.log(p[np.arange(_ROWS), labels[:, 0]]).mean(), rtol=1e-5)
    np.testing.assert_allclose(metrics["accuracy"], (p.argmax(1) == labels[:, 0]).mean(), rtol=1e-6)


def test_regression_heads(rng):
    logits = rng.normal(size=[_ROWS, 1]).astype(np.float32)
    targets = rng.uniform(0, 3, [_ROWS, 1]).astype(np.float32)
    _, loss, _ = _run(_C.regression_head(), logits, targets)
    np.testing.assert_allclose(loss, ((logits - targets) ** 2).mean(), rtol=1e-5)
    predictions, loss, _ = _run(_C.poisson_regression_head(compute_full_loss=False), logits, targets)
    np.testing.assert_allclose(predictions["predictions"], np.exp(logits), rtol=1e-5)
    np.testing.assert_allclose(loss, (np.exp(logits) - targets * logits).mean(), rtol=1e-5)
    share = (targets / 3).astype(np.float32)
    predictions, loss, _ = _run(_C.logistic_regression_head(), logits, share)
    np.testing.assert_allclose(predictions["predictions"], _sigmoid(logits), rtol=1e-5)
    np.testing.assert_allclose(loss, _cross_entropy(logits, share).mean(), rtol=1e-5)


def test_multi_label_head(rng):
    logits = rng.normal(size=[_ROWS, 3]).astype(np.float32)
    labels = rng.integers(0, 2, [_ROWS, 3])
    weights = rng.uniform(0.5, 2, [_ROWS, 1]).astype(np.float32)
    head = _C.multi_label_head(3, weight_column="w", thresholds=[0.5], classes_for_class_based_metrics=[1])
    predictions, loss, metrics = _run(head, logits, labels, features={"w": weights})
    p = _sigmoid(logits)
    np.testing.assert_allclose(predictions["probabilities"], p, rtol=1e-5)
    each = _cross_entropy(logits, labels).mean(1, keepdims=True)
    np.testing.assert_allclose(loss, (each * weights).sum() / _ROWS, rtol=1e-5)
    np.testing.assert_allclose(metrics["average_loss"], (each * weights).sum() / weights.sum(), rtol=1e-5)
    hits = ((p > 0.5) == labels) * weights
    np.testing.assert_allclose(metrics["accuracy/positive_threshold_0.5"], hits.sum() / (weights.sum() * 3), rtol=1e-5)
    mean = (p[:, 1:2] * weights).sum() / weights.sum()
    np.testing.assert_allclose(metrics["probability_mean/class1"], mean, rtol=1e-5)


def test_multi_label_head_with_names_in_a_sparse_tensor():
    head = _C.multi_label_head(2, label_vocabulary=["cat", "dog"])
    logits = np.zeros([2, 2], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        labels = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["dog", "cat", "dog"], [2, 2])
        spec = head.create_loss({}, tf.estimator.ModeKeys.EVAL, logits, labels)
        session.run(tf.tables_initializer())
        np.testing.assert_array_equal(session.run(spec.processed_labels), [[0, 1], [1, 1]])


def test_multi_label_head_trains_and_serves(rng):
    logits = rng.normal(size=[_ROWS, 2]).astype(np.float32)
    labels = rng.integers(0, 2, [_ROWS, 2])
    head = _C.multi_label_head(2, loss_reduction=tf.losses.Reduction.SUM)
    loss, trained = _run(head, logits, labels, mode=tf.estimator.ModeKeys.TRAIN)
    np.testing.assert_allclose(loss, _cross_entropy(logits, labels).mean(1).sum(), rtol=1e-5)
    assert trained == b"trained"
    predictions, _, _ = _run(head, logits, None, mode=tf.estimator.ModeKeys.PREDICT)
    np.testing.assert_allclose(predictions["probabilities"], _sigmoid(logits), rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_classes": 1}, "at least 2"),
        ({"n_classes": 2, "thresholds": [1.5]}, "between 0 and 1"),
        ({"n_classes": 3, "label_vocabulary": ["a"]}, "list of 3"),
        ({"n_classes": 2, "classes_for_class_based_metrics": [2]}, r"in \[0, 2\)"),
        ({"n_classes": 2, "loss_reduction": "none"}, "loss_reduction"),
    ],
)
def test_multi_label_head_checks_its_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        _C.multi_label_head(**arguments)


def test_multi_head(rng):
    heads = [_C.regression_head(name="size"), _C.multi_class_head(3, name="kind")]
    logits = rng.normal(size=[_ROWS, 4]).astype(np.float32)
    size = rng.normal(size=[_ROWS, 1]).astype(np.float32)
    kind = rng.integers(0, 3, [_ROWS, 1])
    labels = {"size": tf.constant(0), "kind": tf.constant(0)}
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.get_or_create_global_step()
        labels = {"size": tf.constant(size), "kind": tf.constant(kind)}
        head = _C.multi_head(heads, [2.0, 0.5])
        specs = {
            mode: head.create_estimator_spec(
                {}, mode, tf.constant(logits), labels=labels, train_op_fn=lambda loss: tf.identity(loss)
            )
            for mode in ("eval", "train", "infer")
        }
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        p = np.exp(logits[:, 1:]) / np.exp(logits[:, 1:]).sum(1, keepdims=True)
        want = 2 * ((logits[:, :1] - size) ** 2).mean() - 0.5 * np.log(p[np.arange(_ROWS), kind[:, 0]]).mean()
        np.testing.assert_allclose(session.run(specs["eval"].loss), want, rtol=1e-5)
        np.testing.assert_allclose(session.run(specs["train"].train_op), want, rtol=1e-5)
        np.testing.assert_allclose(session.run(specs["infer"].predictions["kind", "probabilities"]), p, rtol=1e-5)
        assert {"loss/size", "accuracy/kind"} <= set(specs["eval"].eval_metric_ops)
        assert {"serving_default", "size", "kind/predict", "predict"} <= set(specs["infer"].export_outputs)
    with pytest.raises(ValueError, match="names"):
        _C.multi_head([_C.regression_head()])
    with pytest.raises(ValueError, match="must be 4"):
        head.create_estimator_spec({}, "infer", tf.zeros([2, 3]))


def _model_fn(optimizer):
    def model_fn(features, labels, mode):
        y = tf.layers.dense(features["x"], 1, kernel_initializer=tf.ones_initializer(), name="out")
        loss = None if mode == "infer" else tf.losses.mean_squared_error(labels, y)
        train = None if mode != "train" else optimizer().minimize(loss, tf.train.get_global_step())
        metrics = None if mode != "eval" else {"error": tf.metrics.mean_absolute_error(labels, y)}
        return tf.estimator.EstimatorSpec(mode, {"y": y}, loss, train, metrics)

    return model_fn


def _data(rng):
    x = rng.normal(size=[_ROWS, 2]).astype(np.float32)
    return x, x[:, :1] * 3


def _input(x, y):
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": x, "id": np.arange(len(x))}, y)).batch(len(x))


@pytest.mark.parametrize("towers", [1, 3])
def test_replicate_model_fn_trains_as_one_device(rng, tmp_path, towers):
    x, y = _data(rng)

    def wrapped():
        return _C.TowerOptimizer(tf.train.GradientDescentOptimizer(0.1))

    model_fn = _C.replicate_model_fn(
        _model_fn(wrapped), tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS, ["/cpu:0"] * towers
    )
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    estimator.train(_input(x, y))
    gradient = 2 * x.T @ (x.sum(1, keepdims=True) - y) / _ROWS
    np.testing.assert_allclose(estimator.get_variable_value("out/kernel"), 1 - 0.1 * gradient, rtol=1e-5)
    assert estimator.get_variable_value("global_step") == 1
    predicted = np.array([row["y"] for row in estimator.predict(_input(x, y))])
    kernel, bias = (estimator.get_variable_value(f"out/{n}") for n in ("kernel", "bias"))
    np.testing.assert_allclose(predicted, x @ kernel + bias, rtol=1e-5, atol=1e-6)
    metrics = estimator.evaluate(_input(x, y))
    np.testing.assert_allclose(metrics["error"], np.abs(predicted - y).mean(), rtol=1e-5)
    np.testing.assert_allclose(metrics["loss"], ((predicted - y) ** 2).mean(), rtol=1e-5)


def test_replicate_model_fn_needs_even_shares(rng, tmp_path):
    x, y = _data(rng)
    fixed = lambda: tf.data.Dataset.from_tensors(({"x": x}, y))  # noqa: E731
    model_fn = _C.replicate_model_fn(
        _model_fn(lambda: _C.TowerOptimizer(tf.train.AdamOptimizer)), devices=["/cpu:0"] * 5
    )
    with pytest.raises(ValueError, match="12 rows cannot be split evenly over 5"):
        tf.estimator.Estimator(model_fn, str(tmp_path)).train(fixed)


def test_clip_gradients_by_norm(rng, tmp_path):
    x, y = _data(rng)

    def clipped():
        return _C.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(1.0), 0.5)

    estimator = tf.estimator.Estimator(_model_fn(clipped), str(tmp_path))
    estimator.train(_input(x, y))
    step = np.concatenate(
        [(estimator.get_variable_value("out/kernel") - 1).ravel(), estimator.get_variable_value("out/bias")]
    )
    np.testing.assert_allclose(np.linalg.norm(step), 0.5, rtol=1e-4)


def test_forward_features_and_add_metrics(rng, tmp_path):
    x, y = _data(rng)
    estimator = tf.estimator.Estimator(_model_fn(lambda: tf.train.AdamOptimizer()), str(tmp_path))
    estimator.train(_input(x, y))
    forwarded = _C.forward_features(estimator, "id")
    assert [row["id"] for row in forwarded.predict(_input(x, y))] == list(range(_ROWS))
    with pytest.raises(ValueError, match="'missing' is not among"):
        next(_C.forward_features(estimator, ["missing"]).predict(_input(x, y)))
    with pytest.raises(TypeError, match="keys must be"):
        _C.forward_features(estimator, [1])
    more = _C.add_metrics(estimator, lambda predictions: {"mean": tf.metrics.mean(predictions["y"])})
    np.testing.assert_allclose(more.evaluate(_input(x, y))["mean"], x.sum(1).mean(), rtol=0.1, atol=0.05)


def test_exports_of_all_modes(rng, tmp_path):
    x, y = _data(rng)
    estimator = tf.estimator.Estimator(_model_fn(lambda: tf.train.AdamOptimizer()), str(tmp_path / "model"))
    estimator.train(_input(x, y))
    supervised = _C.build_raw_supervised_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 2])}, tf.placeholder(tf.float32, [None, 1])
    )
    folder = _C.export_all_saved_models(estimator, str(tmp_path / "all"), {"train": supervised, "eval": supervised})
    assert tf.saved_model.loader.maybe_saved_model_directory(folder.decode())
    serving = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 2])})
    folder = _C.export_saved_model_for_mode(estimator, str(tmp_path / "one"), serving)
    predict = tf.contrib.predictor.from_saved_model(folder)
    np.testing.assert_allclose(predict({"x": x})["y"], [row["y"] for row in estimator.predict(_input(x, y))], rtol=1e-5)
    again = _C.SavedModelEstimator(
        _C.export_saved_model_for_mode(estimator, str(tmp_path / "eval"), supervised, mode="eval")
    )
    np.testing.assert_allclose(
        again.evaluate(_input(x, y))["loss"], estimator.evaluate(_input(x, y))["loss"], rtol=1e-5
    )


def test_build_supervised_input_receiver_fn_from_input_fn(rng):
    x, y = _data(rng)
    receiver = _C.build_supervised_input_receiver_fn_from_input_fn(_input(x, y))()
    assert receiver.features["x"].shape.as_list() == [None, 2] and receiver.labels.shape.as_list() == [None, 1]


def test_call_logit_fn():
    seen = {}

    def logit_fn(features, mode, params):
        seen.update(mode=mode, params=params)
        return tf.identity(features["x"])

    logits = _C.call_logit_fn(logit_fn, {"x": tf.zeros([1])}, "train", {"a": 1}, None)
    assert isinstance(logits, tf.Tensor) and seen == {"mode": "train", "params": {"a": 1}}
    with pytest.raises(ValueError, match="Tensor or a dict"):
        _C.call_logit_fn(lambda features: 3, {}, "train", {}, None)


def test_logit_fn_builders(rng):
    columns = [tf.feature_column.numeric_column("x", shape=2)]
    x, _ = _data(rng)
    with tf.Graph().as_default(), tf.Session() as session:
        features = {"x": tf.constant(x)}
        linear = _C.linear_logit_fn_builder(1, columns)(features)
        dnn = _C.dnn_logit_fn_builder(2, [3], columns, tf.nn.relu, None, None, False)(features, "train")
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(linear), np.zeros([_ROWS, 1]))
        kernels = {v.op.name: session.run(v) for v in tf.global_variables()}
        hidden = np.maximum(x @ kernels["hiddenlayer_0/kernel"], 0)
        np.testing.assert_allclose(session.run(dnn), hidden @ kernels["logits/kernel"], rtol=1e-4, atol=1e-5)


def _sequences():
    tokens = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 2])
    return {"tokens": tokens, "context": tf.constant([[1.0], [2.0]])}


def _sequence_columns():
    tokens = tf.contrib.feature_column.sequence_categorical_column_with_vocabulary_list("tokens", ["a", "b", "c"])
    return [tf.feature_column.embedding_column(tokens, 2)]


@pytest.mark.parametrize("cell", ["basic_rnn", "lstm", "gru"])
def test_rnn_classifier(cell, tmp_path):
    estimator = _C.RNNClassifier(
        _sequence_columns(),
        context_feature_columns=[tf.feature_column.numeric_column("context")],
        num_units=[3, 2],
        cell_type=cell,
        optimizer=tf.train.AdamOptimizer(0.1),
        model_dir=str(tmp_path),
    )
    input_fn = lambda: (_sequences(), tf.constant([[0], [1]]))  # noqa: E731
    estimator.train(input_fn, steps=30)
    assert estimator.evaluate(input_fn, steps=1)["accuracy"] == 1
    names = estimator.get_variable_names()
    prefix = {"basic_rnn": "basic_rnn_cell", "lstm": "basic_lstm_cell", "gru": "gru_cell"}[cell]
    assert any(name.startswith(f"rnn/rnn/multi_rnn_cell/cell_0/{prefix}/") for name in names), names
    assert {"rnn/logits/dense/kernel", "rnn/logits/dense/bias"} <= set(names)


def test_rnn_takes_the_output_at_the_last_step(tmp_path):
    """A cell that adds up its inputs shows which steps counted."""

    class Sum(tf.nn.rnn_cell.RNNCell):
        state_size = output_size = 2

        def __call__(self, inputs, state, scope=None):
            return state + inputs, state + inputs

    estimator = _C.RNNEstimator(
        _C.regression_head(), _sequence_columns(), rnn_cell_fn=lambda mode: Sum(), model_dir=str(tmp_path)
    )
    input_fn = lambda: (_sequences(), tf.constant([[0.0], [1.0]]))  # noqa: E731
    estimator.train(input_fn, steps=2)
    table = [n for n in estimator.get_variable_names() if n.endswith("embedding_weights")][0]
    embedded = estimator.get_variable_value(table)
    want = np.stack([embedded[0] + embedded[1], embedded[2]]) @ estimator.get_variable_value("rnn/logits/dense/kernel")
    want = want + estimator.get_variable_value("rnn/logits/dense/bias")
    got = [next_["predictions"] for next_, _ in zip(estimator.predict(input_fn), range(2), strict=False)]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_rnn_arguments():
    with pytest.raises(ValueError, match="must not be given"):
        _C.RNNClassifier([], num_units=[1], rnn_cell_fn=lambda mode: None)
    with pytest.raises(ValueError, match="cell_type must be one of"):
        _C.RNNClassifier([], num_units=[1], cell_type="unknown")
    with pytest.raises(ValueError, match="sequential head"):
        _C.RNNEstimator(_C.regression_head(), [], num_units=[1], return_sequences=True)


@pytest.mark.parametrize("make", ["classifier", "regressor"])
def test_boosted_trees_in_memory(make, rng, tmp_path):
    x, y = _data(rng)
    columns = [tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x0"), [-0.5, 0.0, 0.5])]
    labels = (y > 0).astype(np.int64) if make == "classifier" else y
    data = lambda: tf.data.Dataset.from_tensors(({"x0": x[:, :1]}, labels))  # noqa: E731
    train = getattr(_C, f"boosted_trees_{make}_train_in_memory")
    estimator = train(data, columns, model_dir=str(tmp_path), n_trees=3, max_depth=2, learning_rate=0.5)
    assert estimator.get_variable_value("global_step") == 6
    metrics = estimator.evaluate(data)
    if make == "classifier":
        assert metrics["accuracy"] == 1
    else:
        assert metrics["average_loss"] < np.var(y) / 2


@pytest.mark.parametrize("make", [_C.DNNClassifierWithLayerAnnotations, _C.DNNRegressorWithLayerAnnotations])
def test_layer_annotations(make, rng, tmp_path):
    x, y = _data(rng)
    columns = [tf.feature_column.numeric_column("x", shape=2)]
    labels = (y > 0).astype(np.int64) if make is _C.DNNClassifierWithLayerAnnotations else y
    estimator = make([3], columns, model_dir=str(tmp_path / "model"))
    estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": x}, labels)), steps=1)
    assert "dnn/hiddenlayer_0/kernel" in estimator.get_variable_names()
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(
        tf.feature_column.make_parse_example_spec(columns)
    )
    folder = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], folder)
        collections = session.graph.get_all_collection_keys()
        for name in ("layer_annotations/unprocessed_features", "layer_annotatons/processed_features"):
            assert tf.get_collection(f"{name}/keys") == [b"x"] or tf.get_collection(f"{name}/keys") == ["x"], (
                collections
            )
            assert len(tf.get_collection(f"{name}/values")) == 1
        assert len(tf.get_collection("layer_annotations/feature_columns")) == 1


def test_old_deep_paths():
    from tensorflow.contrib.estimator.python.estimator import extenders, head, rnn
    from tensorflow.contrib.estimator.python.estimator.multi_head import multi_head

    assert extenders.clip_gradients_by_norm is _C.clip_gradients_by_norm
    assert head.multi_label_head is _C.multi_label_head
    assert multi_head is _C.multi_head
    assert rnn.RNNClassifier is _C.RNNClassifier
