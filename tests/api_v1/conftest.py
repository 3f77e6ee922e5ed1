import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture
def graph():
    """A graph of the test's own, also for Keras."""
    import tensorflow as tf

    tf.keras.backend.clear_session()
    with tf.Graph().as_default() as own:
        yield own
    tf.keras.backend.clear_session()
