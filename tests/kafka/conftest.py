"""Fixtures of the tests of Kafka's datasets."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture(scope="module")
def cluster():
    """A broker that is there for all tests of a file."""
    from kafka_cluster import Cluster

    made = Cluster()
    yield made
    made.close()
