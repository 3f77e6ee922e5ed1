"""tf.contrib.{image,resampler,text,sparsemax,nn,memory_stats,mixed_precision,factorization,...} against NumPy."""

import numpy as np
import pytest
import tensorflow as tf

C = tf.contrib


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        tf.set_random_seed(2)
        yield own


def run(tensors, feed=None):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(tensors, feed)


def random(*shape, seed=0):
    return np.random.RandomState(seed + sum(shape)).uniform(size=shape).astype(np.float32)


# Images


def projected(image, t, shape=None):
    """Nearest neighbour along a transform, pixel by pixel."""
    rows, columns = shape or image.shape[:2]
    out = np.zeros((rows, columns) + image.shape[2:], image.dtype)
    for y in range(rows):
        for x in range(columns):
            k = t[6] * x + t[7] * y + 1
            u, v = (t[0] * x + t[1] * y + t[2]) / k, (t[3] * x + t[4] * y + t[5]) / k
            u, v = int(np.rint(u)), int(np.rint(v))
            if 0 <= v < image.shape[0] and 0 <= u < image.shape[1]:
                out[y, x] = image[v, u]
    return out


def test_transform_nearest():
    image = random(1, 5, 6, 2)
    t = [1.0, 0.2, -0.43, 0.1, 0.9, 0.33, 0.001, 0.0]
    np.testing.assert_array_equal(run(C.image.transform(image, t))[0], projected(image[0], t))
    np.testing.assert_array_equal(
        run(C.image.transform(image, t, output_shape=[3, 4]))[0], projected(image[0], t, (3, 4))
    )


@pytest.mark.parametrize("rank", [2, 3, 4])
def test_quarter_turn_and_translation(rank):
    image = random(*[1, 4, 4, 2][4 - rank if rank == 4 else 1 : 4 if rank > 2 else 3])
    plane = image if rank < 4 else image[0]
    turned, moved = run([C.image.rotate(image, np.pi / 2), C.image.translate(image, [1.0, 2.0])])
    turned, moved = (v if rank < 4 else v[0] for v in (turned, moved))
    np.testing.assert_array_equal(turned, np.rot90(plane))
    want = np.zeros_like(plane)
    want[2:, 1:] = plane[:-2, :-1]
    np.testing.assert_array_equal(moved, want)


def test_transform_algebra():
    a, b = [1.0, 0.2, 3.0, 0.1, 0.9, -1.0, 0.01, 0.02], [0.8, 0.0, 1.0, 0.3, 1.1, 2.0, 0.0, 0.01]
    matrix = lambda t: np.append(t, 1.0).reshape(3, 3)  # noqa: E731
    product = matrix(a) @ matrix(b)
    got, matrices = run([C.image.compose_transforms(a, b), C.image.flat_transforms_to_matrices([a, b])])
    np.testing.assert_allclose(got[0], (product / product[2, 2]).ravel()[:8], rtol=1e-5)
    np.testing.assert_allclose(matrices, [matrix(a), matrix(b)], rtol=1e-6)
    np.testing.assert_allclose(run(C.image.matrices_to_flat_transforms(2 * matrices[0]))[0], a, rtol=1e-6)
    np.testing.assert_allclose(
        run(C.image.translations_to_projective_transforms([2.0, 3.0])), [[1, 0, -2, 0, 1, -3, 0, 0]]
    )


def test_transform_gradient_goes_back():
    image = tf.constant(random(1, 4, 4, 1))
    y = C.image.translate(image, [1.0, 0.0], "BILINEAR")
    gradient = run(
        tf.gradients(tf.reduce_sum(y * tf.constant(np.arange(16.0, dtype=np.float32).reshape(1, 4, 4, 1))), image)[0]
    )
    want = np.zeros([4, 4])
    want[:, :3] = np.arange(16).reshape(4, 4)[:, 1:]
    np.testing.assert_allclose(gradient[0, :, :, 0], want, atol=1e-5)


def test_image_functions_refuse_bad_input():
    with pytest.raises(TypeError, match="rank"):
        C.image.rotate(tf.zeros([5]), 0.1)
    with pytest.raises(TypeError, match="dtype"):
        C.image.transform(tf.constant([["a"]]), [1.0] * 8)
    with pytest.raises(TypeError, match="Angles"):
        C.image.angles_to_projective_transforms([[0.1]], 5.0, 5.0)
    with pytest.raises(ValueError, match="output_shape"):
        C.image.transform(tf.zeros([4, 4]), [1.0] * 8, output_shape=[1, 2, 3])
    with pytest.raises(ValueError, match="at least one"):
        C.image.compose_transforms()


def test_dense_image_warp():
    image, flow = random(1, 4, 5, 2), (random(1, 4, 5, 2, seed=1) - 0.5) * 3
    got = run(C.image.dense_image_warp(tf.constant(image), tf.constant(flow)))
    for y in range(4):
        for x in range(5):
            v, u = np.clip(y - flow[0, y, x, 0], 0, 3), np.clip(x - flow[0, y, x, 1], 0, 4)
            r, c = min(int(v), 2), min(int(u), 3)
            a, b = v - r, u - c
            p = image[0]
            want = (1 - a) * ((1 - b) * p[r, c] + b * p[r, c + 1]) + a * ((1 - b) * p[r + 1, c] + b * p[r + 1, c + 1])
            np.testing.assert_allclose(got[0, y, x], want, atol=1e-5)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_spline_goes_through_its_points_and_is_exact_for_planes(order):
    points = random(1, 12, 2)
    values = points @ np.array([[2.0], [-1.0]], np.float32) + 3
    query = random(1, 5, 2, seed=3)
    again, plane = run(
        [
            C.image.interpolate_spline(points, np.sin(9 * values), points, order),
            C.image.interpolate_spline(points, values, query, order),
        ]
    )
    np.testing.assert_allclose(again, np.sin(9 * values), atol=1e-2)
    np.testing.assert_allclose(plane, query @ np.array([[2.0], [-1.0]]) + 3, atol=2e-2)


@pytest.mark.parametrize("boundary", [0, 2])
def test_sparse_image_warp_moves_control_points(boundary):
    image = np.zeros([1, 9, 9, 1], np.float32)
    image[0, 4, 4] = 1
    source = np.array([[[4.0, 4.0], [2.0, 2.0], [2.0, 6.0], [6.0, 2.0]]], np.float32)
    dest = source + np.array([0.0, 1.0], np.float32) * np.array([[[1.0]], [[0.0]], [[0.0]], [[0.0]]])[:, 0][None]
    warped, flow = run(C.image.sparse_image_warp(image, source, dest.astype(np.float32), num_boundary_points=boundary))
    np.testing.assert_allclose(flow[0, 4, 5], [0, 1], atol=1e-2)
    np.testing.assert_allclose(warped[0, 4, 5], 1, atol=2e-2)
    if boundary:
        np.testing.assert_allclose(flow[0, 0, 0], [0, 0], atol=1e-2)


def test_connected_components():
    image = np.array([[[1, 1, 0, 2], [0, 1, 0, 2], [3, 0, 2, 2]], [[5, 0, 0, 0], [5, 0, 0, 7], [0, 0, 0, 7]]])
    want = [[[1, 1, 0, 2], [0, 1, 0, 2], [3, 0, 2, 2]], [[4, 0, 0, 0], [4, 0, 0, 5], [0, 0, 0, 5]]]
    for dtype in (np.int32, np.float32, np.uint8):
        np.testing.assert_array_equal(run(C.image.connected_components(image.astype(dtype))), want)
    np.testing.assert_array_equal(run(C.image.connected_components(image[1] > 0)), np.array(want[1]) % 3)
    np.testing.assert_array_equal(
        run(C.image.connected_components([["a", "a", ""], ["b", "", "a"]])), [[1, 1, 0], [2, 0, 3]]
    )
    with pytest.raises(TypeError, match="rank"):
        C.image.connected_components([1, 2])


def test_bipartite_match():
    distances = [[0.5, 0.1, 0.3], [0.2, 0.05, 0.9], [0.0, 0.0, 0.0]]
    assert [v.tolist() for v in run(C.image.bipartite_match(distances, 2))] == [[2, 1, -1], [-1, 1, 0]]
    assert [v.tolist() for v in run(C.image.bipartite_match(distances, -1.0, top_k=1))] == [[-1, -1, 0], [2, -1, -1]]


def test_hsv_in_yiq():
    from tensorflow.contrib.image.python.ops.distort_image_ops import adjust_hsv_in_yiq, random_hsv_in_yiq

    image = random(2, 3, 3)
    same, grey, bright, turned = run(
        [
            adjust_hsv_in_yiq(image),
            adjust_hsv_in_yiq(image, 0, 0, 1),
            adjust_hsv_in_yiq(image, 0, 1, 0.5),
            adjust_hsv_in_yiq(image, 2 * np.pi),
        ]
    )
    np.testing.assert_allclose(same, image, atol=1e-5)
    np.testing.assert_allclose(grey, np.broadcast_to(image @ [[0.299], [0.587], [0.114]], image.shape), atol=2e-3)
    np.testing.assert_allclose(bright, image / 2, atol=1e-5)
    np.testing.assert_allclose(turned, image, atol=1e-5)
    with pytest.raises(ValueError, match="max_delta"):
        random_hsv_in_yiq(image, -1)
    run(random_hsv_in_yiq(image, 0.2, 0.5, 1.5, 0.5, 1.5))


def test_stereogram_repeats_at_the_eyes_distance():
    picture = run(
        C.image.single_image_random_dot_stereograms(
            np.zeros([4, 4]),
            convergence_dots_size=0,
            normalize=False,
            output_image_shape=[300, 20, 1],
            output_data_window=[300, 20],
        )
    )
    assert picture.shape == (20, 300, 1) and picture.dtype == np.uint8
    np.testing.assert_array_equal(picture[:, 90:], picture[:, :-90])
    with pytest.raises(ValueError, match="output_data_window"):
        C.image.single_image_random_dot_stereograms(np.zeros([4, 4]), output_image_shape=[10, 10, 1])


# Resampler


def test_resampler_and_its_gradients():
    data = tf.constant(random(2, 4, 5, 3).astype(np.float64))
    warp = tf.constant(np.random.RandomState(1).uniform(-1.4, 5.4, [2, 3, 4, 2]))
    y = C.resampler.resampler(data, warp)
    image, points, got = run([data, warp, y])
    for index in np.ndindex(2, 3, 4):
        x, row = points[index]
        want = np.zeros(3)
        if -1 < x < 5 and -1 < row < 4:
            for r in (int(np.floor(row)), int(np.floor(row)) + 1):
                for c in (int(np.floor(x)), int(np.floor(x)) + 1):
                    if 0 <= r < 4 and 0 <= c < 5:
                        want += (1 - abs(row - r)) * (1 - abs(x - c)) * image[index[0], r, c]
        np.testing.assert_allclose(got[index], want, atol=1e-9)
    with tf.Session():
        assert tf.test.compute_gradient_error(data, [2, 4, 5, 3], y, [2, 3, 4, 3], delta=1e-5) < 1e-6
        assert tf.test.compute_gradient_error(warp, [2, 3, 4, 2], y, [2, 3, 4, 3], points, delta=1e-6) < 1e-4
    with pytest.raises(tf.errors.InvalidArgumentError, match="Batch size"):
        run(
            C.resampler.resampler(
                tf.zeros([2, 4, 4, 1]), tf.placeholder_with_default(np.zeros([3, 2], np.float32), [None, 2])
            )
        )


# Text


def pairs(tokens, skips, emit_self=False):
    return [
        (tokens[i], tokens[j])
        for i in range(len(tokens))
        for j in range(i - skips, i + skips + 1)
        if 0 <= j < len(tokens) and (j != i or emit_self)
    ]


def test_skip_grams(tmp_path):
    tokens = ["a", "b", "c", "d", "b"]
    got = run(C.text.skip_gram_sample(tokens, 2, 2))
    assert [(a.decode(), b.decode()) for a, b in zip(*got)] == pairs(tokens, 2)
    got = run(C.text.skip_gram_sample(tf.constant([1, 2, 3, 4, 5]), 1, 1, start=1, limit=3, emit_self_as_target=True))
    assert list(zip(*(v.tolist() for v in got))) == pairs([2, 3, 4], 1, True)
    got = run(C.text.skip_gram_sample(list(range(200)), 1, 3, seed=4))
    counts = np.bincount(got[0], minlength=200)[5:-5]
    assert set(counts) == {2, 4, 6}
    path = tmp_path / "words"
    path.write_text("a,5\nb,50\nc,1\n")
    got = run(C.text.skip_gram_sample_with_text_vocab(tokens, str(path), vocab_min_count=2, min_skips=1, max_skips=1))
    assert [(a.decode(), b.decode()) for a, b in zip(*got)] == pairs(["a", "b", "b"], 1)
    got = run(C.text.skip_gram_sample_with_text_vocab(["b"] * 2000, str(path), vocab_subsampling=1e-2, min_skips=0, max_skips=0,
                                                       emit_self_as_target=True, seed=1))  # fmt: skip
    ratio = 0.56 / 50
    np.testing.assert_allclose(len(got[0]) / 2000, np.sqrt(ratio) + ratio, atol=0.02)
    with pytest.raises(ValueError, match="vocab_freq_table"):
        C.text.skip_gram_sample(tokens, vocab_min_count=2)
    with pytest.raises(ValueError, match="corpus_size"):
        C.text.skip_gram_sample_with_text_vocab(tokens, str(path), vocab_subsampling=0.1, corpus_size=3)


# Sparsemax, nn


def projection(z):
    """The point of the simplex nearest to z, by bisection on the threshold."""
    low, high = z.min() - 1, z.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(z - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(z - low, 0)


def test_sparsemax_is_the_projection_and_the_loss_its_potential():
    z = np.random.RandomState(1).normal(size=[6, 5]) * 2
    labels = np.eye(5)[[0, 1, 2, 3, 4, 0]]
    logits = tf.constant(z)
    p = C.sparsemax.sparsemax(logits)
    loss = C.sparsemax.sparsemax_loss(logits, p, tf.constant(labels))
    got, gradient, loss = run([p, tf.gradients(loss, logits)[0], loss])
    np.testing.assert_allclose(got, [projection(row) for row in z], atol=1e-9)
    np.testing.assert_allclose(gradient, got - labels, atol=1e-9)
    assert (loss >= -1e-12).all()
    assert np.isnan(run(C.sparsemax.sparsemax([[1.0, np.nan]]))).all()


def test_alpha_dropout_keeps_moments():
    x = np.random.RandomState(1).normal(size=[200000]).astype(np.float32)
    y = run(C.nn.alpha_dropout(tf.constant(x), 0.7, seed=1))
    np.testing.assert_allclose([y.mean(), y.std()], [0, 1], atol=0.02)
    assert C.nn.alpha_dropout(tf.constant(x), 1.0).op.type == "Const"
    with pytest.raises(ValueError, match="keep_prob"):
        C.nn.alpha_dropout(x, 0.0)


def test_scaled_softplus_and_flipped_entropies():
    x = random(3, 4)
    got = run(C.nn.scaled_softplus(x, 0.5, clip=1.0))
    np.testing.assert_allclose(got, np.minimum(0.5 * np.log1p(np.exp(x / 0.5)), 1), rtol=1e-5)
    labels = np.array([1, 0, 3])
    hot = np.eye(4, dtype=np.float32)[labels]
    got = run([C.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(x, labels),
               C.nn.deprecated_flipped_softmax_cross_entropy_with_logits(x, hot),
               C.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(x, hot)])  # fmt: skip
    want = np.log(np.exp(x).sum(1)) - x[np.arange(3), labels]
    np.testing.assert_allclose(got[0], want, rtol=1e-5)
    np.testing.assert_allclose(got[1], want, rtol=1e-5)
    np.testing.assert_allclose(got[2], np.log1p(np.exp(x)) - x * hot, rtol=1e-4)


def test_sampled_losses_over_all_classes_are_the_whole_softmax():
    weights, biases, inputs, labels = random(5, 3), random(5), random(2, 3), np.array([[1], [4]])
    every = (np.arange(5), np.ones([2, 1], np.float32), np.ones([5], np.float32))
    got = run(C.nn.sampled_sparse_softmax_loss(weights, biases, labels, inputs, 5, 5, sampled_values=every))
    logits = inputs @ weights.T + biases
    want = np.log(np.exp(logits).sum(1)) - logits[[0, 1], [1, 4]]
    np.testing.assert_allclose(got, want, rtol=1e-5)
    best = np.argsort(np.log(np.exp(logits).sum(0)))[1:]
    ranked = run(C.nn.rank_sampled_softmax_loss(weights, biases, labels, inputs, 5, 4, 5, 1, every, 1.0, False, "mod"))
    true = logits[[0, 1], [1, 4]]
    np.testing.assert_allclose(ranked, np.log(np.exp(logits[:, best]).sum(1) + np.exp(true)) - true, rtol=1e-5)
    with pytest.raises(ValueError, match="num_resampled"):
        C.nn.rank_sampled_softmax_loss(weights, biases, labels, inputs, 2, 5, 5, 1, every, 1.0, True, "mod")


def test_memory_stats_are_read_when_run():
    used, most, limit = run([C.memory_stats.BytesInUse(), C.memory_stats.MaxBytesInUse(), C.memory_stats.BytesLimit()])
    assert 1 << 20 < used <= most * 1.1 and most < limit


# Scaled losses


def test_loss_scale_optimizer_skips_bad_steps():
    M = C.mixed_precision
    x = tf.Variable(2.0)
    factor = tf.placeholder(tf.float32, [])
    manager = M.ExponentialUpdateLossScaleManager(4.0, incr_every_n_steps=2, decr_every_n_nan_or_inf=1, decr_ratio=0.5)
    step = tf.train.get_or_create_global_step()
    train = M.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager).minimize(x * factor, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train, {factor: 1.0})
        np.testing.assert_allclose(session.run([x, manager.get_loss_scale()]), [1.9, 4])
        session.run(train, {factor: 1.0})
        np.testing.assert_allclose(session.run([x, manager.get_loss_scale()]), [1.8, 8])
        session.run(train, {factor: np.inf})
        np.testing.assert_allclose(session.run([x, manager.get_loss_scale(), step]), [1.8, 4, 2])


def test_loss_scale_managers_refuse_bad_arguments():
    M = C.mixed_precision
    assert run(M.FixedLossScaleManager(3.0).get_loss_scale()) == 3
    with pytest.raises(ValueError, match="at least 1"):
        M.FixedLossScaleManager(0.5)
    with pytest.raises(ValueError, match="Optimizer"):
        M.LossScaleOptimizer("sgd", M.FixedLossScaleManager(3.0))


# Factorization


def solved(a, other, row_weights, column_weights, w0, reg):
    """Row factors of weighted least squares, row by row."""
    out = []
    for i in range(len(a)):
        seen = a[i] != 0
        w = w0 + np.where(seen, row_weights[i] * column_weights, 0)
        lhs = (other * w[:, None]).T @ other + reg * np.eye(other.shape[1])
        out.append(np.linalg.solve(lhs, other.T @ (w * a[i])))
    return np.array(out)


@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("cache", [True, False])
def test_wals_solves_for_rows_and_columns(shards, transpose, cache):
    r = np.random.RandomState(1)
    a = (r.uniform(1, 5, [5, 7]) * (r.uniform(size=[5, 7]) > 0.4)).astype(np.float32)
    row_weights, column_weights = r.uniform(0.5, 2, 5), r.uniform(0.5, 2, 7)
    split = lambda w: [part.tolist() for part in np.array_split(w, shards)]  # noqa: E731
    columns = r.normal(size=[7, 2]).astype(np.float32)
    model = C.factorization.WALSModel(
        5, 7, 2, unobserved_weight=0.1, regularization=0.3, col_init=columns, num_row_shards=shards,
        num_col_shards=shards, row_weights=split(row_weights), col_weights=split(column_weights),
        use_factors_weights_cache=cache, use_gramian_cache=cache,
    )  # fmt: skip
    given = a.T if transpose else a
    indices = np.argwhere(given).astype(np.int64)
    sparse = tf.SparseTensor(indices, given[tuple(indices.T)], given.shape)
    _, row_op, loss, regularization, weight = model.update_row_factors(sparse, transpose_input=transpose)
    column_op = model.update_col_factors(sparse, transpose_input=transpose)[1]
    new_rows = model.project_row_factors(sparse, transpose_input=transpose, projection_weights=2.0)
    with tf.Session() as session:
        session.run(model.initialize_op)
        session.run(model.worker_init)
        session.run(model.row_update_prep_gramian_op)
        session.run(model.initialize_row_update_op)
        projected = session.run(new_rows)
        got_loss, got_reg, got_weight, _ = session.run([loss, regularization, weight, row_op])
        rows = np.concatenate(session.run(model.row_factors))
        session.run(model.col_update_prep_gramian_op)
        session.run(model.initialize_col_update_op)
        session.run(column_op)
        new_columns = np.concatenate(session.run(model.col_factors))
    want = solved(a, columns, row_weights, column_weights, 0.1, 0.3)
    np.testing.assert_allclose(rows, want, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(
        projected, solved(a, columns, np.full(5, 2.0), column_weights, 0.1, 0.3), rtol=1e-3, atol=1e-4
    )
    np.testing.assert_allclose(
        new_columns, solved(a.T, want, column_weights, row_weights, 0.1, 0.3), rtol=1e-3, atol=1e-4
    )
    seen = a != 0
    w = 0.1 + np.where(seen, np.outer(row_weights, column_weights), 0)
    np.testing.assert_allclose(got_loss, (w * (a - want @ columns.T) ** 2).sum(), rtol=1e-3)
    np.testing.assert_allclose(got_reg, 0.3 * ((want**2).sum() + (columns**2).sum()), rtol=1e-3)
    np.testing.assert_allclose(got_weight, np.outer(row_weights, column_weights)[seen].sum(), rtol=1e-4)


def test_unweighted_least_squares():
    a = random(4, 3) + 0.1
    columns = random(3, 2)
    model = C.factorization.WALSModel(
        4, 3, 2, unobserved_weight=1.0, col_init=columns, row_weights=None, col_weights=None
    )
    sparse = tf.SparseTensor(np.argwhere(a).astype(np.int64), a.ravel(), a.shape)
    values = model.update_row_factors(sparse)[0]
    with tf.Session() as session:
        session.run([model.initialize_op])
        session.run(model.worker_init)
        session.run(model.row_update_prep_gramian_op)
        session.run(model.initialize_row_update_op)
        got = session.run(values)
    np.testing.assert_allclose(got, np.linalg.lstsq(columns, a.T, rcond=None)[0].T, rtol=1e-3, atol=1e-4)


def test_wals_refuses_bad_arguments():
    with pytest.raises(ValueError, match="both be None"):
        C.factorization.WALSModel(4, 3, 2, row_weights=None)
    with pytest.raises(ValueError, match="row_weights"):
        C.factorization.WALSModel(4, 3, 2, row_weights=[[1.0]], col_weights=1)
    with pytest.raises(TypeError, match="SparseTensor"):
        C.factorization.WALSModel(4, 3, 2).update_row_factors(tf.zeros([4, 3]))
    ops = __import__("tensorflow.deeprec.library", fromlist=["ops"]).ops()
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        run(
            ops.wals_compute_partial_lhs_and_rhs(
                tf.ones([2, 2]), [1.0, 1.0], 0.1, 1.0, tf.constant([[0, 5]], tf.int64), [1.0], [], 1, False
            )
        )


def test_k_means():
    points = np.concatenate([random(8, 2), random(8, 2, seed=1) + 5])
    kmeans = C.factorization.KMeans(
        tf.constant(points), 2, initial_clusters=tf.constant(points[[0, 9]]), use_mini_batch=False
    )
    _, assigned, _, _, init, train = kmeans.training_graph()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(init)
        for _ in range(3):
            session.run(train)
        assigned = session.run(assigned[0])
        centers = session.run([v for v in tf.global_variables() if "clusters" in v.op.name][0])
    np.testing.assert_array_equal(assigned, [0] * 8 + [1] * 8)
    np.testing.assert_allclose(centers, [points[:8].mean(0), points[8:].mean(0)], rtol=1e-5)


# Aliases


def test_aliases():
    assert C.stateless.stateless_random_normal is not None
    np.testing.assert_array_equal(
        run(C.stateless.stateless_random_uniform([3], [1, 2])), run(tf.random.stateless_uniform([3], [1, 2]))
    )
    signal = random(64)
    np.testing.assert_allclose(run(C.signal.stft(signal, 16, 8)), run(tf.signal.stft(signal, 16, 8)))
    area = C.staging.StagingArea([tf.float32])
    put, got = area.put([tf.constant(3.0)]), area.get()
    with tf.Session() as session:
        session.run(put)
        assert session.run(got) in (3.0, [3.0])
    assert C.tfprof.model_analyzer.FLOAT_OPS_OPTIONS["select"] == ["float_ops"]
    stats = C.tfprof.model_analyzer.print_model_analysis(
        tf.get_default_graph(), tfprof_options={**C.tfprof.model_analyzer.FLOAT_OPS_OPTIONS, "output": "none"}
    )
    assert stats is not None


def test_keras_models_by_the_old_names(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    with tf.keras.backend.get_session().as_default():
        x = random(4, 3)
        want = model.predict(x)
        C.saved_model.save_keras_model(model, str(tmp_path / "model"))
        again = C.saved_model.load_keras_model(str(tmp_path / "model"))
        np.testing.assert_allclose(again.predict(x), want, rtol=1e-5)
