"""Fixtures of the tests of ConfigProto's fields."""

import socket

import pytest


@pytest.fixture
def unused_port():
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return found.getsockname()[1]
