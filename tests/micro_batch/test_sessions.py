"""Micro batches in all kinds of sessions, and sessions that share a graph."""

import numpy as np
import pytest
import tensorflow as tf


def numbers(limit=100, size=2):
    return tf.data.make_one_shot_iterator(tf.data.Dataset.range(limit).batch(size)).get_next()


@pytest.mark.parametrize("number", [-2, 1025, 2**31 - 1])
def test_a_number_that_no_graph_can_have_is_refused(micro, number):
    numbers()
    text = f"micro_batch_num must be at least 1, or 0 for the default, and at most 1024, got {number}"
    with pytest.raises(ValueError, match=text):
        tf.Session(config=micro(number))


@pytest.mark.parametrize(
    "data,text",
    [
        (lambda: tf.data.Dataset.range(9), "component 0 of 'IteratorGetNext' must have a first dimension.*int64"),
        (
            lambda: tf.data.Dataset.range(9).batch(2, drop_remainder=True),
            "component 0 .* got a tensor of int64 of 2 rows",
        ),
        (
            lambda: (
                tf.data.Dataset.range(9)
                .map(lambda i: (tf.fill([3], i), tf.SparseTensor([[0]], [i], [4])))
                .batch(2, True)
            ),
            "component 0 .* of 2 rows",
        ),
        (
            lambda: tf.data.Dataset.range(9).map(lambda i: tf.SparseTensor([[0]], [i], [4])).batch(2, True),
            "component 0 .* a SparseTensor of 2 rows",
        ),
        (
            lambda: (
                tf.data.Dataset.range(9)
                .map(lambda i: tf.SparseTensor([[0]], [i], [tf.size(tf.range(i))]))
                .batch(2, True)
            ),
            "component 0 .* a SparseTensor of 2 rows",
        ),
        (
            lambda: tf.data.Dataset.range(9).map(_ragged).batch(2, True),
            "component 0 .* a RaggedTensor of 2 rows",
        ),
        (lambda: tf.data.Dataset.range(9).window(3), "component 0 .* must be dense.*got a variant"),
    ],
)
def test_components_without_free_rows_are_refused(data, text, micro, graph):
    element = tf.data.make_initializable_iterator(data()).get_next()
    if hasattr(element, "batch"):
        tf.data.experimental.get_single_element(element.batch(3))
    before = graph.as_graph_def()
    with pytest.raises(ValueError, match=f"micro_batch_num: {text}"):
        tf.Session(config=micro(3))
    assert graph.as_graph_def() == before
    tf.Session().close()


def _ragged(i):
    return tf.RaggedTensor.from_row_lengths(tf.range(i % 3), [i % 3])


def test_a_graph_without_an_iterator_warns_once(micro, warnings):
    x = tf.constant(3) + 1
    with tf.Session(config=micro(2)) as session:
        assert [session.run(x), session.run(x)] == [4, 4]
    assert len([text for text in warnings() if "micro_batch_num has no effect" in text]) == 1


def test_queues_are_no_iterators(micro, warnings):
    queue = tf.train.range_input_producer(6, shuffle=False).dequeue()
    batch = tf.train.batch([queue], 2)
    with tf.Session(config=micro(2)) as session:
        threads = tf.train.start_queue_runners(session, coord=tf.train.Coordinator())
        assert session.run(batch).tolist() == [0, 1] and threads
    assert any("micro_batch_num has no effect" in text for text in warnings())


def test_reads_in_loops_and_functions_warn_and_stay(micro, warnings):
    iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(100).batch(2))
    looped = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, x: (i + 1, x + tf.reduce_sum(iterator.get_next())),
        [0, tf.constant(0, tf.int64)],
    )[1]

    @tf.function
    def called():
        return iterator.get_next()

    with tf.Session(config=micro(2)) as session:
        assert session.run(looped) == sum(range(6))
    function = called()
    with tf.Session(config=micro(2)) as session:
        assert session.run(function).tolist() == [0, 1]
    text = "\n".join(warnings())
    assert "is in a loop or a condition" in text and "is a call that reads an iterator" in text


def test_the_iterator_is_fetched_and_fed_with_all_rows(micro):
    data = tf.data.Dataset.range(100).map(lambda i: (i, tf.SparseTensor([[i % 4]], [i], [4])))
    iterator = tf.data.make_one_shot_iterator(data.batch(2))
    x, sparse = iterator.get_next()
    doubled, dense = x * 2, tf.sparse.to_dense(sparse)
    with tf.Session(config=micro(2)) as session:
        assert [value.tolist() for value in session.run([x, doubled])] == [[0, 1, 2, 3], [0, 2, 4, 6]]
        got_sparse, got_dense = session.run([sparse, dense])
        assert got_sparse.values.tolist() == [4, 5, 6, 7] and got_dense.shape == (4, 4)
        assert session.run([x.name, doubled], {x: [7, 8, 9]})[1].tolist() == [14, 16, 18]
        fed = tf.SparseTensorValue([[0, 1]], [5], [1, 4])
        assert session.run(dense, {sparse: fed}).tolist() == [[0, 5, 0, 0]]
        assert session.run(x).tolist() == [8, 9, 10, 11]


def test_callables_of_the_iterator_itself_are_refused(micro):
    x = numbers()
    y = x + 1
    with tf.Session(config=micro(2)) as session:
        assert session.make_callable(y)().tolist() == [1, 2, 3, 4]
        assert session.make_callable(y, [x])([10]).tolist() == [11]
        for fetch in (x, [y, x.op], {"x": x.name}):
            with pytest.raises(ValueError, match="make_callable: .*session.run alone"):
                session.make_callable(fetch)
        with pytest.raises(ValueError, match="partial_run_setup"):
            session.partial_run_setup([y], [x])
        assert session.run(x).tolist() == [4, 5, 6, 7]


def test_what_is_added_after_the_session_was_made_is_seen(micro, steps):
    with tf.Session(config=micro(2)) as session:
        x = numbers(14)
        assert session.run(x).tolist() == [0, 1, 2, 3]
        y = x * 10
        assert session.run(y).tolist() == [40, 50, 60, 70]
        other = numbers(3) + 0
        assert session.run(other).tolist() == [0, 1, 2]
        assert [value.tolist() for value in steps(session, [x, y])[0]] == [[8, 9, 10, 11], [80, 90, 100, 110]]


def test_a_later_session_without_micro_batches_reads_one(micro):
    x = numbers()
    y = x + 0
    with tf.control_dependencies([x]):
        z = tf.constant(1)
    with tf.Session(config=micro(3)) as session:
        assert session.run(y).tolist() == [0, 1, 2, 3, 4, 5]
    with tf.Session() as session:
        assert session.run(y).tolist() == [0, 1]
        assert session.run(z) == 1
        assert session.run(x).tolist() == [4, 5]
    with tf.Session(config=micro(2)) as session:
        assert session.run(y).tolist() == [0, 1, 2, 3]
        assert session.run(x).tolist() == [4, 5, 6, 7]


@pytest.mark.parametrize("first,second", [(3, 1), (1, 3), (2, 3)])
@pytest.mark.parametrize("ran", [True, False])
def test_an_open_session_of_another_number_is_refused_its_next_run(first, second, ran, micro):
    y = numbers() + 0
    with tf.Session(config=micro(first)) as before:
        if ran:
            assert len(before.run(y)) == 2 * first
        with tf.Session(config=micro(second)) as after:
            assert after.run(y).tolist() == list(range(2 * second))
            with pytest.raises(tf.errors.FailedPreconditionError, match=f"micro_batch_num of this session is {first}"):
                before.run(y)


def test_two_sessions_of_one_number_share_a_graph(micro):
    y = numbers() + 0
    with tf.Session(config=micro(2)) as one, tf.Session(config=micro(2)) as other:
        assert one.run(y).tolist() == other.run(y).tolist() == [0, 1, 2, 3]
        assert one.run(y).tolist() == [4, 5, 6, 7]


def test_a_meta_graph_is_known_again(micro, tmp_path):
    data = tf.data.Dataset.range(100).map(lambda i: (i, tf.SparseTensor([[i % 4]], [i], [4])))
    x, sparse = tf.data.make_one_shot_iterator(data.batch(2)).get_next()
    tf.add_to_collection("y", x + 0)
    tf.add_to_collection("y", tf.sparse.to_dense(sparse))
    tf.Session(config=micro(2)).close()
    meta = tf.train.export_meta_graph(str(tmp_path / "graph.meta"))
    for scope in (None, "imported"):
        for number, rows in ((2, 4), (3, 6)):
            with tf.Graph().as_default():
                tf.train.import_meta_graph(meta, import_scope=scope)
                y = tf.get_collection("y")
                with tf.Session(config=micro(number)) as session:
                    got = session.run(y)
                    assert got[0].tolist() == list(range(rows)) and got[1].shape == (rows, 4)
                with tf.Session() as session:
                    assert [len(value) for value in session.run(y)] == [2, 2]


def model(features, labels, mode):
    logits = tf.layers.dense(features["x"], 1, kernel_initializer=tf.zeros_initializer())
    loss = tf.losses.mean_squared_error(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
    metrics = {"mean": tf.metrics.mean(logits)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def test_estimators(micro, tmp_path):
    random = np.random.RandomState(0)
    x = random.normal(size=[40, 3]).astype(np.float32)
    y = x.sum(1, keepdims=True)

    def run(number, size):
        def input_fn():
            return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(size)

        config = tf.estimator.RunConfig(str(tmp_path / str(number)), session_config=micro(number))
        estimator = tf.estimator.Estimator(model, config=config)
        estimator.train(input_fn)
        return estimator.evaluate(input_fn), estimator.get_variable_value("dense/kernel")

    (metrics, kernel), (plain_metrics, plain_kernel) = run(4, 3), run(1, 12)
    assert metrics == plain_metrics and metrics["global_step"] == 4
    np.testing.assert_array_equal(kernel, plain_kernel)


def test_a_monitored_session_saves_and_goes_on(micro, tmp_path):
    def train(number, size, folder, stop):
        with tf.Graph().as_default():
            random = np.random.RandomState(0)
            x = random.normal(size=[600, 3]).astype(np.float32)
            batch = tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices(x).batch(size)).get_next()
            spec = model({"x": batch}, tf.reduce_sum(batch, 1, keepdims=True), "train")
            hooks = [tf.train.StopAtStepHook(last_step=stop)]
            with tf.train.MonitoredTrainingSession(
                config=micro(number), checkpoint_dir=str(tmp_path / folder), hooks=hooks
            ) as session:
                while not session.should_stop():
                    session.run(spec.train_op)
        return tf.train.load_variable(str(tmp_path / folder), "dense/kernel")

    for stop in (5, 9):
        kernel, plain = train(3, 4, "micro", stop), train(1, 12, "plain", stop)
        np.testing.assert_array_equal(kernel, plain)


def test_the_session_of_a_server(check_python):
    program = """
import tensorflow as tf
server = tf.train.Server.create_local_server()
config = tf.ConfigProto()
config.graph_options.optimizer_options.micro_batch_num = 3
x = tf.data.make_one_shot_iterator(tf.data.Dataset.range(8).batch(2)).get_next()
with tf.Session(server.target, config=config) as session:
    print([session.run(x + 0).tolist() for _ in range(2)])
"""
    assert check_python(program) == "[[0, 1, 2, 3, 4, 5], [6, 7]]"


def test_sessions_are_not_kept_alive(micro):
    import gc
    import weakref

    y = numbers() + 0
    session = tf.Session(config=micro(2))
    session.run(y)
    reference = weakref.ref(session)
    gc.disable()
    try:
        del session
        assert reference() is None
    finally:
        gc.enable()


def test_the_same_run_again_is_that_of_all_rows(micro, steps):
    x = numbers(12)
    feed = tf.placeholder(tf.int64, [])
    y = x + feed
    with tf.Session(config=micro(2)) as session:
        got = [session.run([x, y], {feed: 1}) for _ in range(3)]
    assert [value.tolist() for value, _ in got] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert all((y == x + 1).all() for x, y in got)


def test_listing_fusions_leaves_the_graph_as_it_is(micro):
    y = numbers() + 0
    config = micro(2)
    with tf.Session(config=config) as session:
        assert session.run(y).tolist() == [0, 1, 2, 3]
        assert tf.graph_optimizer.fused_ops(y, config=config) == []
        assert session.run(y).tolist() == [4, 5, 6, 7]
