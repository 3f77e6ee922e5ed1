"""Fixtures of the tests of stages."""

import threading

import pytest
import tensorflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(autouse=True)
def no_thread_is_left():
    before = set(threading.enumerate())
    yield
    left = [thread for thread in set(threading.enumerate()) - before if "prefetch" in thread.name]
    assert left == []


@pytest.fixture
def start():
    """Starts the threads of all stages in a plain session."""

    def start(session, coord=None):
        threads = []
        for runner in session.graph.get_collection("prefetch"):
            threads += runner.create_threads(session, coord=coord, daemon=True, start=True)
        return threads

    return start
