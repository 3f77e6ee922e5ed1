"""Stages in monitored sessions, Estimators and clusters."""

import threading
import time

import pytest
import tensorflow as tf


def counting(limit=1000):
    return tf.data.make_one_shot_iterator(tf.data.Dataset.range(limit)).get_next()


def test_a_monitored_session_reads_to_the_end():
    staged = tf.staged(counting(30), capacity=4)
    tf.train.get_or_create_global_step()
    values = []
    with tf.train.MonitoredTrainingSession(hooks=[tf.make_prefetch_hook()]) as session:
        while not session.should_stop():
            values.append(session.run(staged))
    assert values == list(range(30))


def test_a_monitored_session_that_stops_early_ends_at_once():
    never = tf.FIFOQueue(1, [tf.int64], [[]]).dequeue()
    tf.staged(never, name="prefetch_never", num_threads=2)
    staged = tf.staged(counting(), name="prefetch_some")
    step = tf.train.get_or_create_global_step()
    train = tf.group(tf.assign_add(step, 1), staged)
    hooks = [tf.make_prefetch_hook(), tf.train.StopAtStepHook(5)]
    with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
        while not session.should_stop():
            session.run(train)
        begin = time.time()
    assert time.time() - begin < 5


def test_an_error_of_a_thread_ends_the_monitored_session():
    staged = tf.staged(tf.check_numerics(1.0 / tf.cast(2 - counting(), tf.float32), "bad number"))
    tf.train.get_or_create_global_step()
    begin = time.time()
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad number"):
        with tf.train.MonitoredTrainingSession(hooks=[tf.make_prefetch_hook()]) as session:
            while not session.should_stop():
                session.run(staged)
    assert time.time() - begin < 10


def test_a_session_that_is_made_anew_goes_on():
    staged = tf.staged(counting(30), capacity=2)
    tf.train.get_or_create_global_step()
    raised = []

    class Preempt(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            if not raised:
                raised.append(True)
                raise tf.errors.AbortedError(None, None, "preempted")

    values = []
    with tf.train.MonitoredTrainingSession(hooks=[Preempt(), tf.make_prefetch_hook()]) as session:
        while not session.should_stop():
            values.append(session.run(staged))
    # The new session has a new input too.
    assert values == list(range(30))


def test_an_error_of_the_step_ends_the_threads():
    staged = tf.staged(counting(), num_threads=3, capacity=5)
    tf.train.get_or_create_global_step()
    with (
        pytest.raises(ZeroDivisionError),
        tf.train.MonitoredTrainingSession(hooks=[tf.make_prefetch_hook()]) as session,
    ):
        session.run(staged)
        raise ZeroDivisionError


def test_the_hook_can_leave_the_start_to_the_program():
    staged = tf.staged(counting())
    hook = tf.make_prefetch_hook(daemon=False, start=False)
    tf.train.get_or_create_global_step()
    with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
        assert hook.threads and not any(thread.is_alive() or thread.daemon for thread in hook.threads)
        for thread in hook.threads:
            thread.start()
        assert session.run(staged) == 0


def test_checkpoints_say_nothing_about_stages(tmp_path, caplog):
    staged = tf.staged(counting(5))
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1 + 0 * staged)
    tf.get_logger().propagate = True
    with caplog.at_level("WARNING", "tensorflow"):
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=str(tmp_path), hooks=[tf.make_prefetch_hook()]
        ) as session:
            while not session.should_stop():
                session.run(train)
    assert "serializing" not in caplog.text
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("-5")


def _model_fn(features, labels, mode):
    staged = tf.staged({"features": features, "labels": labels}, capacity=2)
    prediction = tf.layers.dense(tf.reshape(staged["features"]["x"], [-1, 1]), 1)
    loss = tf.losses.mean_squared_error(tf.reshape(staged["labels"], [-1, 1]), prediction)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    hooks = [tf.make_prefetch_hook()]
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, training_hooks=hooks, evaluation_hooks=hooks)


def _input_fn():
    x = tf.linspace(0.0, 1.0, 64)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, 2 * x)).repeat(20).batch(16)


def test_an_estimator_trains_and_evaluates(tmp_path):
    estimator = tf.estimator.Estimator(_model_fn, str(tmp_path))
    estimator.train(_input_fn)
    assert estimator.get_variable_value("global_step") == 80
    assert estimator.evaluate(_input_fn)["loss"] < 0.1


@pytest.mark.parametrize("smart", [False, True])
def test_a_session_of_a_server(smart):
    server = tf.train.Server.create_local_server()
    tf.train.get_or_create_global_step()
    total = tf.staged(counting(30), capacity=3, num_threads=2) * 2 + tf.Variable(1, dtype=tf.int64)
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.do_smart_stage = smart
    values = []
    with tf.train.MonitoredTrainingSession(server.target, hooks=[tf.make_prefetch_hook()], config=config) as session:
        while not session.should_stop():
            values.append(int(session.run(total)))
    assert sorted(values) == [2 * i + 1 for i in range(30)]
    assert not [thread for thread in threading.enumerate() if "prefetch" in thread.name]


def test_closing_a_session_of_a_server_ends_the_threads():
    server = tf.train.Server.create_local_server()
    tf.staged(tf.FIFOQueue(1, [tf.int64], [[]]).dequeue(), name="prefetch_input")
    tf.staged(counting(), name="prefetch_room", num_threads=2)
    with tf.Session(server.target) as session:
        threads = []
        for runner in tf.get_collection("prefetch"):
            threads += runner.create_threads(session, start=True)
        time.sleep(0.3)
        assert all(thread.is_alive() for thread in threads)
        begin = time.time()
    assert time.time() - begin < 5
    assert not any(thread.is_alive() for thread in threads)
