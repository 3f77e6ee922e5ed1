"""What the tests of ops share."""

import pytest


@pytest.fixture
def tf():
    """TensorFlow with an empty default graph."""
    import tensorflow

    with tensorflow.Graph().as_default():
        yield tensorflow


@pytest.fixture
def run(tf):
    """Runs tensors in a session of their own."""

    def run(fetches, feeds=None):
        with tf.Session() as session:
            return session.run(fetches, feeds)

    return run
