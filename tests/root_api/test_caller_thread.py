"""The thread that calls `session.run` works too (TF_DEEPREC_CALLER_THREAD)."""

import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import tensorflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def _executor_of(session):
    return session._config.experimental.executor_type


def test_sessions_of_this_process_have_the_executor():
    with tf.Session() as session:
        assert _executor_of(session) == "DEEPREC_CALLER"


def test_an_executor_of_the_configuration_is_kept():
    config = tf.ConfigProto()
    config.experimental.executor_type = "DEFAULT"
    with tf.Session(config=config) as session:
        assert _executor_of(session) == "DEFAULT"


def test_the_configuration_that_was_given_is_not_changed():
    config = tf.ConfigProto()
    with tf.Session(config=config):
        pass
    assert config.experimental.executor_type == ""


def test_it_can_be_switched_off():
    program = "import tensorflow as tf; print(repr(tf.Session()._config.experimental.executor_type))"
    out = subprocess.run(
        [sys.executable, "-c", program],
        env={"TF_DEEPREC_CALLER_THREAD": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert out.stdout.strip() == "''"


def test_independent_chains_give_what_numpy_gives():
    random = np.random.default_rng(0)
    inputs = [tf.placeholder(tf.float32, [64, 64]) for _ in range(8)]
    chains = []
    for x in inputs:
        y = x
        for _ in range(5):
            y = tf.matmul(y, x) / 64.0
        chains.append(tf.reduce_sum(y))
    values = [random.random((64, 64), np.float32) for _ in inputs]
    with tf.Session() as session:
        results = session.run(chains, dict(zip(inputs, values)))
    for value, result in zip(values, results):
        y = value
        for _ in range(5):
            y = y @ value / 64
        assert result == pytest.approx(y.sum(), rel=1e-4)


def test_a_time_limit_ends_a_wait():
    queue = tf.FIFOQueue(1, tf.float32)
    with tf.Session() as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(queue.dequeue(), options=tf.RunOptions(timeout_in_ms=200))


@pytest.mark.parametrize("limit", ["of the run", "of the session"])
def test_a_time_limit_ends_a_loop(limit):
    loop = tf.while_loop(lambda i: i < 2_000_000_000, lambda i: i + 1, [tf.constant(0)])
    config, options = tf.ConfigProto(), None
    if limit == "of the run":
        options = tf.RunOptions(timeout_in_ms=300)
    else:
        config.operation_timeout_in_ms = 300
    with tf.Session(config=config) as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(loop, options=options)


def test_a_wait_ends_when_another_run_brings_what_it_waits_for():
    queue = tf.FIFOQueue(1, tf.float32)
    dequeued = queue.dequeue() + 1.0
    enqueue = queue.enqueue(41.0)
    with tf.Session() as session:
        result = []
        waiter = threading.Thread(target=lambda: result.append(session.run(dequeued)))
        waiter.start()
        time.sleep(0.2)
        session.run(enqueue)
        waiter.join(30)
        assert result == [42.0]


def test_closing_the_session_ends_a_wait():
    queue = tf.FIFOQueue(1, tf.float32)
    dequeued = queue.dequeue()
    session = tf.Session()
    errors = []

    def wait():
        try:
            session.run(dequeued)
        except tf.errors.CancelledError as error:
            errors.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    time.sleep(0.2)
    session.close()
    waiter.join(30)
    assert len(errors) == 1


def test_parts_of_a_step_on_several_devices_meet():
    with tf.device("/cpu:0"):
        a = tf.random_uniform([10], seed=1)
    with tf.device("/cpu:1"):
        b = a * 2.0
    with tf.device("/cpu:0"):
        c = b - a
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        first, second = session.run([a, c])
    np.testing.assert_allclose(first, second, rtol=1e-6)


def test_partial_runs_work():
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    first = a + 1.0
    second = first * b
    with tf.Session() as session:
        handle = session.partial_run_setup([first, second], [a, b])
        assert session.partial_run(handle, first, {a: 1.0}) == 2.0
        assert session.partial_run(handle, second, {b: 3.0}) == 6.0


@pytest.mark.parametrize("place", ["graph", "function", "dataset"])
def test_python_functions_do_not_see_the_callers_default_graph(graph, place):
    seen = []

    def look():
        seen.append(tf.get_default_graph())
        return np.float32(0)

    def call(*_):
        return tf.py_func(look, [], tf.float32)

    if place == "graph":
        fetch = call()
    elif place == "function":
        fetch = tf.contrib.eager.defun(call)()
    else:
        dataset = tf.data.Dataset.range(1).map(call)
        fetch = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        session.run(fetch)
    assert seen and all(g is not graph for g in seen)


def test_denormals_are_flushed_on_the_callers_thread():
    tiny = tf.placeholder(tf.float32, [])
    halved = tiny * 0.5
    with tf.Session() as session:
        assert session.run(halved, {tiny: np.float32(1.2e-38)}) == 0
    # And the caller's own arithmetic is left alone.
    assert np.float32(1.2e-38) * np.float32(0.5) != 0


def test_one_thread_runs_stateful_ops_in_their_order():
    program = textwrap.dedent(
        """
        import tensorflow as tf
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)
        adds = [v.assign_add(1.0) for _ in range(50)]
        config = tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
        with tf.Session(config=config) as session:
            session.run(v.initializer)
            values = session.run([tf.identity(a) for a in adds])
            assert sorted(values)[-1] == 50, values
            assert session.run(v) == 50
        """
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_many_threads_share_a_session():
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(tf.sqrt(x) * 2.0)
    with tf.Session() as session:
        wrong = []

        def run(k):
            for i in range(50):
                got = session.run(y, {x: np.full([k + 1], (i + 1) ** 2, np.float32)})
                if abs(got - 2 * (k + 1) * (i + 1)) > 1e-3 * got:
                    wrong.append((k, i, got))

        threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not wrong and not any(thread.is_alive() for thread in threads)
