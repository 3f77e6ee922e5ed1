"""tf.nn.dynamic_rnn as one op: the results, gradients and graphs of the loop."""

import contextlib

import numpy as np
import pytest
import tensorflow as tf
from .conftest import CELLS, AttentionGRU, loops_as_they_are, marks
from tensorflow.python.util import nest


def build(make_cell, use_resource=False, time_major=False, lengths=True, state=False, width=9):
    """Placeholders, results and gradients of a loop."""
    x = tf.placeholder(tf.float32, [None, None, width])
    length = tf.placeholder(tf.int32, [None]) if lengths else None
    with tf.variable_scope(
        "net", use_resource=use_resource, initializer=tf.random_normal_initializer(stddev=0.4, seed=7)
    ):
        cell = make_cell()
        begin = cell.zero_state(tf.shape(x)[1 if time_major else 0], tf.float32) if state else None
        outputs, last = tf.nn.dynamic_rnn(cell, x, length, initial_state=begin, dtype=tf.float32, time_major=time_major)
    results = [outputs, *nest.flatten(last)]
    loss = sum(tf.reduce_sum(tf.cos(result) * result) for result in results)
    return x, length, results, tf.gradients(loss, [x, *tf.trainable_variables()])


def run(make_cell, feeds, loop_is_kept=False, **kwargs):
    with tf.Graph().as_default() as graph, loops_as_they_are() if loop_is_kept else contextlib.nullcontext():
        tf.set_random_seed(3)
        x, length, results, gradients = build(make_cell, **kwargs)
        assert len(marks(graph)) == (0 if loop_is_kept else 1)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            fed = {x: feeds[0]} if length is None else {x: feeds[0], length: feeds[1]}
            return session.run([results, gradients], fed)


def check_equal(make_cell, feeds, **kwargs):
    ours, released = run(make_cell, feeds, **kwargs), run(make_cell, feeds, loop_is_kept=True, **kwargs)
    for one, other in zip(nest.flatten(ours), nest.flatten(released)):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6 * max(1, np.abs(other).max(initial=0)))


def random_feeds(batch=20, steps=6, width=9, seed=0):
    random = np.random.RandomState(seed)
    return random.randn(batch, steps, width).astype(np.float32), random.randint(0, steps + 1, batch)


@pytest.mark.parametrize("name", CELLS)
def test_cell_gives_results_and_gradients_of_the_loop(name):
    check_equal(CELLS[name], random_feeds())


def test_variables_may_be_resources():
    check_equal(CELLS["several"], random_feeds(), use_resource=True)


def test_rows_may_have_all_steps():
    check_equal(CELLS["gru"], random_feeds(), lengths=False)


def test_time_may_be_the_first_dimension():
    x, length = random_feeds()
    check_equal(CELLS["gru"], (np.swapaxes(x, 0, 1), length), time_major=True)


def test_initial_state_has_a_gradient():
    check_equal(CELLS["basic_lstm"], random_feeds(), state=True)


@pytest.mark.parametrize("batch, steps", [(0, 4), (1, 1), (200, 3), (65, 30)])
def test_batches_and_steps_of_any_number(batch, steps):
    check_equal(CELLS["gru"], random_feeds(batch, steps))


def test_no_steps():  # the loop refuses to stack nothing
    (outputs, last), gradients = run(CELLS["gru"], random_feeds(3, 0))
    assert outputs.shape == (3, 0, 12) and not last.any() and not any(gradient.any() for gradient in gradients)


def test_lengths_below_zero_and_beyond_the_steps():
    x, _ = random_feeds(4, 5)
    check_equal(CELLS["gru"], (x, [-3, 0, 5, 9]))


def test_nan_behind_the_end_of_a_row_goes_nowhere():
    x, length = random_feeds(6, 5)
    x[np.arange(5)[None, :] >= length[:, None]] = np.nan
    results, gradients = run(CELLS["gru"], (x, length))
    assert all(np.isfinite(value).all() for value in results + gradients)


def test_nan_within_a_row_stays_in_it():
    x, _ = random_feeds(3, 4)
    x[1, 2, 0] = np.nan
    (outputs, last), _ = run(CELLS["gru"], (x, [4, 4, 4]))
    assert np.isnan(outputs[1, 2:]).all() and np.isnan(last[1]).all()
    assert np.isfinite(outputs[[0, 2]]).all() and np.isfinite(outputs[1, :2]).all()


def test_both_directions():
    def build_both(x):
        cells = [tf.nn.rnn_cell.GRUCell(4), AttentionGRU(3)]
        outputs, states = tf.nn.bidirectional_dynamic_rnn(*cells, x, sequence_length=[2, 5, 4], dtype=tf.float32)
        return [*outputs, *states]

    values = []
    for context in (contextlib.nullcontext, loops_as_they_are):
        with tf.Graph().as_default() as graph, context():
            tf.set_random_seed(1)
            results = build_both(tf.constant(random_feeds(3, 5)[0]))
            assert len(marks(graph)) == (2 if context is contextlib.nullcontext else 0)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                values.append(session.run(results))
    for one, other in zip(*values):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def train(loop_is_kept, steps=100):
    with tf.Graph().as_default(), loops_as_they_are() if loop_is_kept else contextlib.nullcontext():
        tf.set_random_seed(5)
        x, length = random_feeds(32, 8)
        outputs, state = tf.nn.dynamic_rnn(AttentionGRU(10), tf.constant(x), length, dtype=tf.float32)
        logit = tf.layers.dense(state, 1)[:, 0] + tf.reduce_mean(outputs, [1, 2])
        labels = tf.constant((x.sum((1, 2)) > 0).astype(np.float32))
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logit))
        step = tf.train.AdamOptimizer(0.01).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return [session.run([loss, step])[0] for _ in range(steps)]


def test_losses_of_a_hundred_steps_are_those_of_the_loop():
    ours, released = train(False), train(True)
    assert ours[-1] < 0.5 * ours[0]
    np.testing.assert_allclose(ours, released, rtol=1e-6, atol=2e-6)


def test_results_do_not_depend_on_the_number_of_threads():
    values = []
    for threads in (1, 4):
        with tf.Graph().as_default():
            tf.set_random_seed(3)
            x, length, results, gradients = build(CELLS["attention"])
            config = tf.ConfigProto(intra_op_parallelism_threads=threads)
            with tf.Session(config=config) as session:
                session.run(tf.global_variables_initializer())
                feeds = random_feeds(300, 10)
                values.append(session.run([results, gradients], {x: feeds[0], length: feeds[1]}))
    for one, other in zip(nest.flatten(values[0]), nest.flatten(values[1])):
        np.testing.assert_array_equal(one, other)


def ops_run(session, fetches, feeds):
    options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    session.run(fetches, feeds, options=options, run_metadata=metadata)
    return [node.op for graph in metadata.partition_graphs for node in graph.node]


def test_a_session_runs_one_op_each_way():
    with tf.Graph().as_default():
        x, length, results, gradients = build(CELLS["gru"])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            feeds = random_feeds()
            ops = ops_run(session, [results, gradients], {x: feeds[0], length: feeds[1]})
    assert ops.count("RecurrentLoop") == 1 and ops.count("RecurrentLoopGrad") == 1
    assert not {"Exit", "TensorArrayV3", "NextIteration"} & set(ops)


def test_results_are_fetched_and_fed_by_name():
    with tf.Graph().as_default():
        x, length, results, _ = build(CELLS["gru"])
        twice = results[0] * 2
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            feeds = random_feeds()
            assert "RecurrentLoop" in ops_run(session, results[1].name, {x: feeds[0], length: feeds[1]})
            fetched = session.run(results[0].name, {x: feeds[0], length: feeds[1]})
            assert fetched.shape == (20, 6, 12)
            np.testing.assert_array_equal(session.run(twice, {results[0].name: fetched}), 2 * fetched)


def test_results_keep_their_names():
    def names():
        with tf.Graph().as_default():
            return [tensor.name for tensor in build(CELLS["several"], time_major=True)[2]]

    with loops_as_they_are():
        expected = names()
    assert names() == expected and expected[1].startswith("net/rnn/while/Exit")


def test_gradients_of_results_and_with_respect_to_them():
    def values():
        with tf.Graph().as_default():
            tf.set_random_seed(3)
            x = tf.constant(random_feeds()[0])
            first, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(5), x, dtype=tf.float32, time_major=True, scope="a")
            second, last = tf.nn.dynamic_rnn(
                tf.nn.rnn_cell.GRUCell(4), first, dtype=tf.float32, time_major=True, scope="b"
            )
            gradients = [
                *tf.gradients(last, [x, first, *tf.trainable_variables("b")]),
                *tf.gradients(
                    [second, state], [x, *tf.trainable_variables("a")], grad_ys=[tf.sin(second), tf.cos(state)]
                ),
                *tf.gradients(tf.reduce_sum(last), [first]),
                *tf.gradients(tf.reduce_sum(second), [x, first], stop_gradients=[first]),
            ]
            assert [gradient is None for gradient in gradients].count(True) == 1  # x behind the stop
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                return session.run([gradient for gradient in gradients if gradient is not None])

    with loops_as_they_are():
        expected = values()
    for one, other in zip(values(), expected):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-5)


def test_gradients_may_be_built_behind_a_run():
    with tf.Graph().as_default():
        outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(5), tf.constant(random_feeds()[0]), dtype=tf.float32)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            before = session.run(outputs)
            step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(outputs))
            session.run(step)
            assert session.run(outputs).sum() < before.sum()


def dropout():
    return tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), input_keep_prob=0.5, seed=3)


def assertion():
    class Checked(tf.nn.rnn_cell.GRUCell):
        def call(self, inputs, state):
            with tf.control_dependencies([tf.assert_less(tf.reduce_max(state), 100.0)]):
                return super().call(tf.identity(inputs), state)

    return Checked(4)


@pytest.mark.parametrize(
    "make_cell",
    [
        dropout,
        assertion,
        lambda: tf.contrib.rnn.LayerNormBasicLSTMCell(4),
        lambda: tf.nn.rnn_cell.GRUCell(4, activation=tf.nn.elu),
        lambda: tf.nn.rnn_cell.LSTMCell(4, cell_clip=1.0),
        lambda: tf.nn.rnn_cell.GRUCell(400),
    ],
    ids=["dropout", "assertion", "layer_norm", "elu", "clip", "large"],
)
def test_other_cells_stay_loops(make_cell):
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        x, length, results, gradients = build(make_cell)
        assert not marks(graph)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            feeds = random_feeds(4, 3)
            session.run([results, gradients], {x: feeds[0], length: feeds[1]})


def test_a_loop_of_double_numbers_stays_a_loop():
    with tf.Graph().as_default() as graph:
        tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), tf.zeros([2, 3, 4], tf.float64), dtype=tf.float64)
        assert not marks(graph)


def test_loops_within_loops_and_conditions_stay_loops():
    with tf.Graph().as_default() as graph:
        x = tf.constant(random_feeds(2, 3)[0])

        def inner(total):
            return total + tf.reduce_sum(tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0])

        cell = tf.nn.rnn_cell.GRUCell(3)
        looped = tf.while_loop(lambda total: total < 1e9, inner, [tf.constant(0.0)], maximum_iterations=2)
        chosen = tf.cond(looped > 0, lambda: inner(looped), lambda: looped)
        assert not marks(graph)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert np.isfinite(session.run(chosen))


def test_second_derivatives_are_refused_as_those_of_loops_are():
    with tf.Graph().as_default():
        x, _, _, gradients = build(CELLS["gru"])
        with pytest.raises((LookupError, TypeError)):
            tf.gradients(gradients[0], x)
