"""do_async_embedding: lookups run in a stage of their own, with rows that are a few steps old."""

import time

import numpy as np
import pytest
import tensorflow as tf

_KEYS = 20


def async_config(**options):
    config = tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
    optimizer = config.graph_options.optimizer_options
    optimizer.do_async_embedding = True
    for name, value in options.items():
        setattr(optimizer.async_embedding_options, name, value)
    return config


def plain_config():
    return tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)


def staged_ids(count=400, size=16):
    ids = np.random.RandomState(1).randint(0, _KEYS, count)
    data = tf.data.Dataset.from_tensor_slices(ids).batch(size)
    return tf.staged(tf.data.make_one_shot_iterator(data).get_next(), capacity=2)


def run(config, make, pause=0.0):
    """Builds `make()`, (fetches, what to run at the end), and runs it to the end of the input, with a pause of some seconds behind each
    step."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        fetches, at_end = make()
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            for runner in graph.get_collection("prefetch"):
                runner.create_threads(session, start=True)
            values = []
            with pytest.raises(tf.errors.OutOfRangeError):
                while True:
                    values.append(session.run(fetches))
                    time.sleep(pause)
            return values, session.run(at_end), graph


def types_in_front(graph):
    """Types of the operations in front of the last buffer."""
    found, stack = set(), [graph.get_collection("prefetch")[-1].put_ops[0]]
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            stack += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
    return {op.type for op in found}


def sparse(ids):
    return tf.SparseTensor(
        tf.stack([tf.range(tf.size(ids, out_type=tf.int64)), tf.zeros_like(ids)], 1),
        ids,
        tf.stack([tf.size(ids, out_type=tf.int64), 1]),
    )


def reference(ids):
    with tf.variable_scope("", use_resource=False):
        return tf.nn.embedding_lookup(tf.get_variable("table", [_KEYS, 4]), ids)


def resource(ids):
    with tf.variable_scope("", use_resource=True):
        return tf.nn.embedding_lookup(tf.get_variable("table", [_KEYS, 4]), ids)


def partitioned(ids):
    table = tf.get_variable("table", [_KEYS, 4], partitioner=tf.fixed_size_partitioner(3), use_resource=True)
    return tf.nn.safe_embedding_lookup_sparse(table, sparse(ids), combiner="mean")


def keys(ids):
    return tf.nn.embedding_lookup(tf.get_embedding_variable("table", 4), ids)


def keys_in_parts(ids):
    table = tf.get_embedding_variable("table", 4, partitioner=tf.fixed_size_partitioner(2))
    return tf.nn.embedding_lookup_sparse(table, sparse(ids), None, combiner="sum")


def grouped(ids):
    tables = [tf.get_embedding_variable("table", 4), tf.get_variable("other", [_KEYS, 4])]
    return tf.concat(tf.nn.group_embedding_lookup_sparse(tables, [sparse(ids)] * 2, ["sum", "mean"]), 1)


def fused(ids):
    return tf.nn.fused_embedding_lookup_sparse(tf.get_variable("table", [_KEYS, 4]), sparse(ids), combiner="mean")


_LOOKUPS = {
    reference: "GatherV2",
    resource: "ResourceGather",
    partitioned: "ResourceGather",
    keys: "KvResourceGather",
    keys_in_parts: "KvResourceGather",
    grouped: "GroupEmbeddingLookup",
    fused: "GroupEmbeddingLookup",
}


@pytest.mark.parametrize("lookup", _LOOKUPS, ids=lambda lookup: lookup.__name__)
def test_lookups_of_all_kinds_run_in_the_stage(lookup):
    def make():
        ids = staged_ids()
        return [ids, lookup(ids) * tf.Variable(2.0)], tf.no_op()

    values, _, graph = run(async_config(capacity=3), make)
    expected, _, plain = run(plain_config(), make)
    assert len(values) == len(expected) == 25
    for mine, theirs in zip(values, expected):
        for got, wanted in zip(mine, theirs):
            np.testing.assert_array_equal(got, wanted)
    assert _LOOKUPS[lookup] in types_in_front(graph) - types_in_front(plain)
    assert "Mul" not in types_in_front(graph)


@pytest.mark.parametrize("capacity,threads", [(1, 1), (4, 1), (3, 2)])
@pytest.mark.parametrize("embedding", [True, False])
def test_rows_are_late_by_no_more_than_the_records_on_their_way(capacity, threads, embedding):
    steps = 60

    def make():
        ids = tf.staged(
            tf.data.make_one_shot_iterator(tf.data.Dataset.range(steps).map(lambda i: [i * 0 + 7])).get_next()
        )
        if embedding:
            table = tf.get_embedding_variable("table", 2, initializer=tf.zeros_initializer())
        else:
            table = tf.get_variable("table", [_KEYS, 2], initializer=tf.zeros_initializer())
        row = tf.nn.embedding_lookup(table, ids)
        step = tf.train.get_or_create_global_step()
        train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(row), step)
        return [row * tf.Variable(1.0), train], tf.nn.embedding_lookup(table, tf.constant([7], tf.int64))

    # Steps as short as these would otherwise wait for every record, and none be late.
    values, last, _ = run(async_config(capacity=capacity, threads_num=threads), make, pause=0.003)
    late = [number + value[0][0, 0] for number, value in enumerate(values)]
    assert len(values) == steps and last.tolist() == [[-steps, -steps]]
    assert min(late) >= 0 and max(late) > 0
    if threads == 1:
        # With more, one may be overtaken.
        assert max(late) <= capacity + 1


def planted(lookup):
    """A click model whose truth is a weight for each id; loss and train op."""
    ids = staged_ids(24000, 32)
    truth = tf.constant(np.random.RandomState(2).choice([-2.0, 2.0], _KEYS).astype(np.float32))
    labels = tf.cast(tf.gather(truth, ids) > 0, tf.float32)
    logits = tf.layers.dense(lookup(ids), 1)[:, 0]
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    train = tf.train.AdamOptimizer(0.05).minimize(loss, tf.train.get_or_create_global_step())
    return [loss, train], tf.train.get_global_step()


@pytest.mark.parametrize("lookup", [keys, resource, reference, grouped], ids=lambda lookup: lookup.__name__)
def test_training_converges_as_without(lookup):
    late, steps, _ = run(async_config(capacity=4), lambda: planted(lookup))
    plain, plain_steps, _ = run(plain_config(), lambda: planted(lookup))
    assert steps == plain_steps == 750
    late, plain = (np.mean([loss for loss, _ in values[-50:]]) for values in (late, plain))
    assert plain < 0.05 and abs(late - plain) < 0.01


def counted():
    ids = staged_ids()
    option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(filter_freq=15))
    table = tf.get_embedding_variable("table", 4, ev_option=option, steps_to_live=100)
    loss = tf.reduce_sum(tf.nn.embedding_lookup_sparse(table, sparse(ids), None, combiner="sum"))
    train = tf.train.AdagradOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
    all_keys = tf.range(_KEYS, dtype=tf.int64)
    return train, [table.get_frequency(all_keys), table.get_version(all_keys), tf.nn.embedding_lookup(table, all_keys)]


def test_counts_versions_and_admission_are_those_of_the_steps():
    _, late, graph = run(async_config(capacity=4), counted)
    _, plain, _ = run(plain_config(), counted)
    assert "KvResourceGather" in types_in_front(graph)
    for mine, theirs in zip(late, plain):
        # The gradient does not depend on the rows, so they are the same too.
        np.testing.assert_array_equal(mine, theirs)
    assert 0 < np.sum(late[0] >= 15) < _KEYS


def test_lookups_that_count_stay_in_the_step(monkeypatch, caplog):
    monkeypatch.setenv("TF_EMBEDDING_FBJ_OPT", "true")
    tf.get_logger().propagate = True
    _, late, graph = run(async_config(capacity=4), counted)
    _, plain, _ = run(plain_config(), counted)
    assert not types_in_front(graph) & {"KvResourceGather", "KvResourceGatherAndCount"}
    for mine, theirs in zip(late, plain):
        np.testing.assert_array_equal(mine, theirs)
    assert "do_async_embedding has no effect: no lookup" in caplog.text


def test_what_reads_more_than_rows_stays():
    def make():
        ids = staged_ids()
        table = tf.get_variable("table", [_KEYS, 4], use_resource=True)
        scaled = tf.nn.embedding_lookup(table, ids) * tf.get_variable("scale", [], use_resource=True)
        again = tf.nn.embedding_lookup(table, tf.cast(tf.reduce_sum(scaled, 1), tf.int64) * 0)
        return tf.reduce_sum(scaled) + tf.reduce_sum(again), tf.no_op()

    _, _, graph = run(async_config(), make)
    types = types_in_front(graph)
    assert "ResourceGather" in types and not types & {"ReadVariableOp", "Mul", "Sum"}


def test_without_a_stage_or_a_lookup_it_says_so(caplog):
    tf.get_logger().propagate = True
    ids = tf.data.make_one_shot_iterator(tf.data.Dataset.range(5).batch(2)).get_next()
    keys(ids)
    tf.Session(config=async_config()).close()
    assert "do_async_embedding has no effect: the graph has no tf.staged." in caplog.text
    staged_ids()
    tf.Session(config=async_config()).close()
    assert "do_async_embedding has no effect: no lookup" in caplog.text


@pytest.mark.parametrize("option", ["capacity", "threads_num", "stage_subgraph_thread_pool_id"])
def test_negative_options_are_refused(option):
    with pytest.raises(ValueError, match=f"async_embedding_options.{option} must .*got -1"):
        tf.Session(config=async_config(**{option: -1}))


def test_an_error_of_the_input_reaches_the_step(start):
    ids = tf.data.make_one_shot_iterator(tf.data.Dataset.range(100).batch(2)).get_next()
    with tf.control_dependencies([tf.assert_less(ids, tf.constant(6, tf.int64), message="too large")]):
        ids = tf.staged(tf.identity(ids))
    rows = keys(ids) + tf.Variable(0.0)
    with tf.Session(config=async_config(capacity=2)) as session:
        session.run(tf.global_variables_initializer())
        start(session)
        with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
            for _ in range(5):
                session.run(rows)


def test_an_error_of_a_lookup_reaches_the_step(start):
    rows = resource(tf.staged(tf.data.make_one_shot_iterator(tf.data.Dataset.range(15, 100).batch(2)).get_next()))
    rows = rows + tf.Variable(0.0)
    with tf.Session(config=async_config()) as session:
        session.run(tf.global_variables_initializer())
        start(session)
        with pytest.raises(tf.errors.InvalidArgumentError, match="async_embedding.*indices"):
            for _ in range(5):
                session.run(rows)


def test_the_session_can_be_closed_at_any_time(start):
    fetches, _ = planted(keys)
    with tf.Session(config=async_config(capacity=8, threads_num=3)) as session:
        session.run(tf.global_variables_initializer())
        start(session)
        for _ in range(3):
            session.run(fetches)


def test_a_monitored_session_with_a_thread_pool_trains_to_the_end(tmp_path):
    config = async_config(capacity=2, use_stage_subgraph_thread_pool=True, stage_subgraph_thread_pool_id=1)
    for _ in range(2):
        config.session_stage_subgraph_thread_pool.add(inter_op_threads_num=1)
    # SmartStage is off beside it.
    config.graph_options.optimizer_options.do_smart_stage = True
    fetches, step = planted(keys)
    count = 0
    with tf.train.MonitoredTrainingSession(
        config=config, checkpoint_dir=str(tmp_path), hooks=[tf.make_prefetch_hook()]
    ) as session:
        while not session.should_stop():
            session.run(fetches)
            count += 1
    assert count == 750 and tf.train.load_variable(str(tmp_path), step.op.name) == 750


def test_micro_batches_come_before():
    def make():
        ids = tf.data.make_one_shot_iterator(tf.data.Dataset.range(_KEYS).batch(2)).get_next()
        ids = tf.staged(ids)
        return [ids, keys(ids) + tf.Variable(0.0)], tf.no_op()

    config = async_config()
    config.graph_options.optimizer_options.micro_batch_num = 3
    values, _, _ = run(config, make)
    assert [len(ids) for ids, _ in values] == [6, 6, 6, 2]
    assert [len(rows) for _, rows in values] == [6, 6, 6, 2]


def test_a_meta_graph_carries_the_stage(tmp_path):
    fetches, _ = planted(keys)
    tf.add_to_collection("fetches", fetches[0])
    tf.Session(config=async_config(capacity=2)).close()
    meta = tf.train.export_meta_graph(str(tmp_path / "graph.meta"))
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for runner in graph.get_collection("prefetch"):
                runner.create_threads(session, start=True)
            assert session.run(tf.get_collection("fetches")[0]) > 0
