"""Custom model functions: training, exports, exporters, hooks, warm starts, input functions."""

import os

import numpy as np
import pytest
import tensorflow as tf

from estimator_helpers import ROWS, input_fn

_E = tf.estimator


def _model_fn(features, labels, mode, params):
    x = tf.concat([features["x0"], features["x1"]], 1)
    y = tf.layers.dense(x, 1, name="out")
    if mode == _E.ModeKeys.PREDICT:
        outputs = {"serving_default": _E.export.PredictOutput({"y": y})}
        return _E.EstimatorSpec(mode, predictions={"y": y}, export_outputs=outputs)
    loss = tf.losses.mean_squared_error(labels, y)
    if mode == _E.ModeKeys.EVAL:
        return _E.EstimatorSpec(mode, loss=loss, eval_metric_ops={"error": tf.metrics.mean_absolute_error(labels, y)})
    train = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    return _E.EstimatorSpec(mode, loss=loss, train_op=train)


def _receiver():
    tensors = {name: tf.placeholder(tf.float32, [None, 1], name) for name in ("x0", "x1")}
    return _E.export.ServingInputReceiver(tensors, tensors)


@pytest.fixture
def estimator(config):
    return _E.Estimator(_model_fn, config=config, params={"rate": 0.1})


@pytest.fixture
def floats(data):
    return {name: data[0][name] for name in ("x0", "x1")}, data[1]


def test_trained_model_equals_numpy(estimator, floats):
    features, labels = floats
    estimator.train(input_fn(features, labels, batch=ROWS), steps=1)
    initial_w = estimator.get_variable_value("out/kernel")  # after one step
    initial_b = estimator.get_variable_value("out/bias")
    estimator.train(input_fn(features, labels, batch=ROWS), steps=1)
    x = np.concatenate([features["x0"], features["x1"]], 1)
    difference = x @ initial_w + initial_b - labels
    np.testing.assert_allclose(
        estimator.get_variable_value("out/kernel"), initial_w - 0.1 * 2 * x.T @ difference / ROWS, rtol=1e-4
    )
    assert estimator.get_variable_value("global_step") == 2


def test_export_is_what_predict_gives(estimator, floats, tmp_path):
    features, labels = floats
    estimator.train(input_fn(features, labels), steps=5)
    want = np.array([row["y"] for row in estimator.predict(input_fn(features, labels, epochs=1))])
    path = estimator.export_saved_model(str(tmp_path / "export"), _receiver)
    with tf.Graph().as_default(), tf.Session() as session:
        graph = tf.saved_model.loader.load(session, ["serve"], path)
        signature = graph.signature_def["serving_default"]
        feed = {signature.inputs[name].name: features[name] for name in features}
        np.testing.assert_allclose(session.run(signature.outputs["y"].name, feed), want, rtol=1e-6)


def test_train_and_evaluate_with_exporters(estimator, floats):
    features, labels = floats
    exporters = [
        _E.FinalExporter("final", _receiver),
        _E.LatestExporter("latest", _receiver, exports_to_keep=1),
        _E.BestExporter("best", _receiver),
    ]
    metrics, exports = _E.train_and_evaluate(
        estimator,
        _E.TrainSpec(input_fn(features, labels), max_steps=10),
        _E.EvalSpec(input_fn(features, labels, epochs=1), exporters=exporters, start_delay_secs=0, throttle_secs=0),
    )
    assert metrics["global_step"] == 10 and len(exports) >= 2
    for name in ("final", "latest", "best"):
        assert len(os.listdir(os.path.join(estimator.model_dir, "export", name))) == 1


def test_hooks(estimator, floats, tmp_path):
    features, labels = floats

    class Counter(tf.train.SessionRunHook):
        calls = 0

        def after_run(self, run_context, run_values):
            self.calls += 1

    counter = Counter()
    memory = _E.experimental.InMemoryEvaluatorHook(estimator, input_fn(features, labels, epochs=1), every_n_iter=2)
    hooks = [
        counter,
        _E.StepCounterHook(every_n_steps=2, output_dir=str(tmp_path)),
        _E.ProfilerHook(save_steps=3, output_dir=str(tmp_path)),
        _E.NanTensorHook("mean_squared_error/value:0"),
        memory,
    ]
    estimator.train(input_fn(features, labels), hooks=hooks, steps=6)
    assert counter.calls == 6
    assert any(name.startswith("timeline") for name in os.listdir(tmp_path))
    estimator.evaluate(input_fn(features, labels, epochs=1))


def test_early_stopping(estimator, floats):
    features, labels = floats
    # Evaluation metrics of an earlier run are what the hook reads.
    stop = _E.experimental.stop_if_higher_hook(estimator, "error", 0.0, run_every_secs=None, run_every_steps=2)
    estimator.train(input_fn(features, labels), hooks=[stop], steps=2)
    estimator.evaluate(input_fn(features, labels, epochs=1))
    estimator.train(input_fn(features, labels), hooks=[stop], steps=50)
    assert estimator.get_variable_value("global_step") < 20


def test_make_stop_at_checkpoint_step_hook(estimator, floats):
    features, labels = floats
    estimator.train(input_fn(features, labels), steps=2)
    hook = _E.experimental.make_stop_at_checkpoint_step_hook(estimator, last_step=2, wait_after_file_check_secs=0)
    estimator.train(input_fn(features, labels), hooks=[hook], steps=50)
    assert estimator.get_variable_value("global_step") <= 4


def test_nan_loss_stops_training(config, floats):
    features, labels = floats
    estimator = _E.Estimator(_model_fn, config=config, params={"rate": 1e20})
    with pytest.raises(_E.NanLossDuringTrainingError):
        estimator.train(input_fn(features, labels), steps=50)


def test_warm_start_and_add_metrics(estimator, floats, tmp_path):
    features, labels = floats
    estimator.train(input_fn(features, labels), steps=4)
    warm = _E.Estimator(
        _model_fn,
        str(tmp_path / "warm"),
        params={"rate": 0.0},
        warm_start_from=_E.WarmStartSettings(estimator.model_dir),
    )
    warm.train(input_fn(features, labels), steps=1)
    np.testing.assert_array_equal(warm.get_variable_value("out/kernel"), estimator.get_variable_value("out/kernel"))
    more = _E.add_metrics(estimator, lambda labels: {"mean_label": tf.metrics.mean(labels)})
    metrics = more.evaluate(input_fn(features, labels, epochs=1))
    np.testing.assert_allclose(metrics["mean_label"], labels.mean(), rtol=1e-5)
    assert "error" in metrics


def test_numpy_and_pandas_input_fn(estimator, floats):
    pandas = pytest.importorskip("pandas")
    features, labels = floats
    flat = {name: value[:, 0] for name, value in features.items()}
    by_numpy = _E.inputs.numpy_input_fn(features, labels, batch_size=8, num_epochs=1, shuffle=False)
    estimator.train(by_numpy)
    assert estimator.get_variable_value("global_step") == ROWS // 8

    def column(fn):
        def make():
            x, y = fn()
            return {name: tf.reshape(value, [-1, 1]) for name, value in x.items()}, tf.reshape(y, [-1, 1])

        return make

    by_pandas = _E.inputs.pandas_input_fn(
        pandas.DataFrame(flat), pandas.Series(labels[:, 0]), batch_size=8, num_epochs=1, shuffle=False
    )
    got = estimator.evaluate(column(by_pandas))
    want = estimator.evaluate(by_numpy)
    np.testing.assert_allclose(got["error"], want["error"], rtol=1e-5)


def test_parsing_receiver_reads_examples_of_record_files(data, columns, config, tmp_path):
    features, score = data
    path = str(tmp_path / "rows.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(ROWS):
            example = tf.train.Example()
            for name in ("x0", "x1"):
                example.features.feature[name].float_list.value.append(features[name][i, 0])
            example.features.feature["word"].bytes_list.value.append(features["word"][i, 0].encode())
            example.features.feature["label"].int64_list.value.append(int(score[i, 0] > 0))
            writer.write(example.SerializeToString())
    spec = _E.classifier_parse_example_spec(columns[0], label_key="label", label_dtype=tf.int64)

    def read():
        return tf.data.experimental.make_batched_features_dataset(
            path, 8, spec, label_key="label", num_epochs=1, shuffle=False
        )

    estimator = _E.LinearClassifier(columns[0], config=config)
    estimator.train(read)
    receiver = _E.export.build_parsing_serving_input_receiver_fn(tf.feature_column.make_parse_example_spec(columns[0]))
    folder = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    predict = tf.contrib.predictor.from_saved_model(folder, signature_def_key="predict")
    serialized = next(iter(tf.python_io.tf_record_iterator(path)))
    want = next(iter(estimator.predict(read)))
    np.testing.assert_allclose(predict({"examples": [serialized]})["logistic"][0], want["logistic"], rtol=1e-5)


def test_mirrored_strategy_trains_the_same(config, floats, tmp_path):
    features, labels = floats
    plain = _E.Estimator(_model_fn, config=config, params={"rate": 0.1})
    plain.train(input_fn(features, labels), steps=3)
    mirrored = config.replace(
        model_dir=str(tmp_path / "mirrored"), train_distribute=tf.distribute.MirroredStrategy(["/cpu:0"])
    )
    other = _E.Estimator(_model_fn, config=mirrored, params={"rate": 0.1})
    other.train(input_fn(features, labels), steps=3)
    assert other.get_variable_value("out/kernel").shape == (2, 1)
    assert other.get_variable_value("global_step") == 3


def test_model_to_estimator(floats, tmp_path):
    features, labels = floats
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), name="dense")])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    x = np.concatenate([features["x0"], features["x1"]], 1)
    before = model.get_weights()
    estimator = tf.keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))
    estimator.train(input_fn({model.input_names[0]: x}, labels, batch=ROWS), steps=1)
    gradient = 2 * x.T @ (x @ before[0] + before[1] - labels) / ROWS
    kernel = [n for n in estimator.get_variable_names() if n.endswith("dense/kernel")]
    np.testing.assert_allclose(
        estimator.get_variable_value(kernel[0]), before[0] - 0.1 * gradient, rtol=1e-4, atol=1e-6
    )


def test_checkpoint_input_pipeline_hook(estimator, floats):
    features, labels = floats
    hook = tf.data.experimental.CheckpointInputPipelineHook(estimator)
    estimator.train(input_fn(features, labels, batch=1), hooks=[hook], steps=3)
    assert any(name.startswith("input") for name in os.listdir(estimator.model_dir))
