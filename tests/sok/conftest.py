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
