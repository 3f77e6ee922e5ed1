"""`session.run` with arguments of a form that it has seen: the results and the errors of the first call."""

import threading

import numpy as np
import pytest
import tensorflow as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_values_and_shapes_of_feeds_may_change(session):
    x = tf.placeholder(tf.float32, [None, 2])
    total = tf.reduce_sum(x, 0)
    for rows in (1, 5, 0, 3):
        value = np.random.default_rng(rows).normal(size=(rows, 2)).astype(np.float32)
        np.testing.assert_allclose(session.run(total, {x: value}), value.sum(0), rtol=1e-6)


@pytest.mark.parametrize(
    "value", [np.float64(3), 3.0, 3, True, [3.0], np.array(3), np.array([1, 2]), "3", [[1, 2], [3, 4]]]
)
def test_a_feed_is_converted_as_at_the_first_call(session, value):
    x = tf.placeholder(tf.float32)
    same = tf.identity(x)
    for _ in range(3):
        np.testing.assert_array_equal(session.run(same, {x: value}), np.asarray(value, np.float32))


def test_nested_fetches_keep_their_structure(session):
    x = tf.placeholder(tf.int64, [])
    op, twice = tf.no_op(), 2 * x
    for value in (1, 5):
        fetches = {"a": [twice, op, (x + 1, twice)], "b": {"c": [], "d": twice}, 3: ()}
        got = session.run(fetches, {x: np.int64(value)})
        assert got == {"a": [2 * value, None, (value + 1, 2 * value)], "b": {"c": [], "d": 2 * value}, 3: ()}
        assert isinstance(got["a"][2], tuple)


def test_lists_and_dicts_of_the_program_may_change_between_calls(session):
    one, two = tf.constant(1), tf.constant(2)
    fetches, named = [one], {"one": one}
    assert session.run(fetches) == [1] and session.run(named) == {"one": 1}
    fetches.append(two)
    named["two"] = two
    assert session.run(fetches) == [1, 2] and session.run(named) == {"one": 1, "two": 2}
    del named["two"], fetches[1]
    assert session.run(fetches) == [1] and session.run(named) == {"one": 1}


def test_a_new_tensor_in_the_place_of_a_freed_one_is_another(session):
    for value in range(200):
        assert session.run([tf.constant(value)]) == [value]


def test_fed_tensors_that_are_fetched_give_what_is_fed(session):
    x = tf.placeholder(tf.int32, [])
    for value in (4, 5):
        assert session.run([x, x + 1], {x: np.int32(value)}) == [value, value + 1]
        assert session.run(x, {x: np.int32(value)}) == value


def test_variables_sparse_tensors_and_names_are_fetched(session):
    variable = tf.get_variable("v", initializer=3)
    sparse = tf.SparseTensor([[0, 1]], [7], [1, 2])
    session.run(tf.global_variables_initializer())
    for expected in (4, 5):
        session.run(tf.assign_add(variable, 1))
        value, found, named = session.run([variable, sparse, "v:0"])
        assert value == named == expected
        assert found.values.tolist() == [7]


def test_sparse_feeds_are_fed(session):
    sparse = tf.sparse_placeholder(tf.float32)
    total = tf.sparse_reduce_sum(sparse)
    for value in (1.0, 2.0):
        assert session.run(total, {sparse: tf.SparseTensorValue([[0]], [value], [1])}) == value


def test_a_value_of_a_wrong_shape_is_refused_at_every_call(session):
    x = tf.placeholder(tf.float32, [2])
    same = tf.identity(x)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"Cannot feed value of shape \(3,\)"):
            session.run(same, {x: np.zeros(3, np.float32)})
        assert session.run(same, {x: np.ones(2, np.float32)}).tolist() == [1, 1]


def test_a_shape_that_was_set_since_is_respected(session):
    x = tf.placeholder(tf.float32)
    same = tf.identity(x)
    session.run(same, {x: np.zeros(3, np.float32)})
    x.set_shape([2])
    with pytest.raises(ValueError, match="Cannot feed value of shape"):
        session.run(same, {x: np.zeros(3, np.float32)})


def test_what_was_forbidden_since_is_refused(session):
    x = tf.placeholder_with_default(1.0, [])
    y = x + 1
    session.run(y, {x: np.float32(2)})
    tf.get_default_graph().prevent_feeding(x)
    with pytest.raises(ValueError, match="may not be fed"):
        session.run(y, {x: np.float32(2)})
    tf.get_default_graph().prevent_fetching(y.op)
    with pytest.raises(Exception, match="not fetchable"):
        session.run(y)


@pytest.mark.parametrize("fetches", [None, 3, [None], {"a": 3.0}, "nothing:0"])
def test_what_cannot_be_fetched_is_named(session, fetches):
    tf.constant(1)
    for _ in range(2):
        with pytest.raises((TypeError, ValueError), match="[Ff]etch"):
            session.run(fetches)


def test_tensors_of_another_graph_are_refused(session):
    mine = tf.constant(1)
    session.run(mine)
    with tf.Graph().as_default():
        other = tf.placeholder_with_default(1, [])
    for _ in range(2):
        with pytest.raises(ValueError, match="not an element of this graph"):
            session.run(other)
        with pytest.raises(TypeError, match="not an element of this graph"):
            session.run(mine, {other: np.int32(3)})


def test_a_missing_feed_is_named_at_every_call(session):
    x = tf.placeholder(tf.float32, [], name="needed")
    y = x + 1
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="needed"):
            session.run(y)


def test_a_closed_session_and_an_empty_graph_say_so():
    with tf.Graph().as_default():
        session = tf.Session()
        with pytest.raises(RuntimeError, match="graph is empty"):
            session.run([])
        one = tf.constant(1)
        session.run(one)
        session.close()
        with pytest.raises(RuntimeError, match="closed Session"):
            session.run(one)


def test_operations_that_were_added_since_run(session):
    x = tf.constant(1)
    session.run(x)
    for step in range(5):
        x = x + 1
        assert session.run(x) == step + 2


def test_options_and_metadata_are_honoured(session):
    queue = tf.FIFOQueue(1, tf.int32)
    size, wait = queue.size(), queue.dequeue()
    session.run(size)
    metadata = tf.RunMetadata()
    session.run(size, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    assert metadata.step_stats.dev_stats
    for _ in range(2):
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(wait, options=tf.RunOptions(timeout_in_ms=50))


def test_threads_get_their_own_results(session):
    x = tf.placeholder(tf.int64, [None])
    sums = [tf.reduce_sum(x) + k for k in range(100)]
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(300):
            value, k = rng.integers(100, size=5), rng.integers(100)
            if session.run([sums[k]], {x: value}) != [value.sum() + k]:
                wrong.append((seed, k))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_memory_of_forms_is_bounded(session):
    for value in range(300):
        session.run({f"{value}": tf.constant(value)})
    assert len(session._deeprec_run_plans) <= 64


def test_keys_that_are_equal_but_not_the_same_are_kept(session):
    one = tf.constant(1)
    assert [type(key) for key in session.run({1: one})] == [int]
    assert [type(key) for key in session.run({True: one})] == [bool]


def test_a_number_for_a_string_is_refused_at_every_call(session):
    x = tf.placeholder(tf.string, [])
    same = tf.identity(x)
    assert session.run(same, {x: np.array(b"a", object)}) == b"a"
    for _ in range(2):
        with pytest.raises(TypeError, match="True"):
            session.run(same, {x: True})


def test_a_session_of_a_class_that_runs_in_its_own_way_does_so():
    calls = []

    class Counting(tf.Session):
        def _do_run(self, *args):
            calls.append(args)
            return super()._do_run(*args)

    with tf.Graph().as_default(), Counting() as session:
        one = tf.constant(1)
        assert [session.run(one) for _ in range(3)] == [1, 1, 1]
    assert len(calls) == 3
