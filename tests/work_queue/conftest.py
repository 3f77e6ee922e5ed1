"""Fixtures of the WorkQueue tests."""

import contextlib

import pytest


@pytest.fixture
def tf():
    """TensorFlow with an empty default graph."""
    import tensorflow

    with tensorflow.Graph().as_default():
        yield tensorflow


@pytest.fixture
def started(tf):
    """`with started() as session:` a session on the default graph with queues made and threads running."""
    from tensorflow.python.ops import resources

    @contextlib.contextmanager
    def start(runners=True, target=""):
        coordinator = tf.train.Coordinator()
        with tf.Session(target) as session:
            session.run(resources.initialize_resources(resources.shared_resources()))
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
            threads = tf.train.start_queue_runners(session, coordinator) if runners else []
            try:
                yield session
            finally:
                coordinator.request_stop()
                coordinator.join(threads, stop_grace_period_secs=20)

    return start


@pytest.fixture
def rest(tf):
    """rest(session, tensor): what runs of the tensor give until the works are all taken."""

    def read(session, tensor):
        values = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                values.append(
                    session.run(tensor).tolist() if hasattr(tensor, "op") and tensor.shape.rank else session.run(tensor)
                )
        return values

    return read
