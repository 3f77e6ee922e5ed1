"""`tf.keras` is Keras 2 and trains in a session."""

import numpy as np
import pytest
import tensorflow as tf

_OPTIMIZERS = ("Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD")


def _change_of_weights(optimizer):
    """The largest change of a weight over a few steps of a small model."""
    random = np.random.RandomState(0)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.compile(optimizer, "mse")
    before = model.get_weights()[0]
    model.fit(random.rand(64, 3), random.rand(64, 1) + 5, epochs=2, verbose=0)
    return np.abs(model.get_weights()[0] - before).max()


@pytest.fixture(autouse=True)
def _fresh_session():
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


def test_keras_is_version_2():
    assert tf.keras.layers.Dense.__module__.startswith("tf_keras.")


@pytest.mark.parametrize("name", _OPTIMIZERS)
def test_optimizers_train(name):
    assert _change_of_weights(getattr(tf.keras.optimizers, name)(0.1)) > 1e-4


@pytest.mark.parametrize("name", _OPTIMIZERS)
def test_optimizers_given_by_name_train(name):
    assert _change_of_weights(name.lower()) > 0


@pytest.mark.parametrize("name", _OPTIMIZERS)
def test_optimizers_of_compat_v2_and_of_tf_keras_train_too(name):
    import tf_keras

    assert getattr(tf.compat.v2.keras.optimizers, name) is getattr(tf.keras.optimizers, name)
    assert getattr(tf_keras.optimizers, name) is getattr(tf.keras.optimizers, name)


def test_optimizers_of_tf_train_train():
    assert _change_of_weights(tf.train.AdamOptimizer(0.1)) > 1e-4


def test_a_keras_layer_works_in_a_plain_session():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
        loss = tf.reduce_mean(tf.keras.layers.Dense(2, kernel_initializer="ones")(x))
        train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run(loss, {x: [[1, 2, 3]]}) == 6
            session.run(train, {x: [[1, 2, 3]]})
            assert session.run(loss, {x: [[1, 2, 3]]}) < 6
