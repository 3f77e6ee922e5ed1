"""Fixtures of the tests of graph fusion."""

import pathlib
import sys

import pytest
import tensorflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph
