"""tf.contrib.learn."""

import json

import numpy as np
import pytest
import tensorflow as tf

from tensorflow.contrib.learn.python.learn import learn_runner
from tensorflow.contrib.learn.python.learn.estimators import model_fn as model_fn_lib

L = tf.contrib.learn
C = tf.contrib.layers

X = np.random.RandomState(0).normal(size=[64, 3]).astype(np.float32)
Y = (X @ [1.0, -2.0, 0.5] > 0).astype(np.int64)
COLUMNS = [C.real_valued_column("", dimension=3)]


def model_fn(features, labels, mode, params):
    w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
    prediction = tf.squeeze(tf.matmul(features, w), 1)
    loss = train_op = None
    if mode != L.ModeKeys.INFER:
        loss = tf.reduce_mean(tf.square(prediction - tf.cast(labels, tf.float32)))
    if mode == L.ModeKeys.TRAIN:
        train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    return L.ModelFnOps(mode, predictions={"y": prediction}, loss=loss, train_op=train_op)


def make_estimator(model_dir, **kwargs):
    config = L.RunConfig(model_dir=str(model_dir), save_summary_steps=1000, **kwargs)
    return L.Estimator(model_fn, config=config, params={"rate": 0.1})


def input_fn():
    return tf.constant(X), tf.constant(Y)


def least_squares(steps, rate=0.1):
    w = np.zeros(3)
    for _ in range(steps):
        w -= rate * 2 * X.T @ (X @ w - Y) / len(X)
    return w


def test_fit_evaluate_predict(tmp_path):
    estimator = make_estimator(tmp_path)
    targets = Y.astype(np.float32)
    assert estimator.fit(input_fn=lambda: (tf.constant(X), tf.constant(targets)), steps=10) is estimator
    w = least_squares(10)
    np.testing.assert_allclose(estimator.get_variable_value("w").ravel(), w, rtol=1e-3, atol=1e-4)
    assert "w" in estimator.get_variable_names() and estimator.model_dir == str(tmp_path)
    metric = L.MetricSpec(tf.contrib.metrics.streaming_mean_absolute_error, prediction_key="y")
    result = estimator.evaluate(X, targets, batch_size=16, metrics={"mae": metric})
    assert result["global_step"] == 10
    np.testing.assert_allclose(result["loss"], np.mean((X @ w - Y) ** 2), rtol=1e-3)
    np.testing.assert_allclose(result["mae"], np.mean(abs(X @ w - Y)), rtol=1e-3)
    np.testing.assert_allclose([p["y"] for p in estimator.predict(X, batch_size=16)], X @ w, rtol=1e-3, atol=1e-4)
    arrays = estimator.predict(X, as_iterable=False)
    np.testing.assert_allclose(arrays["y"], X @ w, rtol=1e-3, atol=1e-4)
    estimator.partial_fit(X, targets)
    assert estimator.get_variable_value("global_step") == 11


def test_input_functions_and_hooks(tmp_path):
    estimator = make_estimator(tmp_path)
    capture = L.monitors.CaptureVariable("w:0", every_n=1)
    stop = L.monitors.StopAtStep(num_steps=3)
    estimator.fit(input_fn=input_fn, monitors=[capture, stop, tf.train.NanTensorHook("Mean:0")])
    assert sorted(capture.values) == [1, 2, 3]
    assert estimator.get_variable_value("global_step") == 3
    assert estimator.evaluate(input_fn=input_fn, steps=1)["global_step"] == 3


def test_bad_inputs(tmp_path):
    estimator = make_estimator(tmp_path)
    with pytest.raises(ValueError, match="x or input_fn"):
        estimator.fit(steps=1)
    with pytest.raises(ValueError, match="both input_fn and x"):
        estimator.fit(X, Y, input_fn=input_fn, steps=1)
    with pytest.raises(ValueError, match="batch_size"):
        estimator.fit(input_fn=input_fn, batch_size=3, steps=1)
    with pytest.raises(ValueError, match="max_steps"):
        estimator.fit(X, Y, steps=1, max_steps=1)
    with pytest.raises(ValueError, match="params"):
        L.Estimator(lambda features, labels: None, params={})
    with pytest.raises(ValueError, match="trained model"):
        estimator.export("x")


def test_model_functions_may_return_tuples_and_specs(tmp_path):
    def as_tuple(features, labels):
        loss = tf.reduce_mean(tf.get_variable("v", initializer=1.0) * features)
        return features, loss, tf.assign_add(tf.train.get_global_step(), 1)

    estimator = L.Estimator(as_tuple, model_dir=str(tmp_path)).fit(X, Y, steps=2)
    assert estimator.get_variable_value("global_step") == 2
    np.testing.assert_allclose(list(estimator.predict(X)), X)


def test_feature_engineering(tmp_path):
    def double(features, labels):
        return features * 2.0, labels

    estimator = L.Estimator(model_fn, str(tmp_path), params={"rate": 0.0}, feature_engineering_fn=double)
    estimator.fit(X, Y, steps=1)
    assert estimator.evaluate(X, Y)["loss"] == pytest.approx(Y.mean())


def test_model_fn_ops_requirements():
    with pytest.raises(ValueError, match="mode"):
        L.ModelFnOps("other")
    with pytest.raises(ValueError, match="train_op"):
        L.ModelFnOps("train", loss=1)
    with pytest.raises(ValueError, match="loss"):
        L.ModelFnOps("eval")
    assert model_fn_lib.ModeKeys is L.ModeKeys and L.ModeKeys.INFER == "infer"


def test_run_config(monkeypatch):
    cluster = {"cluster": {"master": ["a:1"], "ps": ["b:1"], "worker": ["c:1", "d:1"]},
               "task": {"type": "worker", "index": 1}, "environment": "cloud"}  # fmt: skip
    monkeypatch.setenv("TF_CONFIG", json.dumps(cluster))
    config = L.RunConfig(num_cores=3, gpu_memory_fraction=0.5, save_checkpoints_steps=7)
    assert (config.task_type, config.task_id, config.num_ps_replicas, config.is_chief) == ("worker", 1, 1, False)
    assert config.environment == "cloud" and L.RunConfig.get_task_id() == 1 and config.master == "grpc://d:1"
    assert config.tf_config.intra_op_parallelism_threads == 3 and config.tf_random_seed == 1
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (7, None)
    assert config.replace(model_dir="m").model_dir == "m" and isinstance(config.replace(model_dir="m"), L.RunConfig)
    monkeypatch.delenv("TF_CONFIG")
    assert L.RunConfig(master="x").uid() == L.RunConfig(master="y").uid() != L.RunConfig(tf_random_seed=2).uid()


def test_metric_spec_finds_arguments():
    def metric(labels, predictions, weights=None):
        return labels, predictions, weights

    spec = L.MetricSpec(metric, "p", "l", "w")
    assert spec.create_metric_ops({"w": 3}, {"l": 1, "m": 0}, {"p": 2}) == (1, 2, 3)
    assert L.MetricSpec(lambda predictions, labels: (predictions, labels)).create_metric_ops({}, 1, 2) == (2, 1)
    with pytest.raises(ValueError, match="prediction_key"):
        L.MetricSpec(metric).create_metric_ops({}, 1, {"a": 1, "b": 2})
    with pytest.raises(ValueError, match="weight"):
        L.MetricSpec(lambda predictions, labels: None, weight_key="w")


@pytest.mark.parametrize("schedule", ["train_and_evaluate", "local_run", "test", "continuous_train_and_eval"])
def test_experiments(schedule, tmp_path):
    def experiment_fn(run_config, hparams):
        assert hparams == "h"
        estimator = L.Estimator(model_fn, config=run_config, params={"rate": 0.1})

        def serving_input_fn():
            x = tf.placeholder(tf.float32, [None, 3])
            return L.InputFnOps(x, None, {"x": x})

        return L.Experiment(
            estimator, input_fn, input_fn, train_steps=4, eval_steps=1, min_eval_frequency=2,
            export_strategies=L.make_export_strategy(serving_input_fn, exports_to_keep=1),
        )  # fmt: skip

    result, exports = learn_runner.run(
        experiment_fn, schedule=schedule, run_config=L.RunConfig(model_dir=str(tmp_path)), hparams="h"
    )
    steps = 1 if schedule == "test" else 4
    assert result["global_step"] == steps
    (path,) = exports
    with tf.Graph().as_default(), tf.Session() as session:
        signature = tf.saved_model.loader.load(session, ["serve"], path.decode()).signature_def["serving_default"]
        got = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: X})
    np.testing.assert_allclose(got, X @ least_squares(steps), rtol=1e-3, atol=1e-4)


def test_continuous_eval_ends_at_train_steps(tmp_path):
    estimator = make_estimator(tmp_path)
    experiment = L.Experiment(estimator, input_fn, input_fn, train_steps=2, eval_steps=1, eval_delay_secs=0)
    experiment.train(delay_secs=0)
    result, _ = experiment.continuous_eval(throttle_delay_secs=0)
    assert result["global_step"] == 2
    assert experiment.evaluate()["global_step"] == 2
    with pytest.raises(ValueError, match="callable"):
        experiment.continuous_eval(continuous_eval_predicate_fn=5)


def test_learn_runner_arguments(tmp_path):
    with pytest.raises(ValueError, match="output_dir"):
        L.learn_runner.run(lambda output_dir: None)
    with pytest.raises(TypeError, match="Experiment"):
        L.learn_runner.run(lambda output_dir: None, str(tmp_path))
    experiment = L.Experiment(make_estimator(tmp_path), input_fn, input_fn)
    with pytest.raises(ValueError, match="non-existent"):
        L.learn_runner.run(lambda output_dir: experiment, str(tmp_path), schedule="nothing")
    with pytest.raises(ValueError, match="estimator"):
        L.Experiment("x", input_fn, input_fn)


CANNED = {
    "linear": lambda **k: L.LinearClassifier(COLUMNS, **k),
    "joint": lambda **k: L.LinearClassifier(
        [C.bucketized_column(C.real_valued_column("", 3), [0.0])], _joint_weight=True, **k
    ),
    "dnn": lambda **k: L.DNNClassifier([8], COLUMNS, dropout=0.1, gradient_clip_norm=5.0, **k),
    "three classes": lambda **k: L.DNNClassifier([8], COLUMNS, n_classes=3, optimizer="Adam", **k),
    "combined": lambda **k: L.DNNLinearCombinedClassifier(
        linear_feature_columns=COLUMNS, dnn_feature_columns=COLUMNS, dnn_hidden_units=[8],
        fix_global_step_increment_bug=True, **k,
    ),
    "centered": lambda **k: L.LinearClassifier(COLUMNS, enable_centered_bias=True, **k),
}  # fmt: skip


@pytest.mark.parametrize("kind", CANNED)
def test_canned_classifiers_learn(kind, tmp_path):
    estimator = CANNED[kind](model_dir=str(tmp_path))
    estimator.fit(X, Y, steps=60)
    assert estimator.get_variable_value("global_step") == 60
    result = estimator.evaluate(X, Y)
    assert result["accuracy"] > 0.8
    classes = np.array(list(estimator.predict(X)))
    assert np.mean(classes == Y) == pytest.approx(result["accuracy"])
    proba = estimator.predict_proba(X, as_iterable=False)
    np.testing.assert_allclose(proba.sum(1), 1, rtol=1e-5)
    assert (proba.argmax(1) == classes).all()


def test_names_of_canned_variables(tmp_path):
    estimator = CANNED["combined"](model_dir=str(tmp_path)).fit(X, Y, steps=1)
    names = set(estimator.get_variable_names())
    assert {
        "dnn/hiddenlayer_0/weights", "dnn/hiddenlayer_0/biases", "dnn/logits/weights", "dnn/logits/biases",
        "linear/bias_weight", "global_step",
    } <= names  # fmt: skip
    assert any(name.startswith("linear/") and name.endswith("/weight") for name in names)


def test_the_combined_model_counts_steps_twice_by_default(tmp_path):
    estimator = L.DNNLinearCombinedClassifier(
        str(tmp_path), linear_feature_columns=COLUMNS, dnn_feature_columns=COLUMNS, dnn_hidden_units=[2]
    )
    assert estimator.fit(X, Y, steps=1).get_variable_value("global_step") == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda **k: L.LinearRegressor(COLUMNS, optimizer=tf.train.GradientDescentOptimizer(0.1), **k),
        lambda **k: L.DNNRegressor([8], COLUMNS, **k),
        lambda **k: L.DNNLinearCombinedRegressor(linear_feature_columns=COLUMNS, **k),
    ],
)
def test_canned_regressors(make, tmp_path):
    target = (X @ [1.0, 2.0, 3.0]).astype(np.float32)
    estimator = make(model_dir=str(tmp_path)).fit(X, target, steps=300)
    scores = estimator.predict(X, as_iterable=False)
    assert estimator.evaluate(X, target)["loss"] == pytest.approx(np.mean((scores - target) ** 2), rel=1e-3)
    assert np.mean((scores - target) ** 2) < 0.5 * np.mean(target**2)


def test_validation_monitor_stops_early(tmp_path):
    estimator = L.LinearRegressor(
        COLUMNS, str(tmp_path), optimizer=tf.train.GradientDescentOptimizer(0.0),
        config=L.RunConfig(save_checkpoints_steps=1),
    )  # fmt: skip
    monitor = L.monitors.ValidationMonitor(
        X, Y.astype(np.float32), every_n_steps=1, early_stopping_rounds=3, check_interval_secs=None
    )
    estimator.fit(X, Y.astype(np.float32), steps=50, monitors=[monitor])
    assert monitor.early_stopped and estimator.get_variable_value("global_step") < 50
    assert monitor.best_value == pytest.approx(Y.mean()) and "loss" in monitor.best_metrics


def head_ops(head, logits, labels=None, mode="eval", features=None):
    with tf.Graph().as_default(), tf.Session() as session:
        ops = head.create_model_fn_ops(
            {k: tf.constant(v) for k, v in (features or {}).items()}, mode,
            labels=None if labels is None else tf.constant(labels), train_op_fn=L.no_op_train_fn,
            logits=tf.constant(logits),
        )  # fmt: skip
        session.run([tf.local_variables_initializer(), tf.tables_initializer()])
        updates = session.run({k: v[1] for k, v in ops.eval_metric_ops.items()})
        return session.run([ops.predictions, [] if ops.loss is None else ops.loss]) + [updates]


def test_binary_head():
    z = np.array([[1.0], [-2.0], [0.5]], np.float32)
    y, w = np.array([1, 0, 0]), np.array([1.0, 2.0, 3.0], np.float32)
    predictions, loss, metrics = head_ops(L.multi_class_head(2, weight_column_name="w"), z, y, features={"w": w})
    losses = np.log1p(np.exp(-np.where(y == 1, 1, -1) * z.ravel()))
    np.testing.assert_allclose(loss, np.mean(losses * w), rtol=1e-5)
    np.testing.assert_allclose(metrics["loss"], (losses * w).sum() / w.sum(), rtol=1e-5)
    np.testing.assert_allclose(metrics["accuracy"], 0.5)
    np.testing.assert_allclose(metrics["accuracy/threshold_0.500000_mean"], 0.5)
    np.testing.assert_allclose(metrics["labels/actual_label_mean"], 1 / 6, rtol=1e-6)
    assert predictions["classes"].tolist() == [1, 0, 1]


def test_other_heads():
    z = np.array([[1.0, 2.0, 0.0], [3.0, 0.0, 0.0]], np.float32)
    predictions, loss, metrics = head_ops(
        L.multi_class_head(3, head_name="h", label_keys=["a", "b", "c"]), z, ["b", "c"]
    )
    log_z = np.log(np.exp(z).sum(1))
    np.testing.assert_allclose(loss, np.mean(log_z - [2.0, 0.0]), rtol=1e-5)
    assert predictions["classes"].tolist() == [b"b", b"a"] and metrics["accuracy/h"] == 0.5
    _, loss, metrics = head_ops(L.multi_label_head(3), z, [[1, 1, 0], [0, 0, 1]])
    targets = np.array([[1, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(loss, np.mean(np.log1p(np.exp(z)) - z * targets), rtol=1e-5)
    np.testing.assert_allclose(metrics["accuracy"], 4 / 6)
    predictions, loss, _ = head_ops(L.poisson_regression_head(), z[:, :1], [2.0, 1.0])
    np.testing.assert_allclose(predictions["scores"], np.exp(z[:, 0]), rtol=1e-6)
    _, loss, _ = head_ops(L.binary_svm_head(), z[:, :1], [0, 1])
    np.testing.assert_allclose(loss, (2.0 + 0.0) / 2)
    predictions, _, _ = head_ops(L.regression_head(label_dimension=3, link_fn=tf.exp), z, mode="infer")
    np.testing.assert_allclose(predictions["scores"], np.exp(z), rtol=1e-6)


def test_multi_head():
    z = np.array([[1.0, 2.0], [3.0, 0.0]], np.float32)
    heads = [L.regression_head("a", head_name="a"), L.regression_head("b", head_name="b")]
    with tf.Graph().as_default(), tf.Session() as session:
        labels = {"a": tf.constant([0.0, 0.0]), "b": tf.constant([1.0, 1.0])}
        both = L.multi_head(heads + [L.head.loss_only_head(lambda: tf.constant(7.0), "r")], [1.0, 10.0, 1.0])
        ops = both.create_model_fn_ops({}, "train", labels, L.no_op_train_fn, logits=tf.constant(z))
        assert both.logits_dimension == 2 and set(ops.predictions) == {("a", "scores"), ("b", "scores")}
        assert session.run(ops.loss) == (1 + 9) / 2 + 10 * (1 + 1) / 2 + 7
    with pytest.raises(ValueError, match="names"):
        L.multi_head([L.regression_head()])


def test_vocabulary_processor(tmp_path):
    texts = ["Hello big World", "hello hello world", ""]
    processor = L.preprocessing.VocabularyProcessor(4, min_frequency=0)
    ids = np.array(list(processor.fit_transform(texts)))
    assert ids.dtype == np.int64 and ids.tolist() == [[1, 2, 3, 0], [4, 4, 5, 0], [0, 0, 0, 0]]
    assert next(processor.reverse([[1, 2, 3]])) == "Hello big World"
    assert list(processor.transform(["new World"]))[0].tolist() == [0, 3, 0, 0]
    processor.save(str(tmp_path / "v"))
    other = L.preprocessing.VocabularyProcessor.restore(str(tmp_path / "v"))
    assert list(other.transform(["big"]))[0].tolist() == [2, 0, 0, 0]
    trimmed = L.preprocessing.VocabularyProcessor(3, min_frequency=1).fit(["a b b c c c"])
    assert list(trimmed.transform(["a b c"]))[0].tolist() == [0, 2, 1]


def test_other_processors():
    got = list(L.preprocessing.ByteProcessor(4).fit_transform(["ab", "é"]))
    assert [g.tolist() for g in got] == [[97, 98, 0, 0], [195, 169, 0, 0]]
    assert list(L.preprocessing.ByteProcessor(4).reverse(got)) == ["ab", "é"]
    processor = L.preprocessing.CategoricalProcessor(share=True)
    assert [r.tolist() for r in processor.fit_transform([["a", "b"], ["b", "c"]])] == [[1, 2], [2, 3]]
    vocabulary = L.preprocessing.CategoricalVocabulary(support_reverse=False)
    assert vocabulary.get("x") == 1 and len(vocabulary) == 2
    with pytest.raises(ValueError, match="support_reverse"):
        vocabulary.reverse(1)
    assert list(L.preprocessing.tokenizer(["it's a HTMLParser x-y"])) == [["it's", "a", "HTML", "Parser", "x-y"]]


def test_datasets(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("2,3,a,b\n1,2,3,0\n4,5,6,1\n")
    data = L.datasets.base.load_csv_with_header(str(path), np.int64, np.float32)
    assert data.data.tolist() == [[1, 2, 3], [4, 5, 6]] and data.target.tolist() == [0, 1]
    assert L.datasets.load_iris(str(path)).target.tolist() == [0, 1]
    plain = tmp_path / "p.csv"
    plain.write_text("1,2\n0,3\n")
    data = L.datasets.base.load_csv_without_header(str(plain), np.int32, np.float64, target_column=0)
    assert data.target.tolist() == [1, 0] and data.data.tolist() == [[2.0], [3.0]]
    with pytest.raises(ValueError, match="data_path"):
        L.datasets.load_dataset("boston")
    with pytest.raises(ValueError, match="not found"):
        L.datasets.load_dataset("nothing")
    with pytest.raises(FileNotFoundError, match="http"):
        L.datasets.base.maybe_download("f", str(tmp_path), "http://x")


def test_synthetic_datasets():
    data = L.datasets.make_dataset("circles", n_samples=40, factor=0.5)
    radius = np.linalg.norm(data.data, axis=1)
    np.testing.assert_allclose(radius, np.where(data.target == 0, 1.0, 0.5))
    spirals = L.datasets.make_dataset("spirals", n_samples=20, mode="fermat", noise=0.1)
    assert spirals.data.shape == (20, 2) and sorted(spirals.target) == [0] * 10 + [1] * 10
    for bad in (lambda: L.datasets.make_dataset("x"), lambda: L.datasets.make_dataset("circles", other=1),
                lambda: L.datasets.make_dataset("spirals", mode="x"), lambda: L.datasets.make_dataset("circles", factor=2)):  # fmt: skip
        with pytest.raises(ValueError):
            bad()


def test_ops():
    with tf.Graph().as_default(), tf.Session() as session:
        ids = tf.constant([[0, 1], [1, 1]])
        embedded = L.ops.categorical_variable(ids, 2, 3, "e")
        (table,) = tf.trainable_variables()
        assert table.op.name == "e/e_embeddings" and embedded.shape.as_list() == [2, 2, 3]
        x, w, b = tf.constant(X), tf.constant(np.ones([3, 2], np.float32)), tf.constant([0.0, 1.0])
        proba, loss = L.ops.softmax_classifier(x, tf.one_hot(Y, 2), w, b)
        regression, squared = L.ops.mean_squared_error_regressor(x, tf.constant(Y, tf.float32), w[:, :1], b[:1])
        session.run(tf.global_variables_initializer())
        got, t, p, mean, r, s = session.run([embedded, table, proba, loss, regression, squared])
    np.testing.assert_array_equal(got, t[[[0, 1], [1, 1]]])
    logits = X.sum(1, keepdims=True) + [0.0, 1.0]
    want = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    np.testing.assert_allclose(p, want, rtol=1e-4)
    np.testing.assert_allclose(mean, -np.log(want[np.arange(64), Y]).mean(), rtol=1e-4)
    np.testing.assert_allclose(r, X.sum(1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(s, np.mean((X.sum(1) - Y) ** 2), rtol=1e-4)


def test_sk_compat(tmp_path):
    classifier = L.SKCompat(L.LinearClassifier(COLUMNS, str(tmp_path)))
    assert classifier.fit(X, Y, steps=50) is classifier
    assert classifier.score(X, Y)["accuracy"] > 0.85 and classifier.predict(X).shape == (64,)
