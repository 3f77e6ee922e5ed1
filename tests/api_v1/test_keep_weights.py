"""`tf.variable_scope(...).keep_weights`: narrow layers on wide variables."""

import numpy as np
import pytest
import tensorflow as tf


def _two_layers(net, partitioner=None, getter=None):
    with tf.variable_scope("dnn", partitioner=partitioner, custom_getter=getter).keep_weights(dtype=tf.float32):
        net = tf.layers.dense(tf.cast(net, tf.bfloat16), 8, tf.nn.relu)
        return tf.layers.dense(net, 1)


def test_layers_compute_in_their_input_type_on_variables_of_float32():
    with tf.Graph().as_default():
        net = _two_layers(tf.ones([4, 3]))
        assert net.dtype == tf.bfloat16
        assert {variable.dtype.base_dtype for variable in tf.trainable_variables()} == {tf.float32}


def test_what_is_computed_with_is_the_rounded_variable():
    kernel = np.random.default_rng(3).normal(size=(4, 2)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("a").keep_weights():
            narrow = tf.get_variable("w", dtype=tf.bfloat16, shape=[4, 2], initializer=tf.constant_initializer(kernel))
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(narrow), kernel.astype(tf.bfloat16.as_numpy_dtype))
        np.testing.assert_array_equal(session.run(tf.global_variables()[0]), kernel)


@pytest.mark.parametrize("parts", [None, 2])
def test_small_steps_that_bfloat16_would_lose_are_kept(parts):
    partitioner = tf.fixed_size_partitioner(parts) if parts else None
    with tf.Graph().as_default(), tf.Session() as session:
        net = _two_layers(tf.ones([4, 3]), partitioner)
        train = tf.train.GradientDescentOptimizer(1e-5).minimize(tf.reduce_mean(tf.cast(net, tf.float32)))
        session.run(tf.global_variables_initializer())
        bias = [variable for variable in tf.trainable_variables() if "dense_1/bias" in variable.name][0]
        for _ in range(50):
            session.run(train)
        np.testing.assert_allclose(session.run(bias), -50e-5, rtol=1e-4)


def test_variables_of_other_types_are_left_alone():
    with tf.Graph().as_default():
        with tf.variable_scope("a").keep_weights(dtype=tf.float32):
            assert tf.get_variable("wide", [2], tf.float64).dtype.base_dtype == tf.float64
            assert tf.get_variable("ids", [2], tf.int32, tf.zeros_initializer()).dtype.base_dtype == tf.int32


def test_a_custom_getter_of_the_scope_sees_the_wide_type():
    seen = []

    def getter(inner, name, *args, **kwargs):
        seen.append(kwargs["dtype"])
        return inner(name, *args, **kwargs)

    with tf.Graph().as_default():
        _two_layers(tf.ones([4, 3]), getter=getter)
    assert set(seen) == {tf.float32}


def test_the_scope_itself_stays_as_it_was():
    with tf.Graph().as_default():
        scope = tf.variable_scope("a")
        with scope.keep_weights():
            pass
        with scope:
            assert tf.get_variable("w", [2], tf.bfloat16).dtype.base_dtype == tf.bfloat16


def test_another_type_than_a_floating_one_is_refused():
    with pytest.raises(TypeError, match="dtype of keep_weights must be floating, got int32"):
        tf.variable_scope("a").keep_weights(tf.int32)
