"""Batch normalization as one op: the results, gradients and graphs of the small ops."""

import contextlib
import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.deeprec import library
from .conftest import marks, ops_run, without_marks
from tensorflow.deeprec.marks.mark import is_mark


def layer(x, scale=True, center=True, name="layer"):
    random = tf.random_normal_initializer(stddev=0.5, seed=3)
    return tf.layers.batch_normalization(
        x, training=True, scale=scale, center=center, gamma_initializer=random, beta_initializer=random, name=name
    )


def values(build, *feeds, marked=True):
    """Results and gradients of `build`, that takes placeholders and returns a list of tensors."""
    with tf.Graph().as_default() as graph, contextlib.nullcontext() if marked else without_marks():
        inputs = [tf.placeholder(feed.dtype, [None, *feed.shape[1:]]) for feed in feeds]
        results = build(*inputs)
        loss = sum(tf.reduce_sum(tf.sin(result) * result) for result in results)
        grads = [
            grad
            for grad in tf.gradients(loss, [*(i for i in inputs if i.dtype.is_floating), *tf.trainable_variables()])
            if grad is not None
        ]
        assert len(marks(graph)) == int(marked)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            feed = dict(zip(inputs, feeds))
            assert ("BatchNormalizationGrad" in ops_run(session, grads, feed)) == marked
            return session.run([*results, *grads], feed)


def check_equal(build, *feeds, tolerance=2e-5):
    pairs = list(zip(values(build, *feeds), values(build, *feeds, marked=False)))
    assert len(pairs) > 1
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * max(1, np.abs(other).max(initial=0)))


def random(*shape, offset=0.0):
    return (np.random.RandomState(0).randn(*shape) * 1.5 + offset).astype(np.float32)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("center", [True, False])
def test_layer_gives_results_and_gradients_of_the_small_ops(scale, center):
    check_equal(lambda x: [layer(x, scale, center)], random(30, 70))


@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (5, 64), (5, 65), (512, 200)])
def test_matrices_of_any_size(shape):
    check_equal(lambda x: [layer(x)], random(*shape), tolerance=1e-4)


def test_all_dimensions_but_the_last_are_the_batch():
    check_equal(lambda x: [layer(x)], random(6, 5, 9))


def test_moments_far_from_zero_keep_their_digits():
    x = random(100, 3, offset=1000.0)
    (y, *_) = values(lambda x: [layer(x, False, False)], x)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(y, (wide - wide.mean(0)) / np.sqrt(wide.var(0) + 1e-3), atol=2e-3)


def test_functions_of_tf_nn_and_gradients_to_the_moments():
    def build(x):
        mean, variance = tf.nn.moments(x, [0])
        gamma = tf.get_variable("gamma", [4], initializer=tf.ones_initializer())
        y = tf.nn.batch_normalization(x, mean, variance, tf.constant([1.0, 2, 3, 4]), gamma, 0.01)
        return [y, tf.exp(mean), variance * mean]

    check_equal(build, random(11, 4))


def test_resource_variables():
    def build(x):
        with tf.variable_scope("scope", use_resource=True):
            return [layer(x)]

    check_equal(build, random(11, 4))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("use_resource", [True, False])
def test_training_may_be_a_tensor(training, use_resource):
    def build(x, fed):
        with tf.variable_scope("scope", use_resource=use_resource):
            y = tf.layers.batch_normalization(
                x,
                training=tf.reshape(fed, []),
                moving_mean_initializer=tf.random_normal_initializer(seed=1),
                moving_variance_initializer=tf.random_uniform_initializer(0.5, 2.0, seed=2),
                gamma_initializer=tf.random_normal_initializer(seed=3),
            )
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            moving = [tf.identity(v) for v in tf.global_variables() if "moving" in v.name]
        return [y, *(tf.stop_gradient(m) for m in moving)]

    check_equal(build, random(20, 9), np.array([training]))


def test_averages_that_a_branch_updates_are_updated():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x, training = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.bool, [])
        mean, variance = tf.nn.moments(x, [0])
        averages = tf.train.ExponentialMovingAverage(0.5)

        def update():
            with tf.control_dependencies([averages.apply([mean, variance])]):
                return tf.identity(mean), tf.identity(variance)

        chosen = tf.cond(training, update, lambda: (averages.average(mean), averages.average(variance)))
        y = tf.nn.batch_normalization(x, *chosen, None, None, 0.01)
        assert not marks(graph)
        session.run(tf.global_variables_initializer())
        fed = random(20, 3, offset=4.0)
        for _ in range(20):
            session.run(y, {x: fed, training: True})
        np.testing.assert_allclose(
            session.run(y, {x: fed[:2], training: False}),
            session.run(y, {x: fed, training: True})[:2],
            rtol=1e-3,
            atol=1e-3,
        )


def test_a_normalization_that_is_rerouted_runs_as_it_is_now():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        mean, variance = tf.nn.moments(x, [0])
        y = tf.nn.batch_normalization(x, mean, variance, None, None, 0.01)
        z = tf.identity(y)
        assert len(marks(graph)) == 1
        tf.contrib.graph_editor.reroute_ts([tf.zeros([3])], [mean])
        assert not marks(graph)
        fed = random(20, 3, offset=4.0)
        expected = fed / np.sqrt(fed.var(0) + 0.01)
        np.testing.assert_allclose(session.run(z, {x: fed}), expected, rtol=1e-4)


def test_graphs_with_moments_are_freed():
    with tf.Graph().as_default() as graph:
        layer(tf.placeholder(tf.float32, [None, 3]))
    graph = weakref.ref(graph)
    gc.collect()
    assert graph() is None


def test_moving_moments_have_gradients():
    def build(x):
        pred, moments = tf.constant(False), tf.nn.moments(x, [0])
        moving = tf.get_variable("moving", [4], initializer=tf.random_uniform_initializer(0.5, 2.0, seed=2))
        chosen = [tf.cond(pred, lambda: moment, lambda: tf.identity(moving)) for moment in moments]
        return [tf.nn.batch_normalization(x, *chosen, None, None, 0.01)]

    check_equal(build, random(11, 4))


def test_a_normalization_that_waits_for_an_update_with_its_own_mean():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [5, 3])
        mean, variance = tf.nn.moments(x, [0])
        average = tf.get_variable("average", [3], initializer=tf.zeros_initializer())
        with tf.control_dependencies([tf.assign(average, mean)]):
            y = tf.nn.batch_normalization(x, mean, variance, None, None, 0.1)
        assert len(marks(graph)) == 1
        session.run(tf.global_variables_initializer())
        assert "BatchNormalization" in ops_run(session, y, {x: random(5, 3)})
        np.testing.assert_allclose(session.run(average), random(5, 3).mean(0), rtol=1e-5)


def test_no_rows_give_moments_that_are_no_numbers():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 4])
        mean, variance = tf.nn.moments(x, [0])
        y = tf.nn.batch_normalization(x, mean, variance, None, None, 0.01)
        with tf.Session() as session:
            y, mean, variance = session.run([y, mean, variance], {x: np.zeros([0, 4], np.float32)})
    assert y.shape == (0, 4) and np.isnan(mean).all() and np.isnan(variance).all()


def test_moving_averages_and_losses_of_100_steps_are_those_of_the_small_ops():
    def losses(marked):
        with tf.Graph().as_default(), contextlib.nullcontext() if marked else without_marks():
            tf.set_random_seed(1)
            x, y = tf.placeholder(tf.float32, [None, 12]), tf.placeholder(tf.float32, [None, 1])
            net = layer(tf.layers.dense(x, 40, tf.nn.relu), name="a")
            net = layer(tf.layers.dense(net, 20, tf.nn.relu), name="b")
            loss = tf.losses.mean_squared_error(y, tf.layers.dense(net, 1))
            with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
                train = tf.train.AdagradOptimizer(0.05).minimize(loss)
            moving = [v for v in tf.global_variables() if "moving" in v.name]
            generator = np.random.RandomState(5)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                found = []
                for _ in range(100):
                    batch = generator.randn(64, 12).astype(np.float32)
                    feed = {x: batch, y: np.sin(batch.sum(1, keepdims=True))}
                    found.append(session.run([loss, train], feed)[0])
                return found, session.run(moving)

    ours, released = losses(True), losses(False)
    np.testing.assert_allclose(ours[0], released[0], rtol=2e-5)
    assert len(ours[1]) == 4
    for one, other in zip(ours[1], released[1]):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=1e-5)


def test_a_gradient_by_a_tensor_within_is_that_of_the_small_ops():
    def build(marked):
        with tf.Graph().as_default(), contextlib.nullcontext() if marked else without_marks():
            x = tf.constant(random(7, 3))
            mean, variance = tf.nn.moments(x, [0])
            y = tf.nn.batch_normalization(x, mean, variance, None, None, 0.01)
            grads = tf.gradients(tf.reduce_sum(y**3), [mean, variance, x])
            with tf.Session() as session:
                return session.run(grads)

    for one, other in zip(build(True), build(False)):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("training", [None, True, False])
def test_second_derivatives_are_those_of_the_small_ops(training):
    def build(marked):
        with tf.Graph().as_default(), contextlib.nullcontext() if marked else without_marks():
            x = tf.constant(random(7, 3))
            fed = True if training is None else tf.placeholder_with_default(training, [])
            y = tf.layers.batch_normalization(
                tf.layers.dense(x, 4, kernel_initializer=tf.random_normal_initializer(seed=1)),
                training=fed,
                gamma_initializer=tf.random_normal_initializer(seed=2),
            )
            (first,) = tf.gradients(tf.reduce_sum(tf.sin(y)), x)
            second = tf.gradients(tf.reduce_sum(first**2), [x, *tf.trainable_variables()])
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                return session.run(second)

    for one, other in zip(build(True), build(False)):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_stopped_moments_stay_stopped():
    def build(marked):
        with tf.Graph().as_default(), contextlib.nullcontext() if marked else without_marks():
            x = tf.constant(random(7, 3))
            mean, variance = tf.nn.moments(x, [0])
            y = tf.nn.batch_normalization(x, mean, variance, None, None, 0.01)
            with tf.Session() as session:
                return session.run(tf.gradients(tf.reduce_sum(y**3), x, stop_gradients=[mean, variance]))

    np.testing.assert_allclose(build(True)[0], build(False)[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "normalize",
    [
        lambda x: tf.nn.batch_normalization(
            x, *(tf.cond(tf.constant(True), lambda: m, lambda: m + 1) for m in tf.nn.moments(x, [0])), None, None, 0.1
        ),
        lambda x: tf.layers.batch_normalization(x, training=False),
        lambda x: tf.layers.batch_normalization(x, training=True, renorm=True),
        lambda x: tf.nn.batch_normalization(x, *tf.nn.moments(x, [1]), None, None, 0.1),
        lambda x: tf.nn.batch_normalization(x + 1, *tf.nn.moments(x, [0]), None, None, 0.1),
        lambda x: tf.layers.batch_normalization(tf.cast(x, tf.float64), training=True),
    ],
    ids=["another condition", "not training", "renorm", "other axes", "another tensor", "float64"],
)
def test_other_normalizations_are_left_as_they_are(normalize):
    with tf.Graph().as_default() as graph:
        x = tf.constant(random(4, 4))
        y = normalize(x)
        assert not marks(graph)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run(y).shape == (4, 4)


def test_names_and_ops_of_the_graph_are_those_without_marks():
    def names(marked):
        with tf.Graph().as_default() as graph, contextlib.nullcontext() if marked else without_marks():
            layer(tf.placeholder(tf.float32, [None, 3]))
            tf.random_uniform([], name="seeded")
            return {op.name: op.type for op in graph.get_operations() if not is_mark(op)}

    assert names(True) == names(False)


def test_imported_meta_graph_trains_on_the_op():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        tf.reduce_mean(tf.square(layer(x) - 1.0), name="loss")
        definition = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.train.import_meta_graph(definition)
        loss = graph.get_tensor_by_name("loss:0")
        step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        session.run(tf.global_variables_initializer())
        feed = {"x:0": random(50, 3)}
        assert {"BatchNormalization", "BatchNormalizationGrad"} <= set(ops_run(session, [loss, step], feed))
        losses = [session.run([loss, step], feed)[0] for _ in range(30)]
    assert losses[-1] < 0.1 * losses[0]


def test_released_tensorflow_runs_the_exported_graph(tmp_path, released_prediction):
    x = random(8, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float32, [None, 3])
        y = layer(fed)
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": fed}, {"y": y})
        expected = session.run(y, {fed: x})
    np.testing.assert_allclose(released_prediction(x, "y"), expected, rtol=1e-5, atol=1e-5)


def test_the_environment_leaves_normalizations_as_they_are(tmp_path):
    code = """
import tensorflow as tf
tf.layers.batch_normalization(tf.zeros([2, 3]), training=True)
print([op.name for op in tf.get_default_graph().get_operations() if op.type == "IdentityN"])
"""
    environment = {**os.environ, "TF_DEEPREC_DISABLE_FUSIONS": "batch_norm"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, text=True, capture_output=True, check=True)
    assert done.stdout == "[]\n"


X = random(4, 3)
VECTOR = np.ones(3, np.float32)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda ops: ops.batch_normalization(1.0, [], [], [], [], epsilon=0.1), "Shape must be at least rank 1"),
        (
            lambda ops: ops.batch_normalization(X, [[1.0, 2]], [], [], [], epsilon=0.1),
            r"gamma must be \[3\], got shape \[2\]",
        ),
        (
            lambda ops: ops.batch_normalization(X, [], [[[1.0]]], [], [], epsilon=0.1),
            r"beta must be \[3\], got shape \[1,1\]",
        ),
        (
            lambda ops: ops.batch_normalization_grad(X[1:], *[VECTOR] * 4, X, [], [], [], [], epsilon=0.1),
            r"y_grad must have the shape of x, \[4,3\], got \[3,3\]",
        ),
        (
            lambda ops: ops.batch_normalization_grad(
                X, VECTOR, VECTOR, VECTOR[1:], VECTOR, X, [], [], [], [], epsilon=0.1
            ),
            r"mean must be \[3\], got shape \[2\]",
        ),
        (lambda ops: ops.batch_normalization(X, [], [], [VECTOR], [], epsilon=0.1), "M must be 0 or 2, got 1"),
        (
            lambda ops: ops.batch_normalization(X, [], [], [VECTOR, VECTOR], [[True, False]], epsilon=0.1),
            r"training must be a scalar, got shape \[2\]",
        ),
    ],
)
def test_wrong_shapes_are_named(call, message):
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
            session.run(call(library.ops()))
