"""What every rank checks; run by horovodrun, see test_horovod.py."""

import os

import horovod.tensorflow as hvd
import modes
import numpy as np
import pytest
import tensorflow as tf
from batches import Batch
from tensorflow.python.eager import context

hvd.init()
RANK, RANKS = hvd.rank(), hvd.size()
FOLDER = os.environ["SOK_TEST_FOLDER"]
_ROWS, _DIM = 23, 5


@pytest.fixture
def eager():
    with context.eager_mode():
        yield


def _legacy(name, **kwargs):
    import tf_keras.src.optimizers.legacy as legacy

    module = {"SGD": "gradient_descent"}.get(name, name.lower())
    return getattr(__import__(f"{legacy.__name__}.{module}", fromlist=[name]), name)(**kwargs)


def _owned(mode):
    """The keys of a table that this rank holds."""
    if mode == "distributed":
        return np.arange(RANK, _ROWS, RANKS)
    return np.arange(_ROWS) if RANK == int(mode.split(":")[1]) else np.arange(0)


def test_ranks_are_those_of_horovod(sok):
    assert (sok.rank(), sok.num_ranks(), sok.local_rank()) == (RANK, RANKS, hvd.local_rank())


def test_collectives_give_what_their_names_say(sok, eager):
    mine = tf.constant([float(RANK), 1.0])
    all_ranks = np.arange(RANKS)
    np.testing.assert_array_equal(sok.allreduce(mine, "sum"), [all_ranks.sum(), RANKS])
    np.testing.assert_array_equal(sok.allreduce(mine, "average"), [all_ranks.mean(), 1])
    np.testing.assert_array_equal(sok.allreduce(mine, "max"), [RANKS - 1, 1])
    np.testing.assert_array_equal(sok.allreduce(mine, "min"), [0, 1])
    np.testing.assert_array_equal(sok.allgather(tf.fill([RANK], RANK)), np.repeat(all_ranks, all_ranks))
    np.testing.assert_array_equal(sok.broadcast(mine, root=RANKS - 1), [RANKS - 1, 1])
    received, splits = sok.alltoall(tf.fill([RANK * RANKS], RANK), tf.fill([RANKS], RANK))
    np.testing.assert_array_equal(received, np.repeat(all_ranks, all_ranks))
    np.testing.assert_array_equal(splits, all_ranks)


@pytest.mark.parametrize("mode", ["distributed", "localized:0", "localized:1"])
def test_a_variable_holds_its_rows(sok, eager, mode):
    table = np.arange(_ROWS * 2.0).reshape(_ROWS, 2)
    variable = sok.Variable(table, mode=mode)
    np.testing.assert_array_equal(variable, table[_owned(mode)])
    np.testing.assert_array_equal(sok.export(variable)[0], _owned(mode))
    assert variable.global_shape == (_ROWS, 2)
    assert sok.Variable(shape=[_ROWS, 2], initializer="zeros", mode=mode).shape == (len(_owned(mode)), 2)
    with pytest.raises(RuntimeError, match=f"there are {RANKS} ranks"):
        sok.Variable(table, mode=f"localized:{RANKS}")


@pytest.mark.skipif(RANKS != 2, reason="the values are those of two processes")
@pytest.mark.parametrize("mode", ["distributed", "localized"])
def test_the_example_of_the_user_guide_has_its_values(sok, eager, mode):
    kinds = ["localized:0", "localized:1"] if mode == "localized" else [None, None]
    v1 = sok.Variable(np.arange(51).reshape(17, 3), dtype=tf.float32, mode=kinds[0])
    v2 = sok.Variable(np.arange(35).reshape(7, 5), dtype=tf.float32, mode=kinds[1])
    ids = [Batch([[1, 1], [3, 4, 5]]).ids(np.int32), Batch([[1], [2, 3]]).ids(np.int32)]
    with tf.GradientTape() as tape:
        first, second = sok.lookup_sparse([v1, v2], ids, hotness=[3, 2], combiners=["sum", "sum"])
        loss = tf.reduce_sum(first) + tf.reduce_sum(second)
    np.testing.assert_array_equal(first, [[6, 8, 10], [36, 39, 42]])
    np.testing.assert_array_equal(second, [[5, 6, 7, 8, 9], [25, 27, 29, 31, 33]])
    gradients = tape.gradient(loss, [v1, v2])
    if mode == "distributed":
        expected = [({2: 2}, {1: 2}), ({0: 4, 1: 2, 2: 2}, {0: 2, 1: 2})][RANK]
    else:
        expected = [({1: 4, 3: 2, 4: 2, 5: 2}, {}), ({}, {1: 2, 2: 2, 3: 2})][RANK]
    for gradient, of_rows in zip(gradients, expected):
        found = dict(zip(gradient.indices.numpy().tolist(), gradient.values.numpy()[:, 0].tolist()))
        assert found == of_rows
    _legacy("SGD", learning_rate=1.0).apply_gradients(zip(gradients, [v1, v2]))
    after1 = np.arange(51.0).reshape(17, 3) - np.array([0, 4, 0, 2, 2, 2] + [0] * 11)[:, None]
    after2 = np.arange(35.0).reshape(7, 5) - np.array([0, 2, 2, 2, 0, 0, 0])[:, None]
    for variable, after in ((v1, after1), (v2, after2)):
        keys, rows = sok.export(variable)
        np.testing.assert_array_equal(rows, after[keys.numpy()])


_TABLES = {
    "distributed": lambda sok, table: sok.Variable(table),
    "localized": lambda sok, table: sok.Variable(table, mode="localized:1"),
    "hbm": lambda sok, table: sok.DynamicVariable(_DIM),
    "hybrid on one rank": lambda sok, table: sok.DynamicVariable(_DIM, var_type="hybrid", mode="localized:0"),
}


# Each table with each optimizer, and in each mode.
_TRAININGS = [
    *[("function", kind, "Adagrad") for kind in sorted(_TABLES)],
    *[("session", kind, "SGD") for kind in sorted(_TABLES)],
    ("eager", "distributed", "Adagrad"),
    ("eager", "hbm", "SGD"),
]


@pytest.mark.parametrize("mode, kind, optimizer", _TRAININGS)
def test_sharded_training_is_that_of_one_process(sok, mode, kind, optimizer):
    # Steps of a session and of functions are fast; eager ones show the same in fewer.
    steps = 20 if mode == "eager" else 100
    random = np.random.default_rng(11)
    start = random.standard_normal([_ROWS, _DIM]).astype(np.float32)
    # Ranks have different numbers of samples: the first has half of all.
    whole = Batch.random(random, 4 * RANKS, _ROWS, 4)
    cuts = [0] + [2 * RANKS + i * 2 * RANKS // (RANKS - 1) for i in range(RANKS)]
    mine = Batch(whole.rows[cuts[RANK] : cuts[RANK + 1]], whole.weights[cuts[RANK] : cuts[RANK + 1]])
    target = random.standard_normal([4 * RANKS, _DIM]).astype(np.float32)

    def run(sharded, batch, wanted):
        def setup():
            inner = _legacy(optimizer, learning_rate=0.3)
            if not sharded:
                return tf.compat.v1.Variable(start, use_resource=True), inner, []
            table = _TABLES[kind](sok, start)
            if not isinstance(table, sok.DynamicVariable):
                return table, inner, []
            own = _owned("distributed" if kind == "hbm" else "localized:0")
            wrapper = sok.OptimizerWrapper(inner)
            wrapper.create_slots([table])
            return table, wrapper, table.insert(own, start[own])

        def step(made):
            def loss():
                ids, weights = batch.ids(), batch.sparse_weights()
                if sharded:
                    combined = sok.lookup_sparse(made[0], ids, sp_weights=weights, combiners="mean")
                else:
                    combined = tf.compat.v1.nn.safe_embedding_lookup_sparse(made[0], ids, weights, combiner="mean")
                return tf.reduce_sum(tf.square(combined - wanted)) / (4 * RANKS)

            (gradient,) = modes.dense_gradients(loss, [made[0]])
            return made[1].apply_gradients([(gradient, made[0])])

        if mode == "session":
            with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
                made = setup()
                op = step(made)
                last = sok.export(made[0]) if sharded else tf.convert_to_tensor(made[0])
                sess.run(tf.compat.v1.global_variables_initializer())
                sess.run(made[2])
                for _ in range(steps):
                    sess.run(op)
                return sess.run(last)
        with context.eager_mode():
            made = setup()
            call = tf.function(lambda: step(made) and None) if mode == "function" else lambda: step(made)
            for _ in range(steps):
                call()
            last = sok.export(made[0]) if sharded else tf.convert_to_tensor(made[0])
            return [x.numpy() for x in last] if sharded else last.numpy()

    keys, rows = run(True, mine, target[cuts[RANK] : cuts[RANK + 1]])
    expected = run(False, whole, target)
    np.testing.assert_allclose(rows, expected[keys], rtol=1e-6, atol=1e-6)
    held = {"localized": "localized:1", "hybrid on one rank": "localized:0"}.get(kind, "distributed")
    np.testing.assert_array_equal(keys, _owned(held))
    assert np.abs(expected - start).max() > 0.1


@pytest.mark.parametrize("mode", modes.MODES)
def test_ranks_may_have_no_keys_at_all(sok, mode):
    batch = Batch([[3, 4]] if RANK == 0 else [[]])

    def step(table):
        def loss():
            seen.append(sok.lookup_sparse(table, batch.ids(), combiners="sum"))
            return tf.reduce_sum(seen[0])

        seen = []
        (gradient,) = modes.dense_gradients(loss, [table])
        dense = sok.all2all_dense_embedding(table, tf.constant([9] * RANK, tf.int64))
        return seen[0], gradient.indices, dense

    (rows, keys, dense), _ = modes.run(mode, lambda: sok.Variable(np.arange(_ROWS * 1.0)[:, None]), step)
    assert rows.tolist() == ([[7]] if RANK == 0 else [[0]])
    assert sorted(k * RANKS + RANK for k in keys.tolist()) == [k for k in (3, 4) if k % RANKS == RANK]
    assert dense.tolist() == [[9]] * RANK


def test_new_keys_of_all_ranks_meet_at_their_owner(sok, eager):
    table = sok.DynamicVariable(2)
    first = sok.lookup_sparse(table, Batch([[100, -7, 100 + RANK]]).ids(), combiners="sum")
    again = sok.lookup_sparse(table, Batch([[100, -7, 100 + RANK]]).ids(), combiners="sum")
    np.testing.assert_array_equal(first, again)
    expected = {-7} | {100 + r for r in range(RANKS)}
    assert sok.export(table)[0].numpy().tolist() == sorted(k for k in expected if k % RANKS == RANK)


def _dumped_tables(sok):
    static = sok.Variable(np.zeros([_ROWS, 2]), dtype=tf.float32, name="static")
    here = sok.Variable(np.zeros([_ROWS, 2]), dtype=tf.float32, name="here", mode="localized:1")
    dynamic = sok.DynamicVariable(2, initializer="zeros", name="dynamic")
    return static, here, dynamic


def test_dumps_go_from_two_ranks_to_four_and_back(sok, eager):
    values = np.arange(_ROWS * 2.0).reshape(_ROWS, 2).astype(np.float32)
    static, here, dynamic = tables = _dumped_tables(sok)
    optimizer = sok.OptimizerWrapper(_legacy("Adagrad", learning_rate=1.0, initial_accumulator_value=0.5))
    source = os.path.join(FOLDER, "2")
    if RANKS == 2:
        static.assign(values[_owned("distributed")])
        here.assign(values[_owned("localized:1")])
        own = tf.constant(_owned("distributed"))
        dynamic.insert(own, values[_owned("distributed")])
        optimizer.create_slots([dynamic])
        optimizer.get_slot(dynamic, "accumulator").insert(own, 3 * values[_owned("distributed")])
    else:
        sok.load(source, tables, optimizer)
    for table in tables:
        keys, rows = sok.export(table)
        np.testing.assert_array_equal(rows, values[keys.numpy()])
        assert len(keys) == len(_owned(table.mode))
    keys, rows = sok.export(optimizer.get_slot(dynamic, "accumulator"))
    np.testing.assert_array_equal(rows, 3 * values[keys.numpy()])
    assert len(keys) == len(_owned("distributed"))
    sok.dump(os.path.join(FOLDER, str(RANKS)), tables, optimizer)
    # Rank by rank.
    order = np.concatenate([np.arange(r, _ROWS, RANKS) for r in range(RANKS)])
    stored = np.fromfile(os.path.join(FOLDER, str(RANKS), "static_0-key"), np.int64, offset=296)
    np.testing.assert_array_equal(stored, order)


def test_all_ranks_are_told_that_rank_0_cannot_dump(sok, eager):
    table = sok.Variable(np.ones([4, 2]), dtype=tf.float32, name="nowhere")
    blocked = os.path.join(FOLDER, f"blocked{RANKS}")
    if hvd.rank() == 0:
        open(blocked, "wb").close()
    with pytest.raises(OSError, match="blocked"):
        sok.dump(blocked, table)
    assert int(sok.allreduce(tf.constant(1))) == RANKS


def test_incremental_dumps_join_the_keys_of_all_ranks(sok, eager):
    import datetime

    table = sok.DynamicVariable(1, initializer="1", var_type="hybrid")
    before = datetime.datetime(2020, 1, 1)
    sok.lookup_sparse(table, Batch([[RANK, 10]]).ids())
    (keys,), (rows,) = sok.incremental_model_dump(table, before)
    assert sorted(keys.tolist()) == [*range(RANKS), 10] and rows.shape == (RANKS + 1, 1)


def test_assign_takes_the_keys_of_this_rank_alone(sok, eager):
    table = sok.Variable(np.zeros([_ROWS, 1]), dtype=tf.float32)
    sok.assign(table, tf.constant([RANK]), [[5.0]])
    assert table.numpy()[0, 0] == 5
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"keys of this rank, {RANK} of {RANKS}"):
        sok.assign(table, tf.constant([RANK + 1]), [[5.0]])


def test_tables_of_different_width_are_an_error_on_all_ranks(sok, eager):
    table = sok.Variable(np.zeros([_ROWS, 2 + RANK]), dtype=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"\[23, .\] .* where rank {RANK} .*\[23, {2 + RANK}\]"):
        sok.lookup_sparse(table, Batch([list(range(_ROWS))]).ids())


def test_another_table_than_that_of_other_ranks_is_an_error_on_all_ranks(sok, eager):
    tables = [sok.Variable(np.zeros([_ROWS, 2]), dtype=tf.float32, name=name) for name in ("mine", "yours")]
    batch = Batch([[0, 1], [2]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="all ranks must make the same calls in the same order"):
        sok.lookup_sparse(tables[min(RANK, 1)], batch.ids())
    # Nothing is left behind.
    np.testing.assert_array_equal(sok.lookup_sparse(tables[0], batch.ids()), np.zeros([2, 2]))


def test_keys_of_different_types_are_an_error_on_all_ranks(sok, eager):
    table = sok.DynamicVariable(2, key_type=[tf.int32, tf.int64][min(RANK, 1)], name="keys")
    with pytest.raises(tf.errors.InvalidArgumentError, match="keys=int(32|64) .* where rank .* keys=int(64|32) "):
        sok.lookup_sparse(table, Batch([[0, 1]]).ids(np.int32))


def test_rows_of_different_types_are_an_error_on_all_ranks(sok, eager):
    table = sok.Variable(np.zeros([_ROWS, 2]), dtype=[tf.float32, tf.float64][min(RANK, 1)], name="rows")
    with pytest.raises(tf.errors.InvalidArgumentError, match="rows:0 .* float(32|64) .* float(64|32) "):
        sok.lookup_sparse(table, Batch([list(range(_ROWS))]).ids())


@pytest.mark.parametrize("mode", modes.MODES)
def test_tables_of_different_sizes_are_an_error_that_names_table_and_rank(sok, mode):
    other = RANKS - 1
    rows = [_ROWS + (rank == other) for rank in range(RANKS)]
    shown = other if RANK != other else 0
    message = f"rank {shown} looks up keys of sizes_{mode}:0 .{rows[shown]}, 2. float32 distributed where rank {RANK} looks up those of sizes_{mode}:0 .{rows[RANK]}, 2."
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        modes.run(
            mode,
            lambda: sok.Variable(np.zeros([rows[RANK], 2]), dtype=tf.float32, name=f"sizes_{mode}"),
            lambda table: sok.lookup_sparse(table, Batch([[0]]).ids()),
        )


def test_tables_of_different_modes_are_an_error(sok, eager):
    table = sok.Variable(np.zeros([_ROWS, 2]), name="modes", mode=["localized:0", "localized:1"][min(RANK, 1)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="localized:(0|1) where rank .* localized:(1|0)"):
        sok.lookup_sparse(table, Batch([[0, 1]]).ids())
