"""tf.staged in plain sessions."""

import gc
import threading
import time
import weakref

import numpy as np
import pytest
import tensorflow as tf


def counting(limit=1000):
    return tf.data.make_one_shot_iterator(tf.data.Dataset.range(limit)).get_next()


def read_all(session, fetch):
    values = []
    with pytest.raises(tf.errors.OutOfRangeError):
        while True:
            values.append(session.run(fetch))
    return values


def test_one_thread_keeps_the_order_and_the_end_reaches_the_step(start):
    staged = tf.staged(counting(50), capacity=3)
    with tf.Session() as session:
        start(session)
        assert read_all(session, staged) == list(range(50))
        # And again at every further step.
        with pytest.raises(tf.errors.OutOfRangeError, match="prefetch"):
            session.run(staged)


@pytest.mark.parametrize("capacity", [1, 7])
def test_several_threads_lose_nothing_and_read_nothing_twice(start, capacity):
    staged = tf.staged(counting(500), capacity=capacity, num_threads=4)
    with tf.Session() as session:
        start(session)
        assert sorted(read_all(session, staged)) == list(range(500))


def test_several_clients_share_the_records_and_all_see_the_end(start):
    staged = tf.staged(counting(300), capacity=4, num_clients=3)
    values = [[] for _ in range(3)]
    with tf.Session() as session:
        start(session)
        clients = [threading.Thread(target=lambda i=i: values[i].extend(read_all(session, staged))) for i in range(3)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(60)
    assert sorted(sum(values, [])) == list(range(300))


def test_the_structure_and_the_static_shapes_are_kept(start):
    sparse = tf.SparseTensor(indices=[[0, 1]], values=["x"], dense_shape=tf.constant([2, 3], tf.int64))
    features = {
        "dense": tf.reshape(tf.cast(tf.fill([4], counting()), tf.float32), [2, 2]),
        "none": None,
        "pair": (sparse, [tf.constant(True)]),
        "unknown": tf.placeholder_with_default([1, 2], [None]),
    }
    staged = tf.staged(features)
    assert staged["dense"].shape.as_list() == [2, 2]
    assert staged["unknown"].shape.as_list() == [None]
    assert staged["none"] is None
    assert isinstance(staged["pair"], tuple) and isinstance(staged["pair"][0], tf.SparseTensor)
    assert staged["pair"][0].shape.as_list() == [2, 3]
    with tf.Session() as session:
        start(session)
        value = session.run({key: part for key, part in staged.items() if part is not None})
    np.testing.assert_array_equal(value["dense"], np.zeros([2, 2]))
    assert value["pair"][0].values.tolist() == [b"x"] and value["pair"][1] == [True]


def test_the_buffer_is_bounded(start):
    seen = []

    def note(x):
        seen.append(int(x))
        return x

    staged = tf.staged(tf.py_func(note, [counting()], tf.int64), capacity=2)
    with tf.Session() as session:
        start(session)
        session.run(staged)
        time.sleep(0.3)
        # One read, two in the buffer, one that waits for room.
        assert seen == [0, 1, 2, 3]


def test_an_error_in_a_thread_comes_after_the_records_before_it(start):
    staged = tf.staged(tf.check_numerics(1.0 / tf.cast(3 - counting(), tf.float32), "bad number"), capacity=8)
    with tf.Session() as session:
        start(session)
        values = [session.run(staged) for _ in range(3)]
        begin = time.time()
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad number"):
            session.run(staged)
        assert time.time() - begin < 1
    assert values == pytest.approx([1 / 3, 1 / 2, 1])


def test_an_error_ends_a_step_that_waits(start):
    def late(x):
        time.sleep(0.5)
        raise ValueError("no such file")

    staged = tf.staged(tf.py_func(late, [counting()], tf.int64))
    with tf.Session() as session:
        start(session)
        begin = time.time()
        with pytest.raises(tf.errors.InvalidArgumentError, match="no such file"):
            session.run(staged)
        assert time.time() - begin < 1.5


def test_ignored_errors_are_passed_over(start):
    odd = tf.check_numerics(tf.log(tf.cast(counting(6) % 2, tf.float32) * 2 - 1), "not a number")
    staged = tf.staged(odd, ignored_exception_types=(tf.errors.INVALID_ARGUMENT,))
    with tf.Session() as session:
        start(session)
        assert read_all(session, staged) == [0, 0, 0]


def test_closed_types_are_the_end(start):
    bad = tf.check_numerics(tf.log(1.5 - tf.cast(counting(), tf.float32)), "not a number")
    staged = tf.staged(bad, closed_exception_types=(tf.errors.InvalidArgumentError,))
    with tf.Session() as session:
        start(session)
        assert len(read_all(session, staged)) == 2


def test_closing_the_session_ends_the_threads_whatever_they_wait_for(start):
    never = tf.FIFOQueue(1, [tf.int64], [[]]).dequeue()
    tf.staged(never, name="prefetch_input")
    tf.staged(counting(), name="prefetch_room")
    with tf.Session() as session:
        threads = start(session)
        time.sleep(0.2)
        assert all(thread.is_alive() for thread in threads)
        begin = time.time()
    assert time.time() - begin < 5
    assert not any(thread.is_alive() for thread in threads)


def test_closing_the_session_ends_a_step_that_waits():
    staged = tf.staged(counting())
    session = tf.Session()
    errors = []

    def step():
        try:
            session.run(staged)
        except tf.errors.CancelledError as error:
            errors.append(error)

    thread = threading.Thread(target=step)
    thread.start()
    time.sleep(0.3)
    session.close()
    thread.join(5)
    assert len(errors) == 1


def test_a_time_limit_of_the_run_ends_a_step_that_waits(start):
    staged = tf.staged(tf.FIFOQueue(1, [tf.int64], [[]]).dequeue())
    with tf.Session() as session:
        start(session)
        begin = time.time()
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(staged, options=tf.RunOptions(timeout_in_ms=200))
        assert time.time() - begin < 5


def test_without_threads_a_step_times_out_and_says_what_to_do():
    staged = tf.staged(counting(), timeout_millis=200)
    with tf.Session() as session, pytest.raises(tf.errors.DeadlineExceededError, match="make_prefetch_hook"):
        session.run(staged)


def warnings_of_stages(caplog):
    return [record.getMessage() for record in caplog.records if "has no threads" in record.getMessage()]


def test_a_step_that_waits_for_threads_which_nobody_started_warns_at_once(caplog):
    staged = tf.staged(counting(), timeout_millis=200, name="input")
    with tf.Session() as session, caplog.at_level("WARNING", "tensorflow"):
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run([staged + 1])
    (warning,) = warnings_of_stages(caplog)
    assert "'input'" in warning and "0.2 s" in warning and "tf.make_prefetch_hook()" in warning


def test_runs_that_do_not_wait_for_a_stage_do_not_warn(caplog, start):
    staged = tf.staged(counting())
    doubled, other = staged * 2, tf.constant(3)
    with tf.Session() as session, caplog.at_level("WARNING", "tensorflow"):
        assert [session.run(other) for _ in range(2)] == [3, 3]
        assert session.run(doubled, {staged: 4}) == 8
        start(session)
        assert [session.run(doubled) for _ in range(2)] == [0, 2]
    assert warnings_of_stages(caplog) == []


def test_a_slow_input_does_not_time_out(start):
    def slow(x):
        time.sleep(0.5)
        return x

    staged = tf.staged(tf.py_func(slow, [counting()], tf.int64), timeout_millis=100)
    with tf.Session() as session:
        start(session)
        assert [session.run(staged) for _ in range(2)] == [0, 1]


def test_a_pause_longer_than_the_time_out_loses_nothing(start):
    staged = tf.staged(counting(20), capacity=2, timeout_millis=50)
    with tf.Session() as session:
        start(session)
        values = [session.run(staged)]
        time.sleep(0.4)
        assert values + read_all(session, staged) == list(range(20))


def test_a_coordinator_ends_the_threads(start):
    tf.staged(counting(), num_threads=2)
    coord = tf.train.Coordinator()
    with tf.Session() as session:
        threads = start(session, coord)
        time.sleep(0.1)
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=5)
        assert not any(thread.is_alive() for thread in threads)


def test_a_step_does_not_wait_for_threads_that_a_coordinator_stopped_between_two_records(start):
    going, coord = threading.Event(), tf.train.Coordinator()

    def slow(value):
        # The coordinator stops while the input is made, so that the thread ends without waiting in the buffer.
        if value == 1:
            going.set()
            coord.wait_for_stop(10)
        return value

    staged = tf.staged(tf.py_func(slow, [counting()], tf.int64))
    with tf.Session() as session:
        threads = start(session, coord)
        assert session.run(staged) == 0
        assert going.wait(10)
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=5)
        with pytest.raises(tf.errors.CancelledError, match="prefetch"):
            for _ in range(3):
                session.run(staged, options=tf.RunOptions(timeout_in_ms=5000))


def test_threads_that_start_after_their_coordinator_has_stopped_leave_no_step_waiting(start):
    staged = tf.staged(counting())
    coord = tf.train.Coordinator()
    coord.request_stop()
    with tf.Session() as session:
        coord.join(start(session, coord), stop_grace_period_secs=5)
        with pytest.raises(tf.errors.CancelledError, match="prefetch"):
            session.run(staged, options=tf.RunOptions(timeout_in_ms=5000))


def test_a_coordinator_ends_a_thread_that_waits_beside_one_that_failed(start):
    def late(_):
        # The other thread waits for room by then; before, it would end by itself.
        time.sleep(0.15)
        return float("nan")

    bad = tf.py_func(late, [counting()], tf.double)
    bad.set_shape([])
    tf.prefetch_join([tf.cast(counting(), tf.double), tf.check_numerics(bad, "bad")])
    coord = tf.train.Coordinator()
    with tf.Session() as session:
        threads = start(session, coord)
        time.sleep(0.3)
        assert any(thread.is_alive() for thread in threads)
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=5)
        assert not any(thread.is_alive() for thread in threads)


def test_threads_can_be_started_again_and_lose_nothing(start):
    staged = tf.staged(counting(40), capacity=3)
    with tf.Session() as session:
        values = []
        for _ in range(4):
            coord = tf.train.Coordinator()
            threads = start(session, coord)
            values += [session.run(staged) for _ in range(5)]
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=5)
        start(session)
        assert values + read_all(session, staged) == list(range(40))


def test_a_second_start_does_nothing(start):
    staged = tf.staged(counting(10))
    with tf.Session() as session:
        assert len(start(session)) == 1
        assert start(session) == []
        assert read_all(session, staged) == list(range(10))


def test_a_stage_behind_a_stage(start):
    staged = tf.staged(tf.staged(counting(30), name="prefetch_a") * 2, name="prefetch_b")
    with tf.Session() as session:
        start(session)
        assert read_all(session, staged) == [2 * i for i in range(30)]


def test_one_thread_in_the_pools():
    config = tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
    staged = tf.staged(counting(200), capacity=2, num_threads=3)
    with tf.Session(config=config) as session:
        for runner in tf.get_collection("prefetch"):
            runner.create_threads(session, daemon=True, start=True)
        assert sorted(read_all(session, staged)) == list(range(200))


def test_sessions_of_one_graph_have_each_their_own_buffer(start):
    staged = tf.staged(tf.constant(7))
    with tf.Session() as one, tf.Session() as other:
        start(one)
        assert one.run(staged) == 7
        with pytest.raises(tf.errors.DeadlineExceededError):
            other.run(staged, options=tf.RunOptions(timeout_in_ms=100))
        start(other)
        assert other.run(staged) == 7


def test_a_meta_graph_carries_its_stages(start):
    source = tf.placeholder_with_default(counting(5), [])
    staged = tf.staged(source, feed_dict={source: counting(5) + 1}, capacity=2, name="prefetch_it")
    tf.identity(staged, name="out")
    meta_graph = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta_graph, import_scope="in")
        with tf.Session() as session:
            start(session)
            assert read_all(session, "in/out:0") == [1, 2, 3, 4, 5]


def test_the_thread_pools_of_the_config(start):
    config = tf.ConfigProto()
    config.session_stage_subgraph_thread_pool.add(inter_op_threads_num=2)
    staged = tf.staged(counting(20), use_stage_subgraph_thread_pool=True, stage_subgraph_thread_pool_id=0)
    with tf.Session(config=config) as session:
        assert [pool.num_threads for pool in session._config.session_inter_op_thread_pool] == [0, 2]
        start(session)
        assert read_all(session, staged) == list(range(20))
    with tf.Session() as session, pytest.raises(ValueError, match="stage_subgraph_thread_pool_id"):
        start(session)


@pytest.mark.parametrize("daemon", [True, False])
def test_a_program_that_ends_without_closing_its_session(check_python, daemon):
    out = check_python(
        """
import tensorflow as tf
x = tf.data.make_one_shot_iterator(tf.data.Dataset.range(10**9)).get_next()
y = tf.staged(x, capacity=4, num_threads=2)
session = tf.Session()
for runner in tf.get_collection("prefetch"):
    runner.create_threads(session, daemon=True, start=True)
session.run(y)
print("end")
""".replace("daemon=True", f"daemon={daemon}")
    )
    assert out == "end"


def test_a_session_that_was_dropped_goes_when_its_input_has_ended(start):
    staged = tf.staged(counting(3))
    session = tf.Session()
    dropped = weakref.ref(session)
    start(session)
    assert read_all(session, staged) == [0, 1, 2]
    del session
    for _ in range(100):
        gc.collect()
        if dropped() is None:
            return
        time.sleep(0.02)
    raise AssertionError(gc.get_referrers(dropped()))


def test_no_thread_of_the_runtime_is_left(check_python):
    out = check_python(
        """
import gc, os
import tensorflow as tf
def threads():
    return len(os.listdir("/proc/self/task"))
def round():
    with tf.Graph().as_default():
        x = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1000)).get_next()
        y = tf.staged(x, capacity=2, num_threads=3)
        with tf.Session() as session:
            for runner in tf.get_collection("prefetch"):
                runner.create_threads(session, start=True)
            for _ in range(50):
                session.run(y)
        del session
    gc.collect()
round()
before = threads()
for _ in range(5):
    round()
print(threads() - before)
"""
    )
    assert int(out) <= 0


def test_sessions_that_are_no_sessions():
    tf.staged(tf.constant(1))
    (runner,) = tf.get_collection("prefetch")
    tf.train.get_or_create_global_step()
    with tf.train.MonitoredTrainingSession() as session, pytest.raises(TypeError, match="make_prefetch_hook"):
        runner.create_threads(session)
    with tf.Graph().as_default(), tf.Session() as session, pytest.raises(ValueError, match="another graph"):
        runner.create_threads(session)
    with pytest.raises(RuntimeError, match="closed"):
        session = tf.Session()
        session.close()
        runner.create_threads(session)
