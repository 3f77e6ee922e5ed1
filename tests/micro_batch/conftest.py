"""Fixtures of the tests of micro batches."""

import pytest
import tensorflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def micro():
    """Makes a ConfigProto with micro_batch_num = `number`, and SmartStage if `smart`."""

    def config(number, smart=False):
        config = tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
        options = config.graph_options.optimizer_options
        options.micro_batch_num, options.do_smart_stage = number, smart
        return config

    return config


@pytest.fixture
def steps():
    """Values of `fetches` in every step until the end of the input."""

    def run(session, fetches):
        values = []
        while True:
            try:
                values.append(session.run(fetches))
            except tf.errors.OutOfRangeError:
                return values

    return run


@pytest.fixture
def warnings(caplog):
    """Messages of TensorFlow's logger so far."""
    tf.get_logger().propagate = True
    with caplog.at_level("WARNING", "tensorflow"):
        yield lambda: [record.getMessage() for record in caplog.records]
