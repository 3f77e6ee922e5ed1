"""tf.contrib.factorization's estimators and mixtures against Lloyd's algorithm and EM in NumPy."""

import numpy as np
import pytest
import tensorflow as tf

F = tf.contrib.factorization


def clouds(count=40, dimensions=2):
    r = np.random.RandomState(3)
    return np.concatenate([r.normal(size=[count, dimensions]), r.normal(size=[count, dimensions]) * 2 + 5]).astype(
        np.float32
    )


def input_of(points, epochs=None):
    return lambda: tf.train.limit_epochs(tf.constant(points), num_epochs=epochs) if epochs else tf.constant(points)


def lloyd(points, centers, steps):
    for _ in range(steps):
        nearest = np.square(points[:, None] - centers).sum(-1).argmin(1)
        centers = np.stack([points[nearest == k].mean(0) for k in range(len(centers))])
    return centers


def gaussian_log_joint(points, alpha, means, covs):
    out = []
    for a, m, c in zip(alpha, means, covs):
        c = c + 1e-3 * np.eye(len(m))
        d = points - m
        distance = np.einsum("nd,de,ne->n", d, np.linalg.inv(c), d)
        out.append(np.log(a) - 0.5 * (distance + np.log(np.linalg.det(2 * np.pi * c))))
    return np.stack(out, 1)


def log_likelihoods(joint):
    top = joint.max(1, keepdims=True)
    return top + np.log(np.exp(joint - top).sum(1, keepdims=True))


def em(points, means, steps, diagonal=False, params="wmc", first=None):
    """alpha, means, covariances (always as matrices)."""
    points, size = points.astype(np.float64), points.shape[1]
    only = np.eye(size) if diagonal else np.ones([size, size])
    alpha = np.full(len(means), 1 / len(means))
    first = points if first is None else first
    covs = np.stack([(np.cov(first.T) * only + 1e-3 * np.eye(size))] * len(means))
    means = means.astype(np.float64)
    for _ in range(steps):
        joint = gaussian_log_joint(points, alpha, means, covs)
        r = np.exp(joint - log_likelihoods(joint))
        total = r.sum(0)
        if "w" in params:
            alpha = total / total.sum()
        if "m" in params:
            means = r.T @ points / total[:, None]
        if "c" in params:
            seconds = np.einsum("nk,nd,ne->kde", r, points, points) / total[:, None, None]
            covs = (seconds - np.einsum("kd,ke->kde", means, means) + 1e-3 * np.eye(size)) * only
    return alpha, means, covs


def log_sum(joint):
    """Logarithm of the sum of all examples' likelihoods: what 1.15 calls the likelihood of the data."""
    return np.log(np.exp(joint).sum())


def test_kmeans_clustering_is_lloyds_algorithm(tmp_path):
    points = clouds()
    model = F.KMeansClustering(2, str(tmp_path), initial_clusters=points[[0, 1]], use_mini_batch=False)
    model.train(input_of(points), steps=3)
    centers = lloyd(points, points[[0, 1]], 3)
    np.testing.assert_allclose(model.cluster_centers(), centers, rtol=1e-4)
    distances = np.square(points[:, None] - centers).sum(-1)
    assert list(model.predict_cluster_index(input_of(points, 1))) == distances.argmin(1).tolist()
    np.testing.assert_allclose(list(model.transform(input_of(points, 1))), distances, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.score(input_of(points, 1)), distances.min(1).sum(), rtol=1e-4)


def test_kmeans_clustering_refuses_an_unknown_initialization():
    with pytest.raises(ValueError, match="initialization"):
        F.KMeansClustering(2, initial_clusters="nearest")


@pytest.mark.parametrize("kind", ["full", "diag"])
@pytest.mark.parametrize("params", ["wmc", "m", "w"])
def test_gmm_is_em(kind, params):
    points = clouds(dimensions=3)
    with tf.Graph().as_default(), tf.Session() as session:
        tool = F.GmmAlgorithm([tf.constant(points)], 2, tf.constant(points[[0, 60]]), params, kind)
        session.run(tf.global_variables_initializer())
        assert not session.run(tool.is_initialized())
        session.run(tool.init_ops())
        assert session.run(tool.is_initialized())
        for _ in range(4):
            session.run(tool.training_ops())
        alpha, means, covs, scores, total, assigned = session.run(
            [tool.alphas(), tool.clusters(), tool.covariances(), tool.scores(), tool.log_likelihood_op(),
             tool.assignments()[0]]
        )  # fmt: skip
    wanted = em(points, points[[0, 60]], 4, kind == "diag", params)
    np.testing.assert_allclose(alpha, wanted[0], rtol=1e-3)
    np.testing.assert_allclose(means[:, 0], wanted[1], rtol=1e-3, atol=1e-3)
    matrices = covs if kind == "full" else np.stack([np.diag(c) for c in covs])
    np.testing.assert_allclose(matrices, wanted[2], rtol=1e-2, atol=1e-3)
    joint = gaussian_log_joint(points, *wanted)
    np.testing.assert_allclose(scores, log_likelihoods(joint), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(total, log_sum(joint), rtol=1e-3)
    np.testing.assert_array_equal(assigned, joint.argmax(1))


def test_gmm_trains_on_all_shards():
    points = clouds()
    with tf.Graph().as_default(), tf.Session() as session:
        shards = [tf.constant(points[:30]), tf.constant(points[30:])]
        loss, scores, assigned, train, init, _ = F.gmm(shards, points[[0, 60]], 2, 0)
        session.run(tf.global_variables_initializer())
        session.run(init)
        for _ in range(3):
            session.run(train)
        loss, scores, assigned = session.run([loss, scores, assigned[0]])
    # The first covariances are those of the first shard.
    joint = gaussian_log_joint(points, *em(points, points[[0, 60]], 3, first=points[:30]))
    np.testing.assert_allclose(scores, log_likelihoods(joint), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(loss, log_sum(joint), rtol=1e-3)
    np.testing.assert_array_equal(np.concatenate(assigned), joint.argmax(1))


def test_gmm_starts_from_random_examples():
    points = clouds()
    with tf.Graph().as_default(), tf.Session() as session:
        tool = F.GmmAlgorithm([tf.constant(points)], 3, random_seed=4)
        session.run(tf.global_variables_initializer())
        session.run(tool.init_ops())
        means = session.run(tool.clusters())[:, 0]
    assert all((points == m).all(1).any() for m in means)
    assert [v for v in F.GmmAlgorithm.__dict__ if v.startswith("CLUSTERS")] == [
        "CLUSTERS_WEIGHT",
        "CLUSTERS_VARIABLE",
        "CLUSTERS_COVS_VARIABLE",
    ]


def test_gmm_estimator_trains_scores_and_assigns(tmp_path):
    points = clouds()

    def input_fn():
        return tf.constant(points), None

    model = F.GMM(2, str(tmp_path), initial_clusters=points[[0, 60]])
    model.fit(input_fn=input_fn, steps=5)
    wanted = em(points, points[[0, 60]], 5)
    np.testing.assert_allclose(model.weights(), wanted[0], rtol=1e-3)
    np.testing.assert_allclose(model.clusters(), wanted[1], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(model.covariances(), wanted[2], rtol=1e-2, atol=1e-3)
    joint = gaussian_log_joint(points, *wanted)
    np.testing.assert_allclose(model.score(input_fn=input_fn, steps=1), log_sum(joint), rtol=1e-3)
    got = list(model.predict_assignments(input_fn=lambda: (input_of(points, 1)(), None)))
    assert got == joint.argmax(1).tolist()
    assert {"alphas", "clusters", "clusters_covs", "initialized"} <= set(model.get_variable_names())


def test_gmm_refuses_unknown_kinds():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="covariance_type"):
            F.gmm(tf.zeros([4, 2]), "random", 2, 0, covariance_type="round")
        with pytest.raises(ValueError, match="initial_clusters"):
            F.gmm(tf.zeros([4, 2]), "first", 2, 0)


def solve(entries, other, weight, unobserved, regularization):
    """The rows of least weighted squares for A [rows, columns] with NaN where it is unobserved."""
    out = []
    for row in entries:
        w = np.where(np.isnan(row), unobserved, unobserved + weight)
        lhs = (other * w[:, None]).T @ other + regularization * np.eye(other.shape[1])
        out.append(np.linalg.solve(lhs, other.T @ (w * np.nan_to_num(row))))
    return np.stack(out)


def matrix_with_gaps():
    r = np.random.RandomState(5)
    a = r.normal(size=[6, 4])
    a[r.uniform(size=a.shape) < 0.3] = np.nan
    a[np.arange(4), np.arange(4)], a[4:, 0] = 1.0, 2.0
    return a


def sparse(a):
    indices = np.argwhere(~np.isnan(a))
    return tf.SparseTensor(indices, a[tuple(indices.T)].astype(np.float32), a.shape)


def wals_input(a, of_rows=True):
    M = F.WALSMatrixFactorization

    def input_fn():
        features = {M.INPUT_ROWS: sparse(a), M.INPUT_COLS: sparse(a.T), M.PROJECT_ROW: tf.constant(of_rows)}
        return features, None

    return input_fn


@pytest.mark.parametrize("caches", [True, False])
def test_wals_matrix_factorization_solves_rows_and_columns_in_turn(tmp_path, caches):
    a, r = matrix_with_gaps(), np.random.RandomState(6)
    rows, columns = r.normal(size=[6, 2]).astype(np.float32), r.normal(size=[4, 2]).astype(np.float32)
    model = F.WALSMatrixFactorization(
        6, 4, 2, 0.2, 0.1, row_init=rows, col_init=columns, num_row_shards=2, max_sweeps=3, row_weights=1.5,
        use_factors_weights_cache_for_training=caches, use_gramian_cache_for_training=caches, model_dir=str(tmp_path),
    )  # fmt: skip
    model.fit(input_fn=wals_input(a), steps=50)
    rows = solve(a, columns, 1.5, 0.2, 0.1)
    columns = solve(a.T, rows, 1.5, 0.2, 0.1)
    rows = solve(a, columns, 1.5, 0.2, 0.1)
    np.testing.assert_allclose(np.concatenate(model.get_row_factors()), rows, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.get_col_factors()[0], columns, rtol=1e-3, atol=1e-4)
    assert model.get_variable_value("completed_sweeps") == 3 and model.get_variable_value("global_step") == 3
    weights = np.where(np.isnan(a), 0.2, 1.7)
    loss = (weights * np.square(np.nan_to_num(a) - rows @ columns.T)).sum()
    loss += 0.1 * (np.square(rows).sum() + np.square(columns).sum())
    np.testing.assert_allclose(model.get_variable_value("WALS_loss"), loss, rtol=1e-3)
    np.testing.assert_allclose(model.evaluate(input_fn=wals_input(a), steps=1)["loss"], loss, rtol=1e-3)


def test_wals_matrix_factorization_projects_new_rows(tmp_path):
    a, columns = matrix_with_gaps(), np.random.RandomState(6).normal(size=[4, 2]).astype(np.float32)
    model = F.WALSMatrixFactorization(6, 4, 2, 0.2, 0.1, col_init=columns, max_sweeps=1, model_dir=str(tmp_path))
    model.fit(input_fn=wals_input(a))
    new = a[[5, 0, 2]]
    features = wals_input(a)

    def input_fn():
        inputs = features()[0]
        inputs["input_rows"] = sparse(new)
        # One batch: a queue of one element.
        runs = tf.train.limit_epochs(tf.constant(0), 1)
        with tf.control_dependencies([runs]):
            inputs["project_row"] = tf.identity(inputs["project_row"])
        return inputs, None

    got = [value for value, _ in zip(model.get_projections(input_fn), range(3))]
    np.testing.assert_allclose(got, solve(new, columns, 1.0, 0.2, 0.1), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_masked_matmul_gives_entries_of_the_product(transpose_a, transpose_b):
    from tensorflow.contrib.factorization.python.ops import gen_factorization_ops

    r = np.random.RandomState(7)
    a, b = r.normal(size=[4, 3]).astype(np.float32), r.normal(size=[3, 5]).astype(np.float32)
    indices = np.array([[0, 0], [3, 4], [1, 2], [3, 0]])
    with tf.Graph().as_default(), tf.Session() as session:
        got = gen_factorization_ops.masked_matmul(
            a.T if transpose_a else a, b.T if transpose_b else b, indices, transpose_a, transpose_b
        )
        np.testing.assert_allclose(session.run(got), (a @ b)[tuple(indices.T)], rtol=1e-5)
