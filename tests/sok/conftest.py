import itertools
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture(scope="session")
def sok():
    """The newer API, initialized for the processes there are: one, unless horovodrun started this."""
    from sparse_operation_kit import experiment

    try:
        experiment.rank()
    except RuntimeError:
        experiment.init()
    return experiment


@pytest.fixture
def interrupt_files(monkeypatch):
    """A function that interrupts the process when it has replaced or removed so many more files."""

    def after(number):
        calls = itertools.count()

        def cut(function):
            def call(*args):
                if next(calls) == number:
                    raise KeyboardInterrupt
                return function(*args)

            return call

        for name in ("replace", "remove"):
            monkeypatch.setattr(os, name, cut(getattr(os, name)))

    return after
