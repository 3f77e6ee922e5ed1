"""The arguments of tf.staged and tf.prefetch_join, in both forms."""

import pytest
import tensorflow as tf


def counting(limit=1000):
    return tf.data.make_one_shot_iterator(tf.data.Dataset.range(limit)).get_next()


def read(start, staged, count):
    with tf.Session() as session:
        start(session)
        return [session.run(staged) for _ in range(count)]


def take_op():
    (runner,) = tf.get_collection("prefetch")
    return runner.take_op


def test_the_new_form_by_position(start):
    fed = tf.placeholder(tf.int64, [])
    staged = tf.staged(fed * 2, {fed: counting()}, 5, 1, 2, 9000, (tf.errors.OUT_OF_RANGE,), (), False, 0, 0, "named")
    assert take_op().get_attr("shared_capacity") == 5
    assert take_op().get_attr("shared_threads") == 2
    assert take_op().get_attr("shared_name") == b"named"
    assert read(start, staged, 3) == [0, 2, 4]


def test_sparse_tensors_are_fed(start):
    fed = tf.sparse_placeholder(tf.int64)
    row = tf.SparseTensor(indices=[[0, 0]], values=tf.reshape(counting(), [1]), dense_shape=[1, 1])
    staged = tf.staged(tf.sparse_tensor_to_dense(fed), feed_dict={fed: row})
    assert [value.tolist() for value in read(start, staged, 2)] == [[[0]], [[1]]]


def test_the_old_form_by_position(start):
    fed = tf.placeholder(tf.int64, [])
    closed = (tf.errors.OutOfRangeError, StopIteration)
    staged = tf.staged(fed + 1, [fed], ([i] for i in range(3)), 4, 1, 1, 9000, closed, None, "old")
    assert take_op().get_attr("shared_capacity") == 4
    with tf.Session() as session:
        start(session)
        assert [session.run(staged) for _ in range(3)] == [1, 2, 3]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(staged)


def test_a_generator_is_shared_by_the_threads(start):
    fed = tf.placeholder(tf.int64, [])
    staged = tf.staged(fed, feed_list=[fed], feed_generator=([i] for i in range(100)), num_threads=4, capacity=3)
    assert sorted(read(start, staged, 100)) == list(range(100))


def test_what_a_generator_raises_reaches_the_step(start):
    def broken():
        yield [1]
        raise KeyError("lost column")

    fed = tf.placeholder(tf.int64, [])
    staged = tf.staged(fed, feed_list=[fed], feed_generator=broken())
    with tf.Session() as session:
        start(session)
        assert session.run(staged) == 1
        with pytest.raises(tf.errors.UnknownError, match="KeyError.*lost column"):
            session.run(staged)


def test_a_generator_that_exits(start):
    def exits():
        raise SystemExit("gone")
        yield

    fed = tf.placeholder(tf.int64, [])
    staged = tf.staged(fed, feed_list=[fed], feed_generator=exits())
    with tf.Session() as session:
        start(session)
        with pytest.raises(tf.errors.UnknownError, match="SystemExit: gone"):
            session.run(staged)


def test_one_name_twice():
    tf.staged(tf.constant(1), name="same")
    tf.staged(tf.constant(1.0), name="same/")
    names = [runner.take_op.get_attr("shared_name") for runner in tf.get_collection("prefetch")]
    assert names == [b"same", b"same_1"]


def test_a_generator_that_yields_too_much(start):
    fed = tf.placeholder(tf.int64, [])
    staged = tf.staged(fed, feed_list=[fed], feed_generator=iter([[1, 2]]))
    with tf.Session() as session:
        start(session)
        with pytest.raises(tf.errors.UnknownError, match="1 values.*got 2"):
            session.run(staged)


def test_join_reads_every_input_to_its_end(start):
    inputs = [{"x": counting(10)}, {"x": counting(25) + 100}]
    staged = tf.prefetch_join(inputs, capacity=3)
    values = []
    with tf.Session() as session:
        start(session)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                values.append(session.run(staged["x"]))
    assert sorted(values) == list(range(10)) + list(range(100, 125))
    assert [v for v in values if v < 100] == list(range(10))


def test_join_has_the_shape_that_all_have():
    staged = tf.prefetch_join([tf.zeros([2, 3]), tf.zeros([2, 4])])
    assert staged.shape.as_list() == [2, None]


@pytest.mark.parametrize("name", ["capacity", "num_threads", "num_clients", "timeout_millis"])
def test_numbers_are_positive(name):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        tf.staged(tf.constant(1), **{name: 0})
    with pytest.raises(TypeError, match=f"{name} must be a whole number, got 1.5"):
        tf.staged(tf.constant(1), **{name: 1.5})


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        ({"closed_exception_types": ("x",)}, TypeError, "closed_exception_types"),
        ({"ignored_exception_types": (99,)}, ValueError, "ignored_exception_types.*99"),
        ({"feed_list": []}, ValueError, "go together"),
        ({"feed_list": [], "feed_generator": 3}, TypeError, "feed_generator"),
        ({"feed_dict": [1]}, TypeError, "feed_dict"),
        ({"no_such": 1}, TypeError, "no_such"),
        ({"name": 5}, TypeError, "name must be a string, or None, got 5"),
        ({"use_stage_subgraph_thread_pool": "yes"}, TypeError, "must be a bool, got 'yes'"),
        (
            {"use_stage_subgraph_thread_pool": True, "stage_subgraph_thread_pool_id": -1},
            ValueError,
            "must not be negative",
        ),
    ],
)
def test_bad_arguments(arguments, error, text):
    with pytest.raises(error, match=text):
        tf.staged(tf.constant(1), **arguments)


def test_bad_features():
    with pytest.raises(ValueError, match="features"):
        tf.staged({"x": None})
    with pytest.raises(TypeError, match="features"):
        tf.staged([object()])
    with pytest.raises(ValueError, match="thread_to_features"):
        tf.prefetch_join([])
    with pytest.raises(ValueError, match=r"thread_to_features\[1\]"):
        tf.prefetch_join([tf.constant(1), tf.constant(1.0)])


def test_bad_feeds():
    fed = tf.placeholder(tf.int64, [])
    with pytest.raises(TypeError, match="must be a tensor"):
        tf.staged(fed, feed_dict={fed: 3})
    with pytest.raises(ValueError, match="int64.*float32"):
        tf.staged(fed, feed_dict={fed: tf.constant(1.0)})


def test_a_stage_in_eager_mode(check_python):
    program = """
import tensorflow as tf
tf.enable_eager_execution()
try:
    tf.staged(tf.constant(1))
except RuntimeError as error:
    print(error)
"""
    assert "eager" in check_python(program)


def test_a_stage_in_control_flow():
    def branch():
        return tf.staged(tf.constant(1))

    with pytest.raises(ValueError, match="tf.cond"):
        tf.cond(tf.placeholder(tf.bool, []), branch, branch)


def test_streams_are_for_gpus(caplog):
    tf.get_logger().propagate = True
    with caplog.at_level("WARNING", "tensorflow"):
        tf.staged(tf.constant(1), stage_subgraph_stream_id=1)
    assert "stage_subgraph_stream_id has no effect" in caplog.text


@pytest.mark.parametrize("argument", ["daemon", "start"])
def test_the_hook_takes_bools(argument):
    with pytest.raises(TypeError, match=f"{argument} must be a bool, got 'no'"):
        tf.make_prefetch_hook(**{argument: "no"})


def test_the_old_paths():
    from tensorflow.python.ops import prefetch

    assert prefetch.staged is tf.staged and prefetch.make_prefetch_hook is tf.make_prefetch_hook
    assert prefetch.PREFETCH == "prefetch"
