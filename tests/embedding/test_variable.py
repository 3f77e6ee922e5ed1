"""The EmbeddingVariable object: what is counted, admitted and inserted, any key, graphs and sessions of every kind."""

import os
import pathlib
import socket
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = pathlib.Path(__file__).with_name("cluster_program.py")


@pytest.fixture
def tf():
    """TensorFlow with an empty default graph."""
    import tensorflow

    with tensorflow.Graph().as_default():
        yield tensorflow


def ones(tf):
    return tf.ones_initializer()


def ids(tf, values, dtype=None):
    return tf.constant(values, dtype or tf.int64)


def option(tf, **kwargs):
    return tf.EmbeddingVariableOption(**kwargs)


def trained(tf, variable, keys, optimizer=None, step=None):
    """An op that trains `keys` with a gradient of 2 for each element of each occurrence."""
    loss = tf.reduce_sum(tf.nn.embedding_lookup(variable, keys) * 2.0)
    optimizer = optimizer or tf.train.AdagradOptimizer(0.1)
    return optimizer.minimize(loss, global_step=step)


# Counting and admission.


OPTIMIZERS = {
    "sgd": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(0.1),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_key_is_admitted_by_its_third_occurrence(tf, name):
    opt = option(
        tf,
        filter_option=tf.CounterFilter(3),
        init_option=tf.InitializerOption(default_value_no_permission=0.25),
    )
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf), ev_option=opt)
    plain = tf.get_embedding_variable("plain", 3, initializer=ones(tf))
    rows, expected = (tf.nn.embedding_lookup(v, ids(tf, [7])) for v in (variable, plain))
    train = trained(tf, variable, ids(tf, [7]), OPTIMIZERS[name](tf))
    once = trained(tf, plain, ids(tf, [7]), OPTIMIZERS[name](tf))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            np.testing.assert_array_equal(session.run(rows), np.full([1, 3], 0.25))
            session.run(train)
        session.run(once)
        np.testing.assert_allclose(session.run(rows), session.run(expected))


def test_frequencies_and_versions_of_three_steps(tf):
    opt = option(tf, filter_option=tf.CounterFilter(3), evict_option=tf.GlobalStepEvict(2))
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf), ev_option=opt)
    keys = tf.placeholder(tf.int64, [None])
    train = trained(tf, variable, keys, step=tf.train.get_or_create_global_step())
    all_keys = tf.range(1, 8, dtype=tf.int64)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for batch in ([1, 2, 3], [1, 3, 5], [1, 5, 7]):
            session.run(train, {keys: batch})
        assert session.run(variable.get_dynamic_shape()).tolist() == [5, 3]
        assert session.run(variable.get_frequency(all_keys)).tolist() == [3, 1, 2, 0, 2, 0, 1]
        assert session.run(variable.get_version(all_keys)).tolist() == [2, 0, 1, -1, 2, -1, 2]


def test_repeated_keys_are_counted_each_time(tf, monkeypatch):
    monkeypatch.setenv("TF_RECORD_FREQ", "1")
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf))
    train = trained(tf, variable, ids(tf, [1, 1, 1, 2, 2, 3]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        session.run(train)
        assert session.run(variable.get_frequency(ids(tf, [1, 2, 3]))).tolist() == [6, 4, 2]


def sparse(tf, values):
    return tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0]], ids(tf, values), [3, 3])


@pytest.mark.parametrize("parts", [None, 2])
def test_occurrences_of_two_lookups_add_up(tf, monkeypatch, parts):
    monkeypatch.setenv("TF_RECORD_FREQ", "1")
    partitioner = None if parts is None else tf.fixed_size_partitioner(parts)
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf), partitioner=partitioner)
    first = tf.nn.embedding_lookup_sparse(variable, sparse(tf, [0, 0, 0, 1, 1, 2]), None, combiner="sum")
    second = tf.nn.embedding_lookup(variable, ids(tf, [3, 3, 3, 4, 4, 1]))
    # Not of the loss, so not counted, and nothing has to be fed for it.
    tf.nn.embedding_lookup(variable, tf.placeholder(tf.int64, [None]))
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(first) + tf.reduce_sum(second))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        several = variable if parts else [variable]
        found = sum(part.get_frequency(tf.range(5, dtype=tf.int64)) for part in several)
        assert session.run(found).tolist() == [3, 3, 1, 3, 2]


def test_versions_are_the_step_before_its_increment(tf, monkeypatch):
    monkeypatch.setenv("TF_RECORD_VERSION", "1")
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf))
    train = trained(tf, variable, ids(tf, [1, 2]), step=tf.train.get_or_create_global_step())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        session.run(train)
        assert session.run(variable.get_version(ids(tf, [1, 2, 9]))).tolist() == [1, 1, -1]


def test_the_deprecated_steps_to_live_records_versions(tf):
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf), steps_to_live=5)
    train = trained(tf, variable, ids(tf, [4]), step=tf.train.get_or_create_global_step())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        session.run(train)
        assert session.run(variable.get_version(ids(tf, [4]))).tolist() == [1]
    assert variable.steps_to_live == 5


def test_adagrad_updates_rows_and_accumulators(tf):
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf))
    optimizer = tf.train.AdagradOptimizer(0.1)
    train = trained(tf, variable, ids(tf, [1]), optimizer)
    accumulator = optimizer.get_slot(variable, "accumulator")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for row, accumulated in ((0.90122706, 4.1), (0.8309542, 8.1)):
            session.run(train)
            np.testing.assert_allclose(session.run(variable.sparse_read([1])), np.full([1, 3], row), rtol=1e-6)
            np.testing.assert_allclose(session.run(accumulator.export()[1]), np.full([1, 3], accumulated), rtol=1e-6)


def test_a_bloom_filter_admits_after_enough_occurrences(tf):
    opt = option(tf, filter_option=tf.CBFFilter(3, max_element_size=2**20, false_positive_probability=0.01))
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf), ev_option=opt)
    train = trained(tf, variable, ids(tf, [1, 1, 1, 2, 2, 3]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(variable.export()[0]).tolist() == [1]
        session.run(train)
        assert sorted(session.run(variable.export()[0]).tolist()) == [1, 2]


def test_lookups_alone_insert_nothing(tf):
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for batch in ([1, 2], [3], [1, 4]):
            np.testing.assert_array_equal(
                session.run(tf.nn.embedding_lookup(variable, ids(tf, batch))), np.ones([len(batch), 3])
            )
        assert session.run(variable.total_count()).tolist() == [0, 3]


# Default rows and keys.


def test_seeded_default_rows_are_those_of_an_ordinary_variable(tf):
    initializer = tf.random_normal_initializer(seed=7)
    opt = option(tf, init_option=tf.InitializerOption(initializer=initializer, default_value_dim=11))
    variable = tf.get_embedding_variable("v", 5, ev_option=opt)
    ordinary = tf.get_variable("o", [11, 5], initializer=tf.random_normal_initializer(seed=7))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        rows, expected = session.run([tf.nn.embedding_lookup(variable, tf.range(-11, 33, dtype=tf.int64)), ordinary])
    np.testing.assert_array_equal(rows, np.tile(expected, [4, 1]))


def test_a_tensor_of_one_row_is_the_default_of_all_keys(tf):
    opt = option(tf, init_option=tf.InitializerOption(initializer=tf.constant([1.0, 2.0, 3.0])))
    variable = tf.get_embedding_variable("v", 3, ev_option=opt)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        rows = session.run(variable.sparse_read([0, -1, 2**40]))
    np.testing.assert_array_equal(rows, [[1, 2, 3]] * 3)


def test_the_option_s_initializer_goes_first(tf):
    opt = option(tf, init_option=tf.InitializerOption(initializer=tf.constant_initializer(5.0)))
    first = tf.get_embedding_variable("a", 2, initializer=ones(tf), ev_option=opt)
    with tf.variable_scope("s", initializer=tf.constant_initializer(6.0)):
        second = tf.get_embedding_variable("b", 2)
    third = tf.get_embedding_variable("c", 2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        rows = session.run([v.sparse_read([3]) for v in (first, second, third)])
    assert rows[0].tolist() == [[5, 5]] and rows[1].tolist() == [[6, 6]]
    assert 0 < np.abs(rows[2]).max() < 3


@pytest.mark.parametrize(
    "dtype, keys",
    [
        ("int64", [-(2**63), 2**63 - 1, -1, -2, -111, -222, 0, -1000, -1001, 2**31, 10**18]),
        ("int32", [-(2**31), 2**31 - 1, -1, -2, -111, -222, 0, 1000]),
    ],
)
@pytest.mark.parametrize("parts", [None, 3])
def test_every_key_is_legal(tf, dtype, keys, parts):
    partitioner = None if parts is None else tf.fixed_size_partitioner(parts)
    opt = option(tf, filter_option=tf.CounterFilter(2))
    variable = tf.get_embedding_variable(
        "v", 2, key_dtype=dtype, initializer=ones(tf), partitioner=partitioner, ev_option=opt
    )
    lookup = tf.nn.embedding_lookup(variable, ids(tf, keys, tf.as_dtype(dtype)))
    weights = np.arange(1, len(keys) + 1, dtype=np.float32)[:, None]
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(lookup * weights))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(train)
        np.testing.assert_allclose(session.run(lookup), np.tile(1 - 0.5 * weights, [1, 2]))
        exported = [session.run(part.export()) for part in (variable if parts else [variable])]
        assert sorted(k for part in exported for k in part[0].tolist()) == sorted(keys)
        if parts:
            for number, part in enumerate(exported):
                assert all(k % 1000 % parts == number for k in part[0].tolist())


def test_the_export_has_rows_versions_and_frequencies(tf, monkeypatch):
    monkeypatch.setenv("TF_RECORD_FREQ", "1")
    monkeypatch.setenv("TF_RECORD_VERSION", "1")
    variable = tf.get_embedding_variable("v", 2, initializer=ones(tf))
    train = trained(
        tf, variable, ids(tf, [5, 6, 6]), tf.train.GradientDescentOptimizer(1.0), tf.train.get_or_create_global_step()
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        keys, rows, versions, freqs = session.run(variable.export())
    order = np.argsort(keys)
    assert keys[order].tolist() == [5, 6] and rows[order].tolist() == [[-1, -1], [-3, -3]]
    assert versions.tolist() == [0, 0] and freqs[order].tolist() == [1, 2]


# Names, scopes, getters.


def test_names_and_collections(tf):
    with tf.variable_scope("s"):
        variable = tf.get_embedding_variable("v", 3, partitioner=tf.fixed_size_partitioner(2))
        fixed = tf.get_embedding_variable("fixed", 3, trainable=False)
    optimizer = tf.train.AdamOptimizer()
    trained(tf, variable, ids(tf, [1]), optimizer)
    names = {v.name for v in tf.global_variables()}
    assert {"s/v/part_0:0", "s/v/part_1:0", "s/v/part_0/Adam:0", "s/v/part_1/Adam_1:0", "s/fixed:0"} <= names
    assert fixed not in tf.trainable_variables() and list(variable)[0] in tf.trainable_variables()
    embeddings = tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)
    assert {*variable, fixed} <= set(embeddings)
    assert (fixed.dtype, fixed.shape.as_list(), fixed.invalid_key) == (tf.float32, [3], 2**63 - 1)


def test_a_name_used_again_gives_the_same_variable(tf):
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        first = tf.get_embedding_variable("v", 3, partitioner=tf.fixed_size_partitioner(2))
        again = tf.get_embedding_variable("v", 3, partitioner=tf.fixed_size_partitioner(2))
        assert list(first) == list(again)
        one = tf.get_embedding_variable("w", 3)
        assert one is tf.get_embedding_variable("w", 3)
    with pytest.raises(ValueError, match="s/w"), tf.variable_scope("s", reuse=False):
        tf.get_embedding_variable("w", 3)
    with pytest.raises(ValueError, match="new"), tf.variable_scope("s", reuse=True):
        tf.get_embedding_variable("new", 3)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda tf: {"embedding_dim": 4}, "shape"),
        (lambda tf: {"key_dtype": tf.int32}, "int32"),
        (lambda tf: {"ev_option": tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(3))}, "filter_freq=3"),
        (lambda tf: {"steps_to_live": 3}, "steps_to_live=3"),
        (
            lambda tf: {"ev_option": tf.EmbeddingVariableOption(init_option=tf.InitializerOption(default_value_dim=2))},
            "default_value_dim 4096; got 2",
        ),
    ],
)
def test_a_name_used_again_with_other_options_is_refused(tf, change, message):
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        tf.get_embedding_variable("v", embedding_dim=3)
        with pytest.raises(ValueError, match=message):
            tf.get_embedding_variable("v", **{"embedding_dim": 3, **change(tf)})


def test_a_name_of_an_ordinary_variable_is_refused(tf):
    tf.get_variable("v", [3])
    with tf.variable_scope("", reuse=True), pytest.raises(ValueError, match="no EmbeddingVariable"):
        tf.get_embedding_variable("v", 3)


def test_a_custom_getter_is_asked(tf):
    seen = []

    def renamed(getter, name, *args, **kwargs):
        seen.append(name)
        return getter(f"{name}_renamed", *args, **kwargs)

    one = tf.get_embedding_variable("v", 3, custom_getter=renamed)
    with tf.variable_scope("s", custom_getter=renamed):
        other = tf.get_embedding_variable("w", 3)
    assert seen == ["v", "s/w"]
    assert (one.op.name, other.op.name) == ("v_renamed", "s/w_renamed")


def test_the_scope_s_partitioner_is_taken(tf):
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(3)):
        variable = tf.get_embedding_variable("v", 3)
    assert [part.op.name for part in variable] == ["s/v/part_0", "s/v/part_1", "s/v/part_2"]


# Control flow.


def branches_and_loops(tf, variable, taken):
    def look(key):
        return tf.reduce_sum(tf.nn.embedding_lookup(variable, tf.reshape(tf.cast(key, tf.int64), [1])))

    def loop(body):
        return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + body(i)), [0, 0.0])[1]

    # Name -> (loss, keys that the branch trains, keys that it trains when not taken).
    return {
        "cond": (tf.cond(taken, lambda: look(7), lambda: 0.0), [7], []),
        "cond of two": (tf.cond(taken, lambda: look(8), lambda: look(9)), [8], [9]),
        "loop": (loop(lambda i: look(i + 10)), [10, 11, 12], [10, 11, 12]),
        "loop of many": (
            loop(
                lambda i: tf.reduce_sum(
                    tf.nn.embedding_lookup(variable, tf.boolean_mask(ids(tf, [20, 21, 22]), tf.range(3) <= i))
                )
            ),
            [20, 21, 22],
            [20, 21, 22],
        ),
        "cond in loop": (loop(lambda i: tf.cond(tf.equal(i, 1), lambda: look(i + 30), lambda: 0.0)), [31], [31]),
        "loop in cond": (tf.cond(taken, lambda: loop(lambda i: look(i + 40)), lambda: 0.0), [40, 41, 42], []),
        "inside and outside": (tf.cond(taken, lambda: look(50), lambda: 0.0) + look(51), [50, 51], [51]),
    }


@pytest.mark.parametrize(
    "name", ["cond", "cond of two", "loop", "loop of many", "cond in loop", "loop in cond", "inside and outside"]
)
@pytest.mark.parametrize("is_taken", [True, False])
def test_control_flow_trains_the_keys_that_were_looked_up(tf, name, is_taken):
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf))
    loss, taken, otherwise = branches_and_loops(tf, variable, tf.constant(is_taken))[name]
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        keys, rows, _, _ = session.run(variable.export())
    order = np.argsort(keys)
    assert keys[order].tolist() == (taken if is_taken else otherwise)
    # Key 20 is in three rounds of its loop, 21 in two.
    times = {20: 3, 21: 2}
    expected = [[1 - 0.1 * times.get(k, 1)] * 3 for k in keys[order].tolist()]
    np.testing.assert_allclose(rows[order], np.array(expected).reshape(-1, 3), rtol=1e-6)


@pytest.mark.parametrize("name", ["cond", "cond of two", "inside and outside"])
@pytest.mark.parametrize("is_taken", [True, False])
def test_functional_branches_train_the_keys_that_were_looked_up(tf, name, is_taken):
    tf.enable_control_flow_v2()
    try:
        test_control_flow_trains_the_keys_that_were_looked_up(tf, name, is_taken)
    finally:
        tf.disable_control_flow_v2()


@pytest.mark.parametrize("fused", [True, False])
def test_the_gradient_through_a_functional_loop_is_refused_by_name(tf, fused):
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf))
    sparse = tf.SparseTensor([[0, 0]], ids(tf, [7]), [1, 1])

    def body(i, total):
        rows = (
            tf.nn.embedding_lookup_sparse(variable, sparse, None, combiner="sum")
            if fused
            else tf.nn.embedding_lookup(variable, sparse.values)
        )
        return i + 1, total + tf.reduce_sum(rows)

    tf.enable_control_flow_v2()
    try:
        loss = tf.while_loop(lambda i, total: i < 3, body, [0, 0.0])[1]
        with pytest.raises(NotImplementedError, match="look its keys up before the loop"):
            tf.gradients(loss, [variable])
    finally:
        tf.disable_control_flow_v2()


# Sessions and graphs.


def test_monitored_training_session(tf, tmp_path):
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf))
    step = tf.train.get_or_create_global_step()
    train = trained(tf, variable, ids(tf, [1, 2]), tf.train.GradientDescentOptimizer(0.05), step)
    count, rows = variable.total_count(), tf.nn.embedding_lookup(variable, ids(tf, [1]))
    hooks = [tf.train.StopAtStepHook(last_step=3)]
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), hooks=hooks, log_step_count_steps=None
    ) as session:
        while not session.should_stop():
            session.run(train)
    hooks = [tf.train.StopAtStepHook(last_step=4)]
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), hooks=hooks, log_step_count_steps=None
    ) as session:
        assert session.run(count).tolist() == [2, 3]
        np.testing.assert_allclose(session.run(rows), np.full([1, 3], 0.7), rtol=1e-5)


def test_two_sessions_have_tables_of_their_own(tf):
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf))
    train = trained(tf, variable, ids(tf, [1]))
    count, init = variable.total_count(), tf.global_variables_initializer()
    with tf.Session() as first, tf.Session() as second:
        first.run(init)
        first.run(train)
        with pytest.raises(tf.errors.FailedPreconditionError, match="v"):
            second.run(count)
        second.run(init)
        assert first.run(count).tolist() == [1, 3] and second.run(count).tolist() == [0, 3]


def test_two_sessions_of_one_server_share_the_table(tf):
    server = tf.train.Server.create_local_server()
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf))
    train = trained(tf, variable, ids(tf, [1]))
    count, init = variable.total_count(), tf.global_variables_initializer()
    with tf.Session(server.target) as first, tf.Session(server.target) as second:
        first.run(init)
        first.run(train)
        assert second.run(count).tolist() == [1, 3]


def free_port():
    with socket.socket() as s:
        s.bind(("localhost", 0))
        return s.getsockname()[1]


@pytest.mark.parametrize("servers", [1, 2])
def test_a_cluster_with_the_tables_on_parameter_servers(servers):
    ps = ",".join(f"localhost:{free_port()}" for _ in range(servers))
    arguments = [sys.executable, str(PROGRAM), ps, f"localhost:{free_port()}"]
    environment = {k: v for k, v in os.environ.items() if k not in ("TF_CONFIG",)}
    environment["TF_CPP_MIN_LOG_LEVEL"] = "2"
    common = {"env": environment, "cwd": PROGRAM.parent, "text": True}
    started = [
        subprocess.Popen([*arguments, "ps", str(i)], stderr=subprocess.DEVNULL, **common) for i in range(servers)
    ]
    try:
        worker = subprocess.run([*arguments, "worker", "0"], capture_output=True, check=False, timeout=120, **common)
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert worker.returncode == 0, worker.stdout + worker.stderr
    assert worker.stdout.split()[-1] == "done"


@pytest.mark.parametrize("parts", [None, 2])
def test_a_meta_graph_carries_the_variables(tf, monkeypatch, parts):
    monkeypatch.setenv("TF_RECORD_FREQ", "1")
    partitioner = None if parts is None else tf.fixed_size_partitioner(parts)
    opt = option(tf, filter_option=tf.CounterFilter(2), evict_option=tf.GlobalStepEvict(4))
    variable = tf.get_embedding_variable("v", 3, initializer=ones(tf), partitioner=partitioner, ev_option=opt)
    train = trained(tf, variable, ids(tf, [1, 1, 2]), step=tf.train.get_or_create_global_step())
    tf.add_to_collection("train", train)
    meta = tf.train.export_meta_graph()
    configs = [part.config for part in (variable if parts else [variable])]
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta)
        found = [v for v in tf.trainable_variables() if "v" in v.name]
        assert [part.config for part in found] == configs
        slots = [v for v in tf.global_variables() if "Adagrad" in v.name]
        assert [slot.primary for slot in slots] == found
        assert all(part.need_counts() and part.shape.as_list() == [3] for part in found)
        rows = tf.train.GradientDescentOptimizer(0.1).minimize(
            tf.reduce_sum(tf.nn.embedding_lookup(found, ids(tf, [1])))
        )
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(tf.get_collection("train")[0])
            session.run(rows)
            keys, values, versions, freqs = (
                np.concatenate([session.run(part.export())[i] for part in found]) for i in range(4)
            )
    assert (keys.tolist(), versions.tolist(), freqs.tolist()) == ([1], [1], [3])
    # Two occurrences with gradient 2 each, by Adagrad, then one by gradient descent.
    np.testing.assert_allclose(values, np.full([1, 3], 1 - 0.1 * 4 / np.sqrt(0.1 + 16) - 0.1), rtol=1e-6)


def test_an_imported_meta_graph_below_a_scope(tf):
    tf.get_embedding_variable("v", 3, initializer=ones(tf))
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta, import_scope="below")
        (variable,) = tf.global_variables()
        with tf.Session() as session:
            session.run(variable.initializer)
            assert session.run(variable.sparse_read([3])).tolist() == [[1, 1, 1]]
        assert variable.op.name == "below/v"


# Bad input.


@pytest.mark.parametrize(
    "arguments, message",
    [
        (lambda tf: {"embedding_dim": 0}, "embedding_dim"),
        (lambda tf: {"embedding_dim": -3}, "embedding_dim"),
        (lambda tf: {"embedding_dim": 2.5}, "embedding_dim"),
        (lambda tf: {"embedding_dim": True}, "embedding_dim"),
        (lambda tf: {"key_dtype": tf.string}, "key_dtype"),
        (lambda tf: {"key_dtype": tf.float32}, "key_dtype"),
        (lambda tf: {"value_dtype": tf.int32}, "value_dtype"),
        (lambda tf: {"embedding_dim": None}, "embedding_dim"),
        (lambda tf: {"regularizer": tf.nn.l2_loss}, "regularizer"),
        (lambda tf: {"constraint": tf.identity}, "constraint"),
        (lambda tf: {"partitioner": lambda shape, dtype: [1, 2]}, "partitioner"),
        (lambda tf: {"steps_to_live": -1}, "steps_to_live"),
        (lambda tf: {"steps_to_live": 3, "ev_option": option(tf, evict_option=tf.L2WeightEvict(0.5))}, "exclude"),
        (lambda tf: {"ev_option": tf.CounterFilter(3)}, "ev_option"),
        (lambda tf: {"initializer": [1.0, 2.0]}, "initial value"),
        (lambda tf: {"ev_option": option(tf, storage_option=tf.StorageOption(storage_type=6))}, "storage_type HBM"),
    ],
)
def test_a_bad_argument_is_refused_by_name(tf, arguments, message):
    with pytest.raises(ValueError, match=message):
        tf.get_embedding_variable("v", **{"embedding_dim": 3, **arguments(tf)})


@pytest.mark.parametrize("argument", ["regularizer", "constraint"])
def test_what_the_scope_asks_of_whole_values_is_refused_by_name(tf, argument):
    with (
        tf.variable_scope("s", **{argument: tf.identity}),
        pytest.raises(ValueError, match=f"{argument} of the variable"),
    ):
        tf.get_embedding_variable("v", 3)


@pytest.mark.parametrize("inference", ["0", "1"])
def test_inference_mode_ignores_filters_and_refuses_training(tf, monkeypatch, inference):
    monkeypatch.setenv("INFERENCE_MODE", inference)
    init = tf.InitializerOption(tf.ones_initializer(), default_value_no_permission=7.0)
    variable = tf.get_embedding_variable(
        "v", 3, ev_option=option(tf, init_option=init, filter_option=tf.CounterFilter(2))
    )
    rows = tf.nn.embedding_lookup(variable, tf.constant([5], tf.int64))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(rows))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        if inference == "0":
            assert session.run(rows).tolist() == [[7, 7, 7]]
            session.run(train)
            return
        assert session.run(rows).tolist() == [[1, 1, 1]]
        with pytest.raises(tf.errors.FailedPreconditionError, match="EmbeddingVariable v .*INFERENCE_MODE"):
            session.run(train)


def test_joint_lookups_count_and_insert_as_they_read(tf, monkeypatch):
    monkeypatch.setenv("TF_EMBEDDING_FBJ_OPT", "1")
    init = tf.InitializerOption(tf.ones_initializer())
    joint = option(tf, init_option=init, filter_option=tf.CounterFilter(3))
    variable = tf.get_embedding_variable("v", 3, ev_option=joint)
    ids = tf.constant([1, 1, 1, 1, 2, 2, 2, 3, 3, 4], tf.int64)
    rows = tf.nn.embedding_lookup(variable, ids)
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(2 * rows))
    frequencies = variable.get_frequency(tf.constant([1, 2, 3, 4], tf.int64))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first, _ = session.run([rows, train])
        assert first[:, 0].tolist() == [0, 0, 1, 1, 0, 0, 1, 0, 0, 0]
        assert session.run(frequencies).tolist() == [4, 3, 2, 1]
        second = session.run(rows)
    # Key 1 had two of its gradients, key 2 one; key 3 is admitted by its third occurrence.
    np.testing.assert_allclose(second[:4], np.full([4, 3], 0.90031105), rtol=1e-6)
    np.testing.assert_allclose(second[4:7], np.full([3, 3], 0.90122706), rtol=1e-6)
    assert second[7:, 0].tolist() == [1, 1, 0]


@pytest.mark.parametrize("parts", [None, 3])
@pytest.mark.parametrize("lookup", ["plain", "sparse"])
def test_joint_lookups_without_a_filter_train_as_others_do(tf, monkeypatch, parts, lookup):
    random = np.random.RandomState(0)
    batches = [random.randint(0, 30, 40) for _ in range(5)]
    results = {}
    for joint in ("0", "1"):
        monkeypatch.setenv("TF_EMBEDDING_FBJ_OPT", joint)
        with tf.Graph().as_default():
            partitioner = tf.fixed_size_partitioner(parts) if parts else None
            variable = tf.get_embedding_variable("v", 3, initializer=tf.ones_initializer(), partitioner=partitioner)
            ids = tf.placeholder(tf.int64, [None])
            if lookup == "plain":
                rows = tf.nn.embedding_lookup(variable, ids)
            else:
                indices = tf.cast(tf.stack([tf.range(tf.size(ids)) // 4, tf.range(tf.size(ids)) % 4], 1), tf.int64)
                rows = tf.nn.embedding_lookup_sparse(
                    variable, tf.SparseTensor(indices, ids, [10, 4]), None, combiner="sum"
                )
            train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.square(rows)))
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                results[joint] = [session.run([rows, train], {ids: batch})[0] for batch in batches]
    np.testing.assert_allclose(results["1"], results["0"], rtol=1e-6)


@pytest.mark.parametrize("joint", ["0", "1"])
@pytest.mark.parametrize("beside", [False, True])
def test_a_filter_counts_lookups_of_a_loop(tf, monkeypatch, joint, beside):
    monkeypatch.setenv("TF_EMBEDDING_FBJ_OPT", joint)
    option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(3))
    variable = tf.get_embedding_variable("v", 4, initializer=tf.ones_initializer(), ev_option=option)
    ids = tf.placeholder(tf.int64, [None])

    def body(i, total):
        return i + 1, total + tf.reduce_sum(tf.nn.embedding_lookup(variable, ids))

    total = tf.while_loop(lambda i, total: i < 3, body, (0, 0.0))[1]
    if beside:
        total += tf.reduce_sum(tf.nn.embedding_lookup(variable, ids + 10))
    train = tf.train.AdagradOptimizer(0.1).minimize(total)
    frequencies = variable.get_frequency(tf.constant([5, 6, 15], tf.int64))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train, {ids: [5, 6]})
        assert session.run(frequencies).tolist() == [9, 9, 3 if beside else 0]


def test_the_generated_functions_are_in_deeprecs_module(tf):
    from tensorflow.python.ops import gen_kv_variable_ops, kv_variable_ops

    variable = tf.get_embedding_variable("v", 3)
    shape = gen_kv_variable_ops.kv_variable_shape(variable.handle)
    assert kv_variable_ops.is_kv_variable(variable)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(shape).tolist() == [0, 3]


def test_a_graph_that_expects_another_dim_is_told_so(tf):
    server = tf.train.Server.create_local_server()
    for dim in (3, 4):
        with tf.Graph().as_default(), tf.Session(server.target) as session:
            rows = tf.nn.embedding_lookup(tf.get_embedding_variable("v", dim), tf.constant([1], tf.int64))
            if dim == 3:
                session.run(tf.global_variables_initializer())
                session.run(rows)
            else:
                with pytest.raises(tf.errors.InvalidArgumentError, match="v has rows of 3, this graph expects 4"):
                    session.run(rows)


def test_negative_counts_are_refused_by_name(tf):
    counted = option(tf, filter_option=tf.CounterFilter(2))
    variable = tf.get_embedding_variable("v", 3, ev_option=counted)
    rows = tf.nn.embedding_lookup(variable, tf.constant([1, 2], tf.int64), counts=tf.constant([-5, 1], tf.int64))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(rows))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"counts\[0\] = -5"):
            session.run(train)


def test_assert_variables_initialized_sees_tables(tf):
    variable = tf.get_embedding_variable("v", 3)
    tf.get_variable("w", [2])
    check = tf.assert_variables_initialized()
    with tf.Session() as session:
        session.run(tf.initializers.variables([v for v in tf.global_variables() if v is not variable]))
        with pytest.raises(tf.errors.FailedPreconditionError, match="EmbeddingVariable v "):
            session.run(check)
        session.run(variable.initializer)
        session.run(check)


def test_a_table_does_not_become_a_constant(tf):
    rows = tf.nn.embedding_lookup(tf.get_embedding_variable("v", 3), tf.constant([1], tf.int64), name="rows")
    other = tf.get_variable("w", [2]) + 1.0
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        graph = tf.get_default_graph().as_graph_def()
        tf.graph_util.convert_variables_to_constants(session, graph, [other.op.name])
        with pytest.raises(ValueError, match="EmbeddingVariables v,"):
            tf.graph_util.convert_variables_to_constants(session, graph, [rows.op.name])


def test_keys_of_another_dtype_are_refused(tf):
    variable = tf.get_embedding_variable("v", 3)
    for read in (variable.sparse_read, lambda k: tf.nn.embedding_lookup(variable, k)):
        with pytest.raises(ValueError, match="int64.*int32"):
            read(tf.constant([1], tf.int32))
        with pytest.raises(ValueError, match="int64.*float32"):
            read(tf.constant([1.0]))
    for query in (variable.get_frequency, variable.get_version, variable.lookup_tier):
        with pytest.raises(ValueError, match="int64"):
            query(tf.constant([1], tf.int32))


def test_a_table_has_no_value_as_a_whole(tf):
    variable = tf.get_embedding_variable("v", 3)
    for use in (
        variable.value,
        variable.read_value,
        lambda: variable.assign(tf.ones([3])),
        lambda: variable.assign_add(tf.ones([3])),
        lambda: variable + 1.0,
        lambda: tf.identity(variable),
        variable.initialized_value,
    ):
        with pytest.raises(NotImplementedError, match="v:0.*look keys up"):
            use()


def test_use_before_initialization_says_so(tf):
    variable = tf.get_embedding_variable("v", 3)
    train = trained(tf, variable, ids(tf, [1]))
    with tf.Session() as session:
        for fetch in (variable.sparse_read([1]), train, variable.total_count(), variable.export()[0]):
            with pytest.raises(tf.errors.FailedPreconditionError, match="v"):
                session.run(fetch)
        assert not session.run(variable.is_initialized())
        assert b"v" in session.run(tf.report_uninitialized_variables())[0]


def test_start_rows_of_another_shape_are_refused(tf):
    variable = tf.get_embedding_variable("v", 3)
    rows = tf.placeholder_with_default(np.ones([2, 4], np.float32), None)
    read = variable.sparse_read([1, 2], ev_init_value=rows)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="default_value"):
            session.run(read)


@pytest.mark.parametrize("shape", [[3, 3], [2, 4], [6]])
def test_gradients_of_another_shape_are_refused(tf, shape):
    variable = tf.get_embedding_variable("v", 3)
    values = tf.placeholder_with_default(np.ones(shape, np.float32), None)
    gradient = tf.IndexedSlices(values, ids(tf, [1, 2]))
    train = tf.train.AdagradOptimizer(0.1).apply_gradients([(gradient, variable)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="grad"):
            session.run(train)
        assert session.run(variable.total_count()).tolist() == [0, 3]


def test_a_dense_gradient_is_refused(tf):
    variable = tf.get_embedding_variable("v", 3)
    with pytest.raises(ValueError, match="v:0.*IndexedSlices"):
        tf.train.AdagradOptimizer(0.1).apply_gradients([(tf.ones([2, 3]), variable)])


def test_a_gradient_that_is_no_number_is_kept(tf):
    variable = tf.get_embedding_variable("v", 2, initializer=ones(tf))
    gradient = tf.IndexedSlices(tf.constant([[np.nan, 1.0]]), ids(tf, [1]))
    train = tf.train.GradientDescentOptimizer(0.5).apply_gradients([(gradient, variable)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_array_equal(session.run(variable.sparse_read([1])), [[np.nan, 0.5]])


def test_an_optimizer_without_a_step_for_tables_says_so(tf):
    variable = tf.get_embedding_variable("v", 2)
    loss = tf.reduce_sum(variable.sparse_read([1]))
    with pytest.raises(NotImplementedError, match="AdadeltaOptimizer.*v:0"):
        tf.train.AdadeltaOptimizer().minimize(loss)
