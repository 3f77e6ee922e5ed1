"""Canned estimators train, evaluate, predict, and name their variables as 1.15 did."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_helpers import ROWS, input_fn

_E = tf.estimator


def _linear_names(optimizer):
    parts = ("linear/linear_model/word/weights", "linear/linear_model/x0/weights", "linear/linear_model/bias_weights")
    return {part for part in parts} | {f"{part}/{optimizer}" for part in parts}


def _make(name, wide, deep, config):
    if name.startswith("DNNLinearCombined"):
        return getattr(_E, name)(
            linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[4, 3], config=config
        )
    if name.startswith("DNN"):
        return getattr(_E, name)(feature_columns=deep, hidden_units=[4, 3], config=config)
    if name.startswith("Linear"):
        return getattr(_E, name)(feature_columns=wide, config=config)
    return getattr(_E, name)(config=config)


_NAMES = {
    "BaselineClassifier": {"baseline/bias", "baseline/bias/part_0/Ftrl"},
    "BaselineRegressor": {"baseline/bias"},
    "LinearClassifier": _linear_names("part_0/Ftrl"),
    "LinearRegressor": {"linear/linear_model/x1/weights", "linear/linear_model/x1/weights/part_0/Ftrl_1"},
    "DNNClassifier": {
        "dnn/hiddenlayer_0/kernel",
        "dnn/hiddenlayer_1/bias/t_0/Adagrad",
        "dnn/input_from_feature_columns/input_layer/word_embedding/embedding_weights",
        "dnn/logits/kernel/t_0/Adagrad",
    },
    "DNNRegressor": {"dnn/hiddenlayer_0/kernel/t_0/Adagrad", "dnn/logits/bias"},
    "DNNLinearCombinedClassifier": {
        "dnn/hiddenlayer_0/kernel",
        "dnn/hiddenlayer_0/kernel/Adagrad",
        "linear/linear_model/word/weights",
        "linear/linear_model/word/weights/part_0/Ftrl",
    },
    "DNNLinearCombinedRegressor": {"dnn/logits/kernel", "linear/linear_model/bias_weights"},
}


@pytest.mark.parametrize("name", _NAMES)
def test_trains_evaluates_predicts(name, data, columns, config):
    features, score = data
    classify = name.endswith("Classifier")
    labels = (score > 0).astype(np.int64) if classify else score
    estimator = _make(name, *columns, config)
    estimator.train(input_fn(features, labels), steps=3)
    first = estimator.evaluate(input_fn(features, labels, epochs=1))
    estimator.train(input_fn(features, labels), steps=60)
    last = estimator.evaluate(input_fn(features, labels, epochs=1))
    assert last["global_step"] == 63
    assert last["average_loss"] < first["average_loss"]
    rows = list(estimator.predict(input_fn(features, labels, epochs=1)))
    assert len(rows) == ROWS
    if classify:
        hits = np.mean([row["class_ids"][0] == label[0] for row, label in zip(rows, labels, strict=True)])
        np.testing.assert_allclose(hits, last["accuracy"], rtol=1e-6)
    else:
        error = np.mean([(row["predictions"][0] - label[0]) ** 2 for row, label in zip(rows, labels, strict=True)])
        np.testing.assert_allclose(error, last["average_loss"], rtol=1e-4)
    # A partitioned variable's slots are listed by part.
    names = {n.replace("/part_0/", "/") for n in estimator.get_variable_names()}
    missing = {n for n in _NAMES[name] if n.replace("/part_0/", "/") not in names}
    assert not missing, sorted(names)


def test_dropout_batch_norm_and_multi_class(data, columns, config):
    features, score = data
    labels = np.digitize(score, [-0.5, 0.5]).astype(np.int64)
    estimator = _E.DNNClassifier(
        [8], columns[1], n_classes=3, dropout=0.1, batch_norm=True, optimizer="Adam", config=config
    )
    estimator.train(input_fn(features, labels), steps=5)
    rows = list(estimator.predict(input_fn(features, labels, epochs=1)))
    np.testing.assert_allclose([row["probabilities"].sum() for row in rows], 1, rtol=1e-5)
    assert "dnn/hiddenlayer_0/batchnorm_0/gamma" in estimator.get_variable_names()


def test_partitioned_input_layer(data, columns, config):
    features, score = data
    estimator = _E.DNNLinearCombinedClassifier(
        linear_feature_columns=columns[0],
        dnn_feature_columns=columns[1],
        dnn_hidden_units=[3],
        input_layer_partitioner=tf.fixed_size_partitioner(2),
        config=config,
    )
    estimator.train(input_fn(features, (score > 0).astype(np.int64)), steps=2)
    assert estimator.get_variable_value("linear/linear_model/word/weights").shape == (3, 1)


def test_linear_ftrl_with_l1_zeroes_weights(data, columns, config):
    features, score = data
    estimator = _E.LinearClassifier(
        columns[0], optimizer=tf.train.FtrlOptimizer(0.1, l1_regularization_strength=1e6), config=config
    )
    estimator.train(input_fn(features, (score > 0).astype(np.int64)), steps=3)
    assert not estimator.get_variable_value("linear/linear_model/x0/weights").any()


def test_heads_with_estimators_of_one_logit(data, columns, config):
    features, score = data
    labels = np.exp(score).astype(np.float32).round()
    estimator = _E.DNNEstimator(tf.contrib.estimator.poisson_regression_head(), [4], columns[1], config=config)
    estimator.train(input_fn(features, labels), steps=3)
    predicted = [row["predictions"][0] for row in estimator.predict(input_fn(features, labels, epochs=1))]
    assert min(predicted) > 0


def test_kmeans(config):
    points = np.concatenate([np.full([8, 2], 1.0), np.full([8, 2], -1.0)]).astype(np.float32)
    estimator = _E.experimental.KMeans(2, model_dir=config.model_dir, use_mini_batch=False, seed=1)
    estimator.train(lambda: tf.data.Dataset.from_tensors(points).repeat(5))
    np.testing.assert_allclose(sorted(estimator.cluster_centers()[:, 0]), [-1, 1], atol=1e-5)


def test_linear_sdca(data, config):
    features, score = data
    features = {**features, "id": np.array([str(i) for i in range(ROWS)])}
    columns = [tf.feature_column.numeric_column("x0"), tf.feature_column.numeric_column("x1")]
    optimizer = _E.experimental.LinearSDCA(example_id_column="id", symmetric_l2_regularization=0.1)
    estimator = tf.compat.v2.estimator.LinearClassifier(columns, optimizer=optimizer, config=config)
    labels = (score > 0).astype(np.int64)
    estimator.train(input_fn(features, labels, batch=ROWS), steps=20)
    assert estimator.evaluate(input_fn(features, labels, epochs=1))["accuracy"] > 0.7
