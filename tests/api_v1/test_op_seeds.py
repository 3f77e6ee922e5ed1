"""The op seed of 1.15, the functions that build 1.15's ops for it, and that these compute what the released ones compute."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework import random_seed

_RANDOM = np.random.RandomState(3)


def _run(make):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(make())


def test_op_seed_is_the_number_of_ops_in_the_graph():
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        assert random_seed.get_seed(None) == (7, 0)
        tf.no_op()
        tf.no_op()
        assert random_seed.get_seed(None) == tf.get_seed(None) == (7, 2)


def test_a_given_op_seed_and_no_graph_seed_are_as_before():
    with tf.Graph().as_default():
        assert random_seed.get_seed(None) == (None, None)
        assert random_seed.get_seed(5) == (random_seed.DEFAULT_GRAPH_SEED, 5)
        tf.set_random_seed(0)
        assert random_seed.get_seed(0) == (0, 2**31 - 1)


def test_functions_count_their_own_ops():
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        tf.constant(1)

        @tf.function
        def f():
            tf.constant(1.0)
            return random_seed.get_seed(None)[1]

        f.get_concrete_function()
        with f.get_concrete_function().graph.as_default() as inner:
            assert random_seed.get_seed(None)[1] == inner.num_operations() < 5


@pytest.mark.parametrize("limits", [(0, 1), (0, 3), (-2, 5), (0.0, 1.0)])
def test_random_uniform_stays_in_its_limits_and_keeps_its_name(limits):
    with tf.Graph().as_default(), tf.Session() as session:
        out = tf.random_uniform([1000], *limits, seed=1)
        assert out.op.name == "random_uniform" and out.shape == [1000]
        values = session.run(out)
    assert limits[0] <= values.min() < values.max() < limits[1]
    assert abs(values.mean() - np.mean(limits)) < 0.1 * (limits[1] - limits[0])


def test_random_uniform_refuses_what_it_cannot_draw():
    with pytest.raises(ValueError, match="maxval"):
        tf.random_uniform([2], dtype=tf.int32)
    with pytest.raises(ValueError, match="dtype"):
        tf.random_uniform([2], dtype=tf.string)


def test_random_gamma_has_the_mean_of_its_distribution():
    alpha, beta = np.float32([[0.5], [4.0]]), np.float32([1.0, 3.0])
    draws = _run(lambda: tf.random_gamma([20000], alpha, beta, seed=3))
    assert draws.shape == (20000, 2, 2)
    np.testing.assert_allclose(draws.mean(0), alpha / beta, rtol=0.05)


@pytest.mark.parametrize("rate", [0.3, "tensor"])
def test_dropout_scales_what_it_keeps(rate):
    x = np.ones([200, 50], np.float32)

    def make():
        return tf.nn.dropout(tf.constant(x), rate=tf.constant(0.3) if rate == "tensor" else rate, seed=5)

    out = _run(make)
    kept = out != 0
    np.testing.assert_allclose(out[kept], 1 / 0.7, rtol=1e-6)
    assert abs(kept.mean() - 0.7) < 0.02


def test_dropout_gradient_is_the_mask():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(_RANDOM.rand(4, 5).astype(np.float32) + 1)
        y = tf.nn.dropout(x, rate=0.5, seed=2)
        value, gradient = session.run([y, tf.gradients(y, x)[0]])
    np.testing.assert_array_equal(gradient, np.where(value != 0, np.float32(2), 0))


@pytest.mark.parametrize("bad", [1.0, -0.1, "half"])
def test_dropout_refuses_a_rate_outside_of_its_range(bad):
    with tf.Graph().as_default(), pytest.raises(ValueError, match="rate"):
        tf.nn.dropout(tf.zeros([2]), rate=bad)


def test_dropout_refuses_integers():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="floating point"):
        tf.nn.dropout(tf.zeros([2], tf.int32), rate=0.5)


@pytest.mark.parametrize("source", [np.float32, np.float64, np.int32, np.int64, np.int16])
@pytest.mark.parametrize("target", [np.uint8, np.int8, np.int16, np.int32, np.uint16])
def test_saturate_cast_clips_to_the_range_of_the_target(source, target):
    x = np.concatenate([_RANDOM.randint(-300, 300, 20), [-(2**15), 2**15 - 1]]).astype(source)
    if np.dtype(source).kind == "f" or np.dtype(source).itemsize == 8:
        x = np.append(x, [source(2**40), source(-(2**40))])
    info = np.iinfo(target)
    expected = np.clip(x.astype(np.float64), info.min, info.max)
    got = _run(lambda: tf.saturate_cast(x, target))
    assert got.dtype == target
    # In float32 the largest int32 is not a number: the largest below it stands in.
    np.testing.assert_allclose(got, expected, rtol=2**-23 if (source, target) == (np.float32, np.int32) else 0)


def test_main_diagonals_equal_numpy():
    x, d = _RANDOM.rand(2, 3, 3), _RANDOM.rand(2, 3)
    expected = x.copy()
    expected[:, range(3), range(3)] = d
    np.testing.assert_array_equal(_run(lambda: tf.matrix_set_diag(x, d)), expected)
    np.testing.assert_array_equal(_run(lambda: tf.matrix_diag_part(x)), x[:, range(3), range(3)])
    np.testing.assert_array_equal(_run(lambda: tf.matrix_diag(d)), [np.diag(row) for row in d])
    np.testing.assert_array_equal(_run(lambda: tf.linalg.diag(d[0], k=1)), np.diag(d[0], 1))


def test_zeros_of_a_partly_known_shape():
    with tf.Graph().as_default(), tf.Session() as session:
        n = tf.placeholder(tf.int32, [])
        np.testing.assert_array_equal(session.run(tf.zeros([2, n]), {n: 3}), np.zeros([2, 3]))
        np.testing.assert_array_equal(session.run(tf.ones([n]), {n: 0}), np.ones([0]))


@pytest.mark.parametrize("shape", [[None, 3, 4], [2, None, 4], [2, 3, 4], [None, None, None]])
def test_flatten_keeps_the_batch(shape, graph):
    x = tf.placeholder(tf.float32, shape)
    y = tf.layers.flatten(x)
    value = _RANDOM.rand(2, 3, 4)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(y, {x: value}), value.reshape(2, 12), rtol=1e-6)


def test_penalties_equal_the_formula(graph):
    x = _RANDOM.randn(3, 4).astype(np.float32)
    with tf.Session() as session:
        for regularizer, expected in (
            (tf.keras.regularizers.l1(0.1), 0.1 * np.abs(x).sum()),
            (tf.keras.regularizers.l2(0.2), 0.2 * np.square(x).sum()),
            (tf.keras.regularizers.l1_l2(0.1, 0.2), 0.1 * np.abs(x).sum() + 0.2 * np.square(x).sum()),
            (tf.keras.regularizers.L1L2(), 0.0),
        ):
            np.testing.assert_allclose(session.run(regularizer(tf.constant(x))), expected, rtol=1e-5)


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "SimpleRNN"])
def test_recurrent_layers_name_their_variables_without_the_cell(layer, graph):
    made = getattr(tf.keras.layers, layer)(3, name="r")
    made(tf.zeros([2, 4, 5]))
    assert [w.op.name for w in made.weights] == ["r/kernel", "r/recurrent_kernel", "r/bias"]


def test_cells_in_a_stack_share_the_scope_of_the_layer(graph):
    made = tf.keras.layers.RNN([tf.keras.layers.GRUCell(3), tf.keras.layers.GRUCell(2)], name="r")
    made(tf.zeros([2, 4, 5]))
    assert [w.op.name for w in made.weights][:3] == ["r/kernel", "r/recurrent_kernel", "r/bias"]


def test_huber_is_not_averaged_over_the_last_axis(graph):
    y, z = _RANDOM.randn(4, 3).astype(np.float32), _RANDOM.randn(4, 3).astype(np.float32)
    e = np.abs(z - y)
    expected = np.where(e <= 0.7, 0.5 * e**2, 0.7 * e - 0.5 * 0.7**2)
    with tf.Session() as session:
        none = session.run(tf.keras.losses.Huber(0.7, reduction="none")(y, z))
        mean = session.run(tf.keras.losses.Huber(0.7)(y, z))
    np.testing.assert_allclose(none, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(mean, expected.mean(), rtol=1e-5)


def test_cosine_proximity_keeps_its_name(graph):
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,))])
    model.compile("sgd", "mse", metrics=["cosine_proximity"])
    history = model.fit(_RANDOM.rand(8, 2), _RANDOM.rand(8, 3), epochs=1, verbose=0).history
    assert "cosine_proximity" in history


@pytest.mark.parametrize("ids", [[0, 7], [-1, 2]])
def test_identity_column_refuses_ids_out_of_range(ids):
    column = tf.feature_column.categorical_column_with_identity("id", 7)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.int64, [2])
        dense = tf.SparseTensor([[0, 0], [1, 0]], fed, [2, 1])
        out = tf.feature_column.input_layer({"id": dense}, [tf.feature_column.indicator_column(column)])
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            session.run(out, {fed: ids})


_IMAGE = np.ones([1, 5, 6, 1], np.float32)


# The sum of the calls of the golden case ops_contrib_misc is 252; each number follows from 1.15's formulas.
@pytest.mark.parametrize(
    "build, number",
    [
        (lambda image: image.rotate(tf.constant(_IMAGE), 0.4), 1 + 103),
        (lambda image: image.rotate(_IMAGE, [0.4]), 1 + 99),
        (lambda image: image.translate(tf.constant(_IMAGE), [[1.0, -1.5]]), 1 + 64),
        (lambda image: image.translate(tf.constant(_IMAGE), [1.0, -1.5]), 1 + 68),
        (lambda image: image.transform(tf.constant(_IMAGE), [1.0, 0.2, -0.5, 0.1, 0.9, 0.3, 0.001, 0.0]), 1 + 11),
        (lambda image: image.angles_to_projective_transforms([0.4], 5.0, 6.0), 67),
        (lambda image: image.flat_transforms_to_matrices(np.ones(8, np.float32)), 20),
    ],
)
def test_contrib_image_counts_the_ops_of_1_15(graph, build, number):
    tf.set_random_seed(3)
    build(tf.contrib.image)
    assert random_seed.get_seed(None) == (3, number)
