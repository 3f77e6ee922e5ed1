"""tf.contrib.factorization against a run of TensorFlow 1.15.5: the values of data/factorization_values.json."""

import json
import pathlib

import numpy as np
import pytest
import tensorflow as tf

F = tf.contrib.factorization
EXPECTED = json.loads((pathlib.Path(__file__).parent / "data" / "factorization_values.json").read_text())
POINTS = np.random.RandomState(0).rand(30, 2).astype(np.float32)


def points():
    return tf.train.limit_epochs(tf.convert_to_tensor(POINTS), num_epochs=1)


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("init", {"initial_clusters": POINTS[:3]}),
        ("random", {"random_seed": 3}),
        ("pp", {"random_seed": 3, "initial_clusters": "kmeans_plus_plus"}),
        ("cos", {"distance_metric": "cosine", "initial_clusters": POINTS[:3]}),
        ("callable", {"initial_clusters": lambda inputs, count: tf.constant(POINTS[5:8])}),
    ],
)
def test_kmeans_estimator(name, arguments, tmp_path):
    config = tf.estimator.RunConfig(tf_random_seed=1)
    model = F.KMeansClustering(3, model_dir=str(tmp_path), config=config, use_mini_batch=False, **arguments)
    expected = EXPECTED[name]
    for score in expected["scores"]:
        model.train(points)
        assert model.score(points) == pytest.approx(score, rel=2e-5)
    np.testing.assert_allclose(model.cluster_centers(), expected["centers"], rtol=2e-5)
    assert list(model.predict_cluster_index(points)) == expected["indices"]
    np.testing.assert_allclose(list(model.transform(points))[:4], expected["distances"], rtol=1e-4, atol=1e-6)
    assert set(model.get_variable_names()) == set(expected["variables"])


@pytest.mark.parametrize("case", range(8))
def test_kmeans_ops(case):
    starts = ["random", "kmeans_plus_plus", "kmc2", POINTS[:4]]
    metric = ("squared_euclidean", "cosine")[case % 2]
    with tf.Graph().as_default(), tf.Session() as session:
        model = F.KMeans(tf.constant(POINTS), 4, starts[case // 2], metric, random_seed=7)
        _, indices, _, is_initialized, init_op, train_op = model.training_graph()
        session.run(tf.global_variables_initializer())
        while not session.run(is_initialized):
            session.run(init_op)
        for _ in range(4):
            session.run(train_op)
        assert session.run(indices[0]).tolist() == EXPECTED["ops"][case]["indices"]
        np.testing.assert_allclose(session.run("clusters:0"), EXPECTED["ops"][case]["centers"], rtol=1e-4)


@pytest.mark.parametrize(
    "covariance, start", [("full", "given"), ("full", "random"), ("diag", "given"), ("diag", "random")]
)
def test_gmm_estimator(covariance, start, tmp_path):
    x = np.random.RandomState(0).rand(40, 3).astype(np.float32)
    config = tf.contrib.learn.RunConfig(tf_random_seed=1)
    clusters = x[:3] if start == "given" else "random"
    model = F.GMM(3, str(tmp_path), 4, initial_clusters=clusters, covariance_type=covariance, config=config)
    model.fit(input_fn=lambda: (tf.constant(x), None), steps=10)
    expected = EXPECTED[f"gmm_{covariance}_{start}"]
    np.testing.assert_allclose(model.clusters(), expected["clusters"], rtol=1e-4)
    np.testing.assert_allclose(model.covariances(), expected["covariances"], rtol=1e-3, atol=1e-5)
    assert model.score(input_fn=lambda: (tf.constant(x), None), steps=1) == pytest.approx(expected["score"], rel=1e-4)
    assert list(model.predict_assignments(input_fn=lambda: (tf.constant(x), None))) == expected["assignments"]


def test_wals_estimator(tmp_path):
    a = np.random.RandomState(0).rand(5, 4).astype(np.float32)

    def input_fn():
        rows = tf.SparseTensor(np.argwhere(a > 0), a.ravel(), [5, 4])
        columns = tf.SparseTensor(np.argwhere(a.T > 0), a.T.ravel(), [4, 5])
        # As in the run of 1.15: these ops are counted for the seeds.
        tf.train.limit_epochs(tf.constant(np.arange(5)), None)
        tf.placeholder_with_default(tf.constant(True), [])
        model = F.WALSMatrixFactorization
        return {model.INPUT_ROWS: rows, model.INPUT_COLS: columns, model.PROJECT_ROW: tf.constant(True)}, None

    model = F.WALSMatrixFactorization(
        5, 4, 2, unobserved_weight=0.1, regularization_coeff=0.01, max_sweeps=4, model_dir=str(tmp_path),
        config=tf.estimator.RunConfig(tf_random_seed=2),
    )  # fmt: skip
    model.fit(input_fn=input_fn, steps=30)
    assert set(model.get_variable_names()) == set(EXPECTED["wals"]["variables"])
    np.testing.assert_allclose(model.get_row_factors()[0], EXPECTED["wals"]["rows"], rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(model.get_col_factors()[0], EXPECTED["wals"]["columns"], rtol=1e-3, atol=1e-5)
