"""A graph of its own for each test, and sessions over it."""

import numpy as np
import pytest
import tensorflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        tf.set_random_seed(1)
        yield own


@pytest.fixture
def run(graph):
    """run(fetches, feeds): in a session with initialized variables and tables, which the test keeps."""
    sessions = []

    def fetch(fetches, feeds=None):
        if not sessions:
            sessions.append(tf.Session())
            sessions[0].run(
                [tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()]
            )
        return sessions[0].run(fetches, feeds)

    yield fetch
    for session in sessions:
        session.close()


@pytest.fixture
def images():
    return np.random.default_rng(0).normal(size=[2, 8, 8, 3]).astype(np.float32)
