"""BoostedTrees estimators against a NumPy implementation of the algorithm, and their own API."""

import os

import numpy as np
import pytest
import tensorflow as tf
from boosted_trees_reference import Boosting
from estimator_helpers import input_fn

_E = tf.estimator
_BOUNDARIES = [-1.0, -0.4, 0.0, 0.3, 1.0]
_ROWS = 60


@pytest.fixture
def table():
    """Features, their buckets, labels of a regression, weights."""
    random = np.random.default_rng(5)
    x = random.normal(size=[_ROWS, 2]).astype(np.float32)
    word = random.integers(0, 3, _ROWS)
    features = {"x0": x[:, :1], "x1": x[:, 1:], "word": np.array(["a", "b", "c"])[word][:, None]}
    # Columns in the order of their names: word_indicator, x0_bucketized, x1_bucketized.
    buckets = np.concatenate([np.eye(3, dtype=int)[word], np.digitize(x, _BOUNDARIES)], 1)
    score = x[:, 0] * 2 - x[:, 1] + (word == 0) + random.normal(size=_ROWS) / 2
    weights = random.uniform(0.5, 2, _ROWS).astype(np.float32)
    return features, buckets, score.astype(np.float32), weights


def _columns():
    fc = tf.feature_column
    word = fc.indicator_column(fc.categorical_column_with_vocabulary_list("word", ["a", "b", "c"]))
    return [fc.bucketized_column(fc.numeric_column(n), _BOUNDARIES) for n in ("x0", "x1")] + [word]


def _train(make, table, config, classify, batch, weighted=False, columns=None, **options):
    features, _, score, weights = table
    labels = (score > 0).astype(np.int64) if classify else score
    if weighted:
        features = {**features, "w": weights[:, None]}
        options["weight_column"] = "w"
    estimator = make(columns or _columns(), config=config, **options)
    if options.get("train_in_memory"):
        estimator.train(lambda: tf.data.Dataset.from_tensors((features, labels[:, None])).repeat())
    else:
        estimator.train(input_fn(features, labels[:, None], batch=batch))
    rows = list(estimator.predict(input_fn(features, labels[:, None], epochs=1)))
    return estimator, np.array([row["logits" if classify else "predictions"][0] for row in rows])


_OPTIONS = {
    "plain": {},
    "regularized": {"l1_regularization": 0.01, "l2_regularization": 0.05},
    "light nodes": {"min_node_weight": 0.05},
    "centered": {"center_bias": True},
    "pre-pruned": {"tree_complexity": 0.02, "pruning_mode": "pre", "n_trees": 2},
    "post-pruned": {"tree_complexity": 0.05, "pruning_mode": "post"},
}


@pytest.mark.parametrize("classify", [True, False], ids=["classifier", "regressor"])
@pytest.mark.parametrize("name", _OPTIONS)
def test_equals_the_published_algorithm(name, classify, table, config):
    options = {"n_batches_per_layer": 1, "n_trees": 3, "max_depth": 3, "learning_rate": 0.4, **_OPTIONS[name]}
    reference = Boosting(classify, **options)
    _, buckets, score, _ = table
    reference.train(buckets, (score > 0).astype(float) if classify else score, buckets=6)
    make = _E.BoostedTreesClassifier if classify else _E.BoostedTreesRegressor
    _, got = _train(make, table, config, classify, _ROWS, **options)
    np.testing.assert_allclose(got, reference.predict(buckets), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("classify", [True, False], ids=["classifier", "regressor"])
def test_weights_and_several_batches_a_layer(classify, table, config):
    options = {"n_batches_per_layer": 3, "n_trees": 2, "max_depth": 2, "learning_rate": 0.3, "l2_regularization": 0.01}
    _, buckets, score, weights = table
    reference = Boosting(classify, **options)
    labels = (score > 0).astype(float) if classify else score
    reference.train(buckets, labels, weights, batch=20, buckets=6)
    make = _E.BoostedTreesClassifier if classify else _E.BoostedTreesRegressor
    _, got = _train(make, table, config, classify, 20, weighted=True, **options)
    np.testing.assert_allclose(got, reference.predict(buckets), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("center_bias", [False, True])
def test_training_in_memory_gives_the_same(table, config, tmp_path, center_bias):
    options = {"n_batches_per_layer": 1, "n_trees": 3, "max_depth": 2, "learning_rate": 0.4, "center_bias": center_bias}
    _, want = _train(_E.BoostedTreesClassifier, table, config, True, _ROWS, **options)
    other = config.replace(model_dir=str(tmp_path / "memory"))
    _, got = _train(_E.BoostedTreesClassifier, table, other, True, _ROWS, train_in_memory=True, **options)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_post_pruning_in_memory_corrects_cached_logits(table, config, tmp_path):
    options = {
        "n_batches_per_layer": 1, "n_trees": 4, "max_depth": 3, "learning_rate": 0.4,
        "tree_complexity": 0.05, "pruning_mode": "post",
    }  # fmt: skip
    _, want = _train(_E.BoostedTreesRegressor, table, config, False, _ROWS, **options)
    other = config.replace(model_dir=str(tmp_path / "memory"))
    _, got = _train(_E.BoostedTreesRegressor, table, other, False, _ROWS, train_in_memory=True, **options)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_float_columns_are_cut_at_their_values(table, config):
    """With fewer values than buckets the boundaries are the values, and the trees those of the exact algorithm."""
    features, _, score, _ = table
    features = {"x0": np.round(features["x0"] * 4) / 4, "x1": np.round(features["x1"] * 4) / 4}
    values = [np.unique(features[name]) for name in ("x0", "x1")]
    buckets = np.stack([np.searchsorted(v, features[n][:, 0]) for n, v in zip(("x0", "x1"), values, strict=True)], 1)
    options = {"n_batches_per_layer": 1, "n_trees": 3, "max_depth": 2, "learning_rate": 0.4}
    reference = Boosting(False, **options)
    reference.train(buckets, score, buckets=max(map(len, values)))
    columns = [tf.feature_column.numeric_column("x0"), tf.feature_column.numeric_column("x1")]
    estimator, got = _train(
        _E.BoostedTreesRegressor, (features, None, score, None), config, False, _ROWS, columns=columns, **options
    )
    np.testing.assert_allclose(got, reference.predict(buckets), rtol=2e-4, atol=2e-5)
    boundaries = estimator.get_variable_value("boosted_trees/QuantileAccumulator:0_bucket_boundaries_0")
    np.testing.assert_array_equal(boundaries, values[0])


def test_training_stops_when_all_trees_are_grown_and_goes_on_from_a_checkpoint(table, config):
    options = {"n_batches_per_layer": 1, "n_trees": 2, "max_depth": 2}
    estimator, first = _train(_E.BoostedTreesClassifier, table, config, True, _ROWS, **options)
    assert estimator.get_variable_value("global_step") == 4
    _, more = _train(_E.BoostedTreesClassifier, table, config, True, _ROWS, **{**options, "n_trees": 3})
    assert estimator.get_variable_value("global_step") == 6
    assert np.abs(more - first).max() > 0


def test_explanations_sum_to_the_prediction(table, config):
    options = {"n_batches_per_layer": 1, "n_trees": 3, "max_depth": 2, "center_bias": True}
    features, _, score, _ = table
    estimator, logits = _train(_E.BoostedTreesClassifier, table, config, True, _ROWS, **options)
    rows = list(
        estimator.experimental_predict_with_explanations(input_fn(features, score[:, None], epochs=1), ["logits"])
    )
    for row, logit in zip(rows, logits, strict=True):
        assert set(row) == {"logits", "bias", "dfc"}
        np.testing.assert_allclose(row["bias"] + sum(row["dfc"].values()), 1 / (1 + np.exp(-logit)), rtol=1e-4)
    np.testing.assert_allclose(rows[0]["bias"], (score > 0).mean(), atol=0.01)


def test_feature_importances_are_the_gains_of_the_splits(table, config):
    from tensorflow.core.kernels.boosted_trees import boosted_trees_pb2

    estimator, _ = _train(
        _E.BoostedTreesRegressor, table, config, False, _ROWS, n_batches_per_layer=1, n_trees=2, max_depth=2
    )
    ensemble = boosted_trees_pb2.TreeEnsemble.FromString(estimator.get_variable_value("boosted_trees:0_serialized"))
    total = sum(node.metadata.gain for tree in ensemble.trees for node in tree.nodes)
    importances = estimator.experimental_feature_importances()
    np.testing.assert_allclose(sum(importances.values()), total, rtol=1e-5)
    assert next(iter(importances)) == "x0_bucketized"
    np.testing.assert_allclose(sum(estimator.experimental_feature_importances(normalize=True).values()), 1, rtol=1e-6)


def test_estimator_with_a_head(table, config, tmp_path):
    options = {"n_batches_per_layer": 1, "n_trees": 2, "max_depth": 2}
    _, want = _train(_E.BoostedTreesRegressor, table, config, False, _ROWS, **options)
    features, _, score, _ = table
    estimator = _E.BoostedTreesEstimator(
        _columns(), 1, tf.contrib.estimator.regression_head(), model_dir=str(tmp_path / "head"), n_trees=2, max_depth=2
    )
    estimator.train(input_fn(features, score[:, None], batch=_ROWS))
    got = [row["predictions"][0] for row in estimator.predict(input_fn(features, score[:, None], epochs=1))]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_export_and_reload(table, config, tmp_path):
    features, _, score, _ = table
    estimator, logits = _train(
        _E.BoostedTreesClassifier, table, config, True, _ROWS, n_batches_per_layer=1, n_trees=2, max_depth=2
    )
    dtypes = {"x0": tf.float32, "x1": tf.float32, "word": tf.string}

    def receiver():
        tensors = {name: tf.placeholder(dtype, [None, 1]) for name, dtype in dtypes.items()}
        return _E.export.ServingInputReceiver(tensors, tensors)

    folder = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    predict = tf.contrib.predictor.from_saved_model(folder, signature_def_key="predict")
    np.testing.assert_allclose(predict(features)["logits"][:, 0], logits, rtol=1e-6)


def test_an_altered_ensemble_is_refused():
    from tensorflow.python.ops import boosted_trees_ops

    trees = boosted_trees_ops.TreeEnsemble("trees")
    load = trees.deserialize(0, "no ensemble")
    with tf.Session() as session:
        session.run(trees.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="tree_ensemble_serialized cannot be read"):
            session.run(load)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pruning_mode": "pre"}, "needs a positive tree_complexity"),
        ({"tree_complexity": 1.0}, "no effect with pruning_mode='none'"),
        ({"pruning_mode": "some"}, "none, post, pre"),
        ({"n_batches_per_layer": 2, "train_in_memory": True}, "n_batches_per_layer must be 1"),
    ],
)
def test_bad_options(table, config, options, message):
    with pytest.raises(ValueError, match=message):
        _train(_E.BoostedTreesRegressor, table, config, False, _ROWS, **{"n_batches_per_layer": 1, **options})


def test_in_memory_training_needs_to_know_the_number_of_rows(table, config):
    features, _, score, _ = table
    estimator = _E.BoostedTreesRegressor(_columns(), 1, config=config, train_in_memory=True)
    with pytest.raises(ValueError, match="from_tensors"):
        estimator.train(input_fn(features, score[:, None], batch=_ROWS))


def test_more_than_two_classes_are_refused():
    with pytest.raises(ValueError, match="two classes, got n_classes=3"):
        _E.BoostedTreesClassifier([], 1, n_classes=3)


def test_a_categorical_column_must_be_wrapped():
    word = tf.feature_column.categorical_column_with_vocabulary_list("word", ["a"])
    with pytest.raises(ValueError, match="indicator_column"):
        _E.BoostedTreesClassifier([word], 1)


@pytest.mark.parametrize("parts", ["trees", "quantiles"])
def test_kernels_check_their_input(parts):
    from tensorflow.python.ops import boosted_trees_ops as ops

    if parts == "trees":
        bad = ops.make_stats_summary([5], [[1.0]], [[1.0]], [[0]], max_splits=3, num_buckets=2)
        message = "node 5"
    else:
        bad = ops.make_quantile_summaries([[1.0, 2.0]], [1.0, 1.0, 1.0], 0.1)
        message = "example_weights"
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(bad)


def test_checkpoint_has_the_keys_of_1_15(table, config):
    estimator, _ = _train(
        _E.BoostedTreesRegressor, table, config, False, _ROWS, n_batches_per_layer=1, n_trees=1, max_depth=1
    )
    assert set(estimator.get_variable_names()) == {
        "boosted_trees/are_boundaries_ready",
        "boosted_trees/center_bias_needed",
        "boosted_trees:0_serialized",
        "boosted_trees:0_stamp",
        "global_step",
    }
    assert os.path.exists(config.model_dir)
