"""tf.contrib.learn against a run of TensorFlow 1.15.5: values and checkpoint keys of data/learn_values.json."""

import json
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from tensorflow.contrib.learn.python.learn.estimators import head as head_lib

L = tf.contrib.learn
C = tf.contrib.layers

EXPECTED = json.loads((pathlib.Path(__file__).parent / "data" / "learn_values.json").read_text())
X = np.random.RandomState(0).rand(20, 4).astype(np.float32)
TWO, THREE = np.arange(20) % 2, np.arange(20) % 3


def numbers():
    return C.real_valued_column("", 4)


def sparse_features():
    return {"s": tf.SparseTensor([[i, 0] for i in range(20)], ["a", "b", "c", "d"] * 5, [20, 1])}


def wide_features():
    return dict(sparse_features(), x=tf.constant(X[:, :1]))


def wide_columns():
    sparse = C.sparse_column_with_hash_bucket("s", 7)
    buckets = C.bucketized_column(C.real_valued_column("x"), [0.3, 0.6])
    return {
        "linear_feature_columns": [sparse, buckets, C.crossed_column([sparse, buckets], 11)],
        "dnn_feature_columns": [numbers(), C.embedding_column(sparse, 3)],
        "dnn_hidden_units": [4, 3],
        "dnn_dropout": 0.2,
    }


def embedding_columns():
    embedding = C.embedding_column(C.sparse_column_with_hash_bucket("s", 7), 3)
    return {"feature_columns": [numbers(), embedding], "embedding_lr_multipliers": {embedding: 0.1}}


# Name -> (class, labels, further features, arguments).
CASES = {
    "multi": lambda: (
        L.DNNClassifier, THREE, None,
        dict(hidden_units=[5, 4], feature_columns=[numbers()], n_classes=3, dropout=0.3),
    ),
    "weight": lambda: (
        L.LinearClassifier, TWO[:, None], lambda: {"w": tf.constant(X[:, 0])},
        dict(feature_columns=[numbers()], weight_column_name="w"),
    ),
    "keys": lambda: (
        L.LinearClassifier, np.array(["a", "b", "c", "a"] * 5), None,
        dict(feature_columns=[numbers()], n_classes=3, label_keys=["a", "b", "c"]),
    ),
    "dim": lambda: (
        L.DNNRegressor, X[:, :2], None,
        dict(feature_columns=[numbers()], hidden_units=[3], label_dimension=2, optimizer="Adam"),
    ),
    "lin_opt": lambda: (
        L.LinearRegressor, X[:, 0], None,
        dict(feature_columns=[numbers()], optimizer="SGD", gradient_clip_norm=0.1),
    ),
    "emb": lambda: (
        L.DNNClassifier, TWO, sparse_features,
        dict(hidden_units=[4], activation_fn=tf.nn.tanh, **embedding_columns()),
    ),
    "wide": lambda: (L.DNNLinearCombinedClassifier, TWO, wide_features, wide_columns()),
    "wide_fix": lambda: (
        L.DNNLinearCombinedClassifier, TWO, wide_features,
        dict(
            fix_global_step_increment_bug=True, dnn_optimizer=tf.train.AdamOptimizer(0.01), linear_optimizer="SGD",
            gradient_clip_norm=1.0, **wide_columns(),
        ),
    ),
}  # fmt: skip


def config(folder):
    return L.RunConfig(tf_random_seed=1, model_dir=str(folder))


@pytest.mark.parametrize("name", CASES)
def test_canned_estimators(name, tmp_path):
    kind, labels, more, arguments = CASES[name]()

    def input_fn():
        return dict({"": tf.constant(X)}, **(more() if more else {})), tf.constant(labels)

    estimator = kind(config=config(tmp_path), **arguments).fit(input_fn=input_fn, steps=4)
    expected = EXPECTED[name]
    assert set(estimator.get_variable_names()) == set(expected["variables"])
    for variable, value in expected["variables"].items():
        np.testing.assert_allclose(
            estimator.get_variable_value(variable), value, rtol=2e-5, atol=2e-6, err_msg=variable
        )
    metrics = estimator.evaluate(input_fn=input_fn, steps=1)
    assert set(metrics) == set(expected["metrics"])
    for metric, value in expected["metrics"].items():
        assert metrics[metric] == pytest.approx(value, rel=2e-5, abs=2e-6), metric
    predictions = list(estimator.predict(input_fn=lambda: input_fn()[0]))
    assert len(predictions) == 20
    for got, value in zip(predictions, expected["predictions"]):
        if isinstance(got, bytes):
            assert got.decode() == value
        else:
            np.testing.assert_allclose(got, value, rtol=2e-5, atol=2e-6)


def test_arrays_are_fed_in_epochs(tmp_path):
    estimator = L.LinearClassifier([numbers()], config=config(tmp_path)).fit(X, TWO, steps=3)
    expected = EXPECTED["arrays"]
    np.testing.assert_allclose(estimator.get_variable_value("linear/bias_weight"), expected["bias"], rtol=1e-5)
    metrics = estimator.evaluate(X, TWO)
    for metric, value in expected["metrics"].items():
        assert metrics[metric] == pytest.approx(value, rel=2e-5), metric
    np.testing.assert_allclose(estimator.predict_proba(X, as_iterable=False)[:3], expected["probabilities"], rtol=1e-5)
    assert len(list(estimator.predict(X, batch_size=6))) == 20
    with pytest.raises(ValueError, match="incompatible"):
        estimator.evaluate(X[:, :3], TWO)


def linear_model(train_always):
    def model_fn(features, labels, mode):
        y = C.fully_connected(features, 1, activation_fn=None, weights_initializer=tf.ones_initializer())
        loss = None if labels is None else tf.losses.mean_squared_error(labels[:, None], y)
        train_op = None
        if train_always or loss is not None:
            train_op = C.optimize_loss(loss, tf.train.get_global_step(), 0.1, "SGD")
        return L.ModelFnOps(mode, predictions={"y": y}, loss=loss, train_op=train_op)

    return model_fn


@pytest.mark.parametrize("train_always", [False, True])
def test_constant_input_is_predicted_once(train_always, tmp_path):
    ones, labels = np.ones((4, 2), np.float32), np.array([0, 1, 1, 0], np.float32)
    estimator = L.Estimator(linear_model(train_always), config=config(tmp_path))
    estimator.fit(input_fn=lambda: (tf.constant(ones), tf.constant(labels)), steps=4)
    rows = list(estimator.predict(input_fn=lambda: tf.constant(ones)))
    assert len(rows) == 4
    np.testing.assert_allclose(rows[0]["y"], [0.5384], rtol=1e-4)
    together = estimator.predict(input_fn=lambda: tf.constant(ones), as_iterable=False)
    assert together["y"].shape == (4, 1)
    (batch,) = estimator.predict(input_fn=lambda: tf.constant(ones), iterate_batches=True)
    assert batch["y"].shape == (4, 1)


def test_a_queue_is_predicted_to_its_end(tmp_path):
    ones, labels = np.ones((5, 2), np.float32), np.zeros(5, np.float32)
    estimator = L.Estimator(linear_model(False), config=config(tmp_path))
    estimator.fit(input_fn=lambda: (tf.constant(ones), tf.constant(labels)), steps=1)
    batches = tf.estimator.inputs.numpy_input_fn(ones, batch_size=2, num_epochs=2, shuffle=False)
    assert len(list(estimator.predict(input_fn=batches))) == 10
    with pytest.raises(ValueError, match="outputs|output"):
        list(estimator.predict(input_fn=batches, outputs=["z"]))


def test_predictor_of_a_canned_estimator(tmp_path):
    features = np.arange(16).reshape(8, 2).astype(np.float32)
    estimator = L.LinearClassifier([C.real_valued_column("x", 2)], config=config(tmp_path))
    estimator.fit(input_fn=lambda: ({"x": tf.constant(features)}, tf.constant([0, 1] * 4)), steps=5)

    def serving():
        given = {"x": tf.placeholder(tf.float32, [None, 2])}
        return L.utils.input_fn_utils.InputFnOps(given, None, given)

    result = tf.contrib.predictor.from_contrib_estimator(estimator, serving)({"x": features[:2]})
    assert set(result) == {"classes", "probabilities"} and result["classes"].tolist() == [[b"0", b"1"]] * 2
    expected = [[0.5227275, 0.47727254], [0.46839517, 0.5316048]]
    np.testing.assert_allclose(result["probabilities"], expected, rtol=1e-5)


def test_heads_evaluate():
    logits, weights = X[:, :3] * 4 - 2, X[:, 3]
    multi = np.random.RandomState(1).randint(0, 2, (20, 3))
    z, one = tf.constant(logits), tf.constant(logits[:, :1])
    three, two, several = tf.constant(THREE[:, None]), tf.constant(TWO[:, None]), tf.constant(multi)
    cases = {
        "classes": (L.multi_class_head(3, metric_class_ids=[0, 2], weight_column_name="w", head_name="a"), three, z),
        "labels": (L.multi_label_head(3, metric_class_ids=[1], weight_column_name="w"), several, z),
        "binary": (L.multi_class_head(2, thresholds=[0.2, 0.7], weight_column_name="w"), two, one),
        "svm": (head_lib.binary_svm_head(weight_column_name="w"), two, one),
        "poisson": (L.poisson_regression_head(weight_column_name="w"), tf.to_float(two), one),
        "regression": (L.regression_head(label_dimension=3, weight_column_name="w"), tf.to_float(several), z),
    }
    with tf.Session() as session:
        for name, (head, labels, given) in cases.items():
            model = head.create_model_fn_ops({"w": tf.constant(weights)}, "eval", labels=labels, logits=given)
            session.run([tf.local_variables_initializer(), tf.tables_initializer()])
            expected = EXPECTED["heads"][name]
            assert session.run(model.loss) == pytest.approx(expected["loss"], rel=1e-5)
            assert set(model.eval_metric_ops) == set(expected["metrics"])
            session.run([update for _, update in model.eval_metric_ops.values()])
            for metric, value in expected["metrics"].items():
                assert session.run(model.eval_metric_ops[metric][0]) == pytest.approx(value, rel=1e-4), (name, metric)
    tf.reset_default_graph()


def test_heads_refuse():
    with pytest.raises(ValueError, match="metric_class_ids"):
        L.multi_class_head(2, metric_class_ids=[0])
    with pytest.raises(ValueError, match="metric_class_ids"):
        L.multi_class_head(3, metric_class_ids=[3])
    with pytest.raises(ValueError, match="weights not found"):
        L.multi_class_head(3, loss_fn=lambda labels, logits: 0)
