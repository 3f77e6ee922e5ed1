"""SmartStage: a wider stage, the same training."""

import numpy as np
import pytest
import tensorflow as tf

from tensorflow.python.framework import function


def smart_config(**stage):
    config = tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
    options = config.graph_options.optimizer_options
    options.do_smart_stage = True
    if stage:
        options.smart_stage_options.CopyFrom(tf.SmartStageOptions(**stage))
    return config


def plain_config():
    return tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)


def lines(count=400):
    random = np.random.RandomState(1)
    rows = random.randint(0, 50, size=[count, 3])
    return [",".join(map(str, row)) + f",{sum(row) % 2}" for row in rows]


def batches():
    data = tf.data.Dataset.from_tensor_slices(lines()).batch(16, drop_remainder=True)
    return tf.data.make_one_shot_iterator(data).get_next()


def model(batch):
    """Loss and train op of a small click model; parsing, hashing and uniques depend on the input alone."""
    columns = tf.decode_csv(batch, [["0"]] * 3 + [[0.0]])
    label = tf.reshape(columns[3], [-1, 1])
    parts = []
    for number, column in enumerate(columns[:3]):
        ids = tf.strings.to_hash_bucket_fast(column, 20)
        table = tf.get_variable(f"table{number}", [20, 4])
        unique, index = tf.unique(ids)
        parts.append(tf.gather(tf.gather(table, unique), index))
    keys = tf.constant([str(i) for i in range(50)])
    static = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, tf.range(50.0)), -1.0)
    parts.append(tf.reshape(static.lookup(columns[0]) / 50, [-1, 1]))
    hidden = tf.nn.dropout(tf.concat(parts, 1), rate=0.1, seed=3)
    with tf.control_dependencies([tf.assert_less(label, 2.0)]):
        logits = tf.layers.dense(hidden, 1)
    loss = tf.losses.sigmoid_cross_entropy(label, logits)
    train = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_or_create_global_step())
    return loss, train


def train(config, staged, hooks=(), **stage):
    """Losses of all steps, the variables at the end, and the number of tensors in a record."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(5)
        batch = batches()
        loss, train_op = model(tf.staged(batch, **stage) if staged else batch)
        variables = tf.global_variables()
        losses, values = [], None
        hooks = [*hooks, tf.make_prefetch_hook()]
        with tf.train.MonitoredTrainingSession(config=config, hooks=hooks) as session:
            while not session.should_stop():
                got = session.run([loss, train_op, variables])
                losses.append(got[0])
                values = got[2]
        runners = graph.get_collection("prefetch")
        return losses, values, len(runners[0].take_op.outputs) if runners else 0


@pytest.fixture(scope="module")
def unstaged():
    return train(plain_config(), staged=False)


@pytest.mark.parametrize("staged", [True, False])
def test_training_is_the_same_bit_by_bit(unstaged, staged):
    losses, values, outputs = train(
        smart_config(capacity=4, num_threads=1), staged, **({"capacity": 4} if staged else {})
    )
    assert len(losses) == len(unstaged[0]) == 25
    np.testing.assert_array_equal(losses, unstaged[0])
    for value, expected in zip(values, unstaged[1]):
        np.testing.assert_array_equal(value, expected)
    # Uniques, their indices, the label and what gradients need.
    assert outputs > 7


def test_a_stage_that_is_not_widened_trains_the_same_too(unstaged):
    losses, _, outputs = train(plain_config(), True, capacity=4)
    np.testing.assert_array_equal(losses, unstaged[0])
    assert outputs == 1


def types_of_put(graph):
    """Types of the operations in front of the buffer."""
    (runner,) = graph.get_collection("prefetch")
    found, stack = set(), [runner.put_ops[0]]
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            stack += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
    return {op.type for op in found}


def test_what_depends_on_variables_or_random_numbers_stays(graph):
    loss, _ = model(tf.staged(batches()))
    tf.Session(config=smart_config()).close()
    types = types_of_put(graph)
    assert {"DecodeCSV", "StringToHashBucketFast", "Unique", "LookupTableFindV2", "IteratorGetNext"} <= types
    assert not types & {"VariableV2", "VarHandleOp", "GatherV2", "RandomUniform", "MatMul", "Placeholder"}


def test_placeholders_and_mutable_tables_stay(graph, start):
    x = tf.staged(tf.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next())
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.int64, 0)
    scale = tf.placeholder_with_default(tf.constant(2, tf.int64), [])
    y = table.lookup(x * 3) + (x + 1) * scale
    insert = table.insert(tf.constant(0, tf.int64), tf.constant(100, tf.int64))
    with tf.Session(config=smart_config()) as session:
        start(session)
        session.run(insert)
        assert session.run(y) == 100 + 2
        assert session.run(y, {scale: 5}) == 10
        assert session.run(y) == 6
    assert not types_of_put(graph) & {"LookupTableFindV2", "PlaceholderWithDefault"}


def test_fetching_what_was_staged_gives_the_value_of_the_step(start):
    x = tf.staged(tf.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next())
    square = x * x
    y = square + tf.Variable(0, dtype=tf.int64)
    with tf.Session(config=smart_config()) as session:
        session.run(tf.global_variables_initializer())
        start(session)
        for i in range(5):
            assert session.run([x, square, y]) == [i, i * i, i * i]
        with pytest.raises(ValueError, match="may not be fed"):
            session.run(y, {square: 3})


def test_a_marked_tensor_stays_and_can_be_fed(graph, start):
    x = tf.staged(tf.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next())
    kept = tf.mod(x, 50)
    tf.train.mark_target_node([kept])
    y = (kept + 1) * 2 + tf.abs(x + 1) + tf.Variable(0, dtype=tf.int64)
    with tf.Session(config=smart_config()) as session:
        session.run(tf.global_variables_initializer())
        start(session)
        assert session.run(y) == 3
        assert session.run(y, {kept: 5}) == 14
    with pytest.raises(TypeError, match="nodes"):
        tf.train.mark_target_node(["x"])


def test_target_nodes_of_the_environment(graph, monkeypatch):
    x = tf.staged(tf.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next())
    y = tf.square(tf.negative(x, name="kept") + 1) + tf.abs(x, name="other") + tf.Variable(0, dtype=tf.int64)
    monkeypatch.setenv("TARGET_NODES_NAME", "kept;nowhere")
    tf.Session(config=smart_config()).close()
    assert types_of_put(graph) >= {"Abs"} and not types_of_put(graph) & {"Neg", "Square"}
    del y


def test_control_flow_stays(graph, start):
    x = tf.staged(tf.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next())
    power = tf.while_loop(lambda i, p: i < 3, lambda i, p: (i + 1, p * (x + 1)), [0, tf.constant(1, tf.int64)])[1]
    y = tf.cond(x > 1, lambda: power, lambda: -power) + tf.Variable(0, dtype=tf.int64)
    with tf.Session(config=smart_config()) as session:
        session.run(tf.global_variables_initializer())
        start(session)
        assert [session.run(y) for _ in range(4)] == [-1, -8, 27, 64]


def test_join_is_widened_for_each_input(graph, start):
    def numbers(begin, end):
        return tf.data.make_one_shot_iterator(tf.data.Dataset.range(begin, end)).get_next()

    x = tf.prefetch_join([numbers(0, 10), numbers(10, 30)], capacity=2)
    y = tf.square(x) + tf.Variable(0, dtype=tf.int64)
    values = []
    with tf.Session(config=smart_config()) as session:
        session.run(tf.global_variables_initializer())
        start(session)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                values.append(session.run(y))
    assert sorted(values) == [i * i for i in range(30)]


def test_control_edges_of_staged_operations(graph, start):
    x = tf.staged(tf.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next())
    count = tf.Variable(0, dtype=tf.int64, use_resource=True)
    with tf.control_dependencies([tf.assert_less(x, tf.constant(3, tf.int64))]):
        y = tf.assign_add(count, x * 2)
    with tf.Session(config=smart_config()) as session:
        session.run(tf.global_variables_initializer())
        start(session)
        assert [session.run(y) for _ in range(3)] == [0, 2, 6]
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(y)


def test_functions_are_staged(graph, start):
    @tf.function
    def double(x):
        return x * 2

    @function.Defun(tf.int64)
    def triple(x):
        return x * 3

    x = tf.staged(tf.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next())
    y = triple(double(x)) + tf.Variable(0, dtype=tf.int64)
    with tf.Session(config=smart_config()) as session:
        session.run(tf.global_variables_initializer())
        start(session)
        assert [session.run(y) for _ in range(3)] == [0, 6, 12]
    assert "PartitionedCall" in types_of_put(graph)


def test_a_second_session_finds_the_graph_as_it_is(start):
    x = tf.staged(tf.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next())
    y = x * x + tf.Variable(0, dtype=tf.int64)
    for _ in range(2):
        with tf.Session(config=smart_config()) as session:
            session.run(tf.global_variables_initializer())
            start(session)
            assert [session.run(y) for _ in range(3)] == [0, 1, 4]


def test_what_waits_for_an_iterator_waits_for_the_stage(start):
    x = tf.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next()
    with tf.control_dependencies([x]):
        one = tf.Variable(1, dtype=tf.int64).read_value()
    y = x + one
    with tf.Session(config=smart_config(capacity=2)) as session:
        session.run(tf.global_variables_initializer())
        start(session)
        assert [session.run(y) for _ in range(4)] == [1, 2, 3, 4]


def test_the_iterator_that_was_staged_is_not_fetched_but_an_identity_of_it(start):
    x = tf.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next()
    y, same = x * x + tf.Variable(0, dtype=tf.int64), tf.identity(x)
    with tf.Session(config=smart_config(capacity=2)) as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(ValueError, match="IteratorGetNext is not fetchable: SmartStage .* tf.identity"):
            session.run([x, y])
        start(session)
        assert [session.run([same, y]) for _ in range(3)] == [[0, 0], [1, 1], [2, 4]]


def test_a_graph_without_a_stage_says_so(caplog):
    tf.get_logger().propagate = True
    with caplog.at_level("WARNING", "tensorflow"):
        with tf.Session(config=smart_config()) as session:
            assert session.run(tf.constant(3)) == 3
    assert "do_smart_stage has no effect" in caplog.text


def test_options_are_checked():
    with pytest.raises(ValueError, match="capacity must be at least 1, got 0"):
        tf.SmartStageOptions(capacity=0)
    with pytest.raises(ValueError, match="closed_exception_types"):
        tf.SmartStageOptions(closed_exception_types=(StopIteration,))
    with pytest.raises(TypeError, match="graph"):
        tf.SmartStageOptions(graph=3)
    options = tf.SmartStageOptions(capacity=3, ignored_exception_types=(tf.errors.DataLossError,), name="n")
    assert (options.capacity, list(options.ignored_exception_types), options.name) == (3, [15], "n")


def test_a_session_without_the_hook_warns_of_the_stage_that_was_made(caplog):
    total = tf.reduce_sum(tf.data.make_one_shot_iterator(tf.data.Dataset.range(8).batch(4)).get_next())
    tf.train.get_or_create_global_step()
    with caplog.at_level("WARNING", "tensorflow"):
        with tf.train.MonitoredTrainingSession(config=smart_config(timeout_millis=200)) as session:
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(total)
    assert len([r for r in caplog.records if "has no threads in this session" in r.getMessage()]) == 1
