"""Optimizers on EmbeddingVariables: against the same optimizer on an ordinary variable, against NumPy, and what is refused."""

import time

import numpy as np
import pytest

ROWS, DIM = 20, 3
NO_PERMISSION = 0.0


@pytest.fixture
def tf(monkeypatch):
    """TensorFlow with an empty default graph; frequencies and versions are recorded."""
    import tensorflow

    monkeypatch.setenv("TF_RECORD_FREQ", "1")
    monkeypatch.setenv("TF_RECORD_VERSION", "1")
    with tensorflow.Graph().as_default():
        yield tensorflow


# Numbers that bfloat16 holds, so that all dtypes compute with the same.
ADAM = {"beta1": 0.75, "beta2": 0.9375, "epsilon": 2**-10}
OPTIMIZERS = {
    "GradientDescent": lambda tf, step: tf.train.GradientDescentOptimizer(0.125),
    "Adagrad": lambda tf, step: tf.train.AdagradOptimizer(0.125, initial_accumulator_value=0.5),
    "AdagradDecay": lambda tf, step: tf.train.AdagradDecayOptimizer(0.125, step, 0.5, 2, 0.75),
    "AdagradDecayV2": lambda tf, step: tf.train.AdagradDecayOptimizerV2(0.125, step, 0.5, 2, 0.75),
    "Adam": lambda tf, step: tf.train.AdamOptimizer(0.125, **ADAM, lazy=True),
    "AdamAsync": lambda tf, step: tf.train.AdamAsyncOptimizer(0.125, **ADAM),
    "AdamAsync as RMSProp": lambda tf, step: tf.train.AdamAsyncOptimizer(0.125, **ADAM, apply_sparse_rmsprop=True),
    "AdamW": lambda tf, step: tf.train.AdamWOptimizer(0.0625, 0.125, **ADAM, lazy=True),
    "Ftrl": lambda tf, step: tf.train.FtrlOptimizer(0.125, l2_regularization_strength=0.25),
    "Ftrl with shrinkage": lambda tf, step: tf.train.FtrlOptimizer(
        0.125, l2_regularization_strength=0.25, l2_shrinkage_regularization_strength=0.25
    ),
    "Momentum": lambda tf, step: tf.train.MomentumOptimizer(0.125, 0.5),
    "Nesterov": lambda tf, step: tf.train.MomentumOptimizer(0.125, 0.5, use_nesterov=True),
    "RMSProp": lambda tf, step: tf.train.RMSPropOptimizer(0.125, 0.75, 0.5, 2**-10),
}
# DeepRec's Ftrl with shrinkage is not TensorFlow's.
ROW_WISE = [name for name in OPTIMIZERS if name != "Ftrl with shrinkage"]
# Slots that are columns of the table, with the elements of their rows; and the ordinary variables beside them.
SLOTS = {
    "GradientDescent": ({}, []),
    "Adagrad": ({"Adagrad": DIM}, []),
    "AdagradDecay": ({"AdagradDecay": DIM, "AdagradDecay_1": 1}, []),
    "AdagradDecayV2": ({"AdagradDecay": DIM, "AdagradDecay_1": 1}, []),
    "Adam": ({"Adam": DIM, "Adam_1": DIM}, ["beta1_power", "beta2_power"]),
    "AdamAsync": ({"AdamAsync": DIM, "AdamAsync_1": DIM}, ["ev/AdamAsync_2", "ev/AdamAsync_3"]),
    "AdamW": ({"AdamW": DIM, "AdamW_1": DIM}, ["beta1_power", "beta2_power"]),
    "Ftrl": ({"Ftrl": DIM, "Ftrl_1": DIM}, []),
    "Momentum": ({"Momentum": DIM}, []),
    "RMSProp": ({"RMSProp": DIM, "RMSProp_1": DIM}, []),
}
# Two lookups per step: equal keys within and between them, and none at all.
STEPS = [([3, 3, 5], [5, 9]), ([], [0]), ([], []), ([5, 5, 5, 3], [19]), ([1, 3], [9, 9])]


def pool(dtype="float64"):
    return np.random.default_rng(7).normal(size=(ROWS, DIM)).astype(dtype)


def embedding_variable(tf, rows=None, parts=None, name="ev", **kwargs):
    """An EmbeddingVariable whose key k starts as row k of `rows`."""
    rows = pool() if rows is None else rows
    dtype = kwargs.get("value_dtype") or tf.float32
    option = tf.EmbeddingVariableOption(
        init_option=tf.InitializerOption(default_value_dim=len(rows)), filter_option=kwargs.pop("filter_option", None)
    )
    return tf.get_embedding_variable(
        name,
        rows.shape[1],
        initializer=lambda shape, dtype=dtype, **unused: tf.cast(rows, dtype),
        partitioner=None if parts is None else tf.fixed_size_partitioner(parts),
        ev_option=option,
        **kwargs,
    )


def squares(tf, variable, *ids):
    """A loss whose gradient depends on the rows: the sum of their squares."""
    rows = [tf.nn.embedding_lookup(variable, i) for i in ids]
    return tf.add_n([tf.reduce_sum(tf.cast(tf.square(r), tf.float64)) for r in rows])


def read(tf, session, variable, keys):
    key_dtype = (variable if hasattr(variable, "key_dtype") else list(variable)[0]).key_dtype
    return session.run(tf.nn.embedding_lookup(variable, tf.constant(keys, key_dtype)))


def read_slot(session, slot, keys):
    """Rows of a slot, which is not looked up but exported."""
    exported, rows, _, _ = session.run(slot.export())
    return np.stack([rows[exported.tolist().index(key)] for key in keys])


def started(tf):
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


# The same as on an ordinary variable.


@pytest.mark.parametrize(
    "dtype, key_dtype, parts",
    [("float32", "int64", None), ("float64", "int32", 3), ("bfloat16", "int64", 2), ("float16", "int32", None)],
)
@pytest.mark.parametrize("name", ROW_WISE)
def test_trains_as_an_ordinary_variable(tf, name, dtype, key_dtype, parts):
    value_dtype = tf.as_dtype(dtype)
    ev = embedding_variable(tf, parts=parts, key_dtype=tf.as_dtype(key_dtype), value_dtype=value_dtype)
    table = tf.get_variable("table", initializer=tf.cast(pool(), value_dtype), use_resource=True)
    ids = [tf.placeholder(key_dtype, [None]) for _ in range(2)]
    step = tf.train.get_or_create_global_step()
    optimizer = OPTIMIZERS[name](tf, step)
    train = optimizer.minimize(squares(tf, ev, *ids) + squares(tf, table, *ids), global_step=step)
    with started(tf) as session:
        for keys in STEPS:
            session.run(train, dict(zip(ids, keys)))
        got = read(tf, session, ev, list(range(ROWS)))
        want = session.run(table)
    # Sums of equal keys are added in another order. Of 16 bits, an ordinary variable's Adam has its scalars in 16 too, and
    # AdamW's decay is rounded on its own.
    tolerance = {"float32": 1e-6, "float64": 1e-12, "bfloat16": 0.0, "float16": 0.0}[dtype]
    if name in ("Adam", "AdamW"):
        # The powers of beta are float32 variables.
        tolerance = {"float32": 1e-6, "float64": 1e-6, "bfloat16": 0.03, "float16": 0.004}[dtype]
    np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_trains_keys_of_any_value(tf, name):
    keys = [-1, -2, 0, 2**63 - 1, -(2**63), -111]
    ev = embedding_variable(tf, np.ones((1, DIM)))
    step = tf.train.get_or_create_global_step()
    train = OPTIMIZERS[name](tf, step).minimize(squares(tf, ev, tf.constant(keys, tf.int64)), global_step=step)
    with started(tf) as session:
        for _ in range(2):
            session.run(train)
        rows = read(tf, session, ev, keys)
        assert session.run(ev.total_count()).tolist() == [len(keys), DIM]
    assert (rows == rows[0]).all() and (rows < 1).all()


@pytest.mark.parametrize(
    "l1, shrinkage, power", [(0.0, 0.25, -0.5), (0.5, 0.0, -0.5), (0.5, 0.25, -0.75), (9.0, 0.0, -0.5)]
)
def test_ftrl_is_by_the_norm_of_a_row(tf, l1, shrinkage, power):
    lr, l2, start = 0.125, 0.25, 0.5
    ev = embedding_variable(tf, value_dtype=tf.float64)
    ids = tf.placeholder(tf.int64, [None])
    values = tf.placeholder(tf.float64, [None, DIM])
    train = tf.train.FtrlOptimizer(
        lr, power, start, l1, l2, l2_shrinkage_regularization_strength=shrinkage
    ).apply_gradients([(tf.IndexedSlices(values, ids), ev)])
    rng = np.random.default_rng(3)
    w, accum, linear = pool(), np.full((ROWS, DIM), start), np.zeros((ROWS, DIM))
    with started(tf) as session:
        for keys in ([1, 1, 4], [4, 7], [1]):
            gradients = rng.normal(size=(len(keys), DIM))
            session.run(train, {ids: keys, values: gradients})
            for key in set(keys):
                g = gradients[np.array(keys) == key].sum(0)
                shrunk = g + 2 * shrinkage * w[key]
                after = accum[key] + shrunk**2
                linear[key] += shrunk - (after**-power - accum[key] ** -power) / lr * w[key]
                norm = np.sqrt((linear[key] ** 2).sum())
                scale = (l1 - norm) / ((after**-power / lr + 2 * l2) * norm)
                w[key] = scale * linear[key] if norm > l1 else 0
                accum[key] += g**2
        np.testing.assert_allclose(read(tf, session, ev, list(range(ROWS))), w, rtol=1e-9)
    assert (l1 == 9.0) == (w[[1, 4, 7]] == 0).any()


@pytest.mark.parametrize("lazy", [False, True])
def test_adam_leaves_keys_without_gradient_whatever_lazy_says(tf, lazy):
    ev = embedding_variable(tf)
    ids = tf.placeholder(tf.int64, [None])
    train = tf.train.AdamOptimizer(0.1, lazy=lazy).minimize(squares(tf, ev, ids))
    with started(tf) as session:
        session.run(train, {ids: [1, 2]})
        before = read(tf, session, ev, [1])
        session.run(train, {ids: [2]})
        np.testing.assert_array_equal(read(tf, session, ev, [1]), before)


def test_adam_in_bfloat16_keeps_the_usual_beta2(tf):
    """0.999 is 1 in bfloat16."""
    ev = embedding_variable(tf, np.zeros((1, DIM)), value_dtype=tf.bfloat16)
    rows = tf.nn.embedding_lookup(ev, tf.constant([4], tf.int64))
    train = tf.train.AdamOptimizer(0.125).minimize(tf.reduce_sum(rows))
    with started(tf) as session:
        for _ in range(3):
            session.run(train)
        # Equal gradients: each step is the learning rate.
        np.testing.assert_allclose(read(tf, session, ev, [4]).astype(float), -0.375, rtol=0.02)


def test_ordinary_variables_of_the_model_train_as_without_it(tf):
    def trained(with_ev):
        with tf.Graph().as_default():
            w = tf.get_variable("w", initializer=np.arange(6, dtype=np.float32))
            table = tf.get_variable("table", initializer=pool("float32"))
            loss = tf.reduce_sum(tf.square(w)) + tf.cast(squares(tf, table, tf.constant([1, 1, 4])), tf.float32)
            if with_ev:
                loss += tf.cast(squares(tf, embedding_variable(tf), tf.constant([3, 4], tf.int64)), tf.float32)
            train = tf.train.AdamOptimizer(0.1).minimize(loss)
            with started(tf) as session:
                for _ in range(3):
                    session.run(train)
                return session.run([w, table])

    for got, want in zip(trained(True), trained(False)):
        np.testing.assert_array_equal(got, want)


# Values that DeepRec's tests publish.


def constant_gradient_training(tf, make_optimizer, ids, **kwargs):
    """The variable of ones, gradient 2 per occurrence, the lookup and the training op."""
    ev = embedding_variable(tf, np.ones((1, DIM)), **kwargs)
    rows = tf.nn.embedding_lookup(ev, ids)
    step = tf.train.get_or_create_global_step()
    return ev, rows, make_optimizer(step).minimize(2 * tf.reduce_sum(rows), global_step=step)


def test_adagrad_gives_the_published_values(tf):
    optimizer = tf.train.AdagradOptimizer(0.1)
    ev, _, train = constant_gradient_training(tf, lambda step: optimizer, tf.constant([5], tf.int64))
    with started(tf) as session:
        for row, accumulator in ((0.90122706, 4.1), (0.8309542, 8.1)):
            session.run(train)
            np.testing.assert_allclose(read(tf, session, ev, [5])[0], row, rtol=1e-6)
            np.testing.assert_allclose(
                read_slot(session, optimizer.get_slot(ev, "accumulator"), [5])[0], accumulator, rtol=1e-6
            )


@pytest.mark.parametrize("version", ["AdagradDecayOptimizer", "AdagradDecayOptimizerV2"])
@pytest.mark.parametrize("parts", [None, 4])
def test_adagrad_decay_gives_the_published_losses(tf, version, parts):
    _, rows, train = constant_gradient_training(
        tf,
        lambda step: getattr(tf.train, version)(0.1, step, accumulator_decay_step=2),
        tf.constant([0, 1, 2, 5, 6, 7], tf.int64),
        parts=parts,
    )
    loss = 2 * tf.reduce_sum(rows)
    with started(tf) as session:
        for want in (36, 32.444176, 29.847788, 27.74195, 25.852505):
            assert session.run(loss) == pytest.approx(want, rel=1e-6)
            session.run(train)


def test_ftrl_gives_the_published_values(tf):
    ev, _, train = constant_gradient_training(
        tf,
        lambda step: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=2.0, l2_regularization_strength=1e-5),
        tf.constant([0, 0, 0, 1, 1, 2], tf.int64),
    )
    with started(tf) as session:
        session.run(train)
        rows = read(tf, session, ev, [0, 1])
    np.testing.assert_allclose(rows, [[0.8282884] * 3, [0.7927219] * 3], rtol=1e-6)


@pytest.mark.parametrize("name", ROW_WISE)
def test_a_key_trains_from_its_admission_on(tf, name):
    """Filter of 3, one occurrence per step: the third step admits the key and is applied to it."""
    ev = embedding_variable(tf, filter_option=tf.CounterFilter(filter_freq=3))
    ids = tf.placeholder(tf.int64, [None])
    rows = tf.nn.embedding_lookup(ev, ids)
    # A constant gradient: a row that is not admitted reads as zeros.
    step = tf.train.get_or_create_global_step()
    train = OPTIMIZERS[name](tf, step).minimize(2 * tf.reduce_sum(rows), global_step=step)
    table = tf.get_variable("table", initializer=pool("float32"), use_resource=True)
    step_of_table = tf.get_variable("step_of_table", initializer=np.int64(0))
    of_table = OPTIMIZERS[name](tf, step_of_table)
    train_table = of_table.apply_gradients(
        [(tf.IndexedSlices(tf.fill([tf.size(ids), DIM], 2.0), ids), table)], global_step=step_of_table
    )
    with started(tf) as session:
        for seen in range(3):
            np.testing.assert_array_equal(session.run(rows, {ids: [4]}), [[NO_PERMISSION] * DIM])
            session.run(train, {ids: [4]})
            session.run(train_table, {ids: [4] if seen == 2 else []})
        got, want = session.run([rows, tf.gather(table, ids)], {ids: [4]})
        assert session.run(ev.get_frequency(tf.constant([4], tf.int64))).tolist() == [3]
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_filtered_keys_count_and_keep_their_versions(tf):
    """Filter of 3; the published shape, frequencies and versions."""
    ev = embedding_variable(tf, filter_option=tf.CounterFilter(filter_freq=3))
    ids = tf.placeholder(tf.int64, [None])
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdagradOptimizer(0.1).minimize(squares(tf, ev, ids), global_step=step)
    asked = tf.constant(list(range(1, 8)), tf.int64)
    with started(tf) as session:
        for keys in ([1, 2, 3], [1, 3, 5], [1, 5, 7]):
            session.run(train, {ids: keys})
        assert session.run(ev.get_dynamic_shape()).tolist() == [5, DIM]
        assert session.run(ev.get_frequency(asked)).tolist() == [3, 1, 2, 0, 2, 0, 1]
        assert session.run(ev.get_version(asked)).tolist() == [2, 0, 1, -1, 2, -1, 2]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_counts_every_occurrence_of_all_lookups(tf, name):
    ev = embedding_variable(tf)
    sparse = tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0]], [0, 0, 0, 1, 1, 2], [3, 3])
    sparse = tf.SparseTensor(sparse.indices, tf.cast(sparse.values, tf.int64), sparse.dense_shape)
    loss = tf.reduce_sum(tf.nn.embedding_lookup_sparse(ev, sparse, None, combiner="sum"))
    loss += tf.reduce_sum(tf.nn.embedding_lookup(ev, tf.constant([3, 3, 3, 4, 4, 1], tf.int64)))
    step = tf.train.get_or_create_global_step()
    train = OPTIMIZERS[name](tf, step).minimize(loss, global_step=step)
    asked = tf.constant(list(range(6)), tf.int64)
    with started(tf) as session:
        session.run(train)
        assert session.run(ev.get_frequency(asked)).tolist() == [3, 3, 1, 3, 2, 0]


def test_frequencies_add_up_over_steps(tf):
    ev = embedding_variable(tf)
    train = tf.train.AdagradOptimizer(0.1).minimize(squares(tf, ev, tf.constant([1, 1, 1, 2, 2, 3], tf.int64)))
    with started(tf) as session:
        for _ in range(2):
            session.run(train)
        assert session.run(ev.get_frequency(tf.constant([1, 2, 3], tf.int64))).tolist() == [6, 4, 2]


# Global step.


def versions_after(tf, make_optimizer, steps=2, **minimize):
    ev = embedding_variable(tf)
    train = make_optimizer().minimize(squares(tf, ev, tf.constant([1, 2], tf.int64)), **minimize)
    with started(tf) as session:
        for _ in range(steps):
            session.run(train)
        return session.run(ev.get_version(tf.constant([1, 2, 3], tf.int64))).tolist()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_keys_are_stamped_with_the_step_before_its_increment(tf, name):
    step = tf.train.get_or_create_global_step()
    expected = 2 if "Decay" in name else -1 if "Ftrl" in name else 1
    got = versions_after(tf, lambda: OPTIMIZERS[name](tf, step), global_step=step)
    assert got == [expected, expected, -1]


def test_another_counter_given_to_minimize_is_the_stamp(tf):
    tf.train.get_or_create_global_step()
    mine = tf.get_variable("mine", initializer=np.int32(40), trainable=False)
    assert versions_after(tf, lambda: tf.train.AdagradOptimizer(0.1), global_step=mine) == [41, 41, -1]


def test_the_graphs_global_step_is_the_stamp_where_none_is_given(tf):
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.AdagradOptimizer(0.1)
    ev = embedding_variable(tf)
    train = optimizer.minimize(squares(tf, ev, tf.constant([1], tf.int64)))
    with started(tf) as session:
        session.run(step.assign(17))
        session.run(train)
        assert session.run(ev.get_version(tf.constant([1], tf.int64))).tolist() == [17]


def test_without_a_global_step_keys_have_no_stamp(tf):
    assert versions_after(tf, lambda: tf.train.AdagradOptimizer(0.1)) == [-1, -1, -1]


# Slots.


@pytest.mark.parametrize("name", SLOTS)
def test_slots_are_named_and_shaped_as_deeprecs(tf, name):
    ev = embedding_variable(tf)
    step = tf.train.get_or_create_global_step()
    OPTIMIZERS[name](tf, step).minimize(squares(tf, ev, tf.constant([1], tf.int64)), global_step=step)
    columns, others = SLOTS[name]
    found = {v.op.name: v for v in tf.global_variables() if v is not ev and v is not step}
    assert set(found) == {f"ev/{slot}" for slot in columns} | set(others)
    for slot, dim in columns.items():
        assert found[f"ev/{slot}"].primary is ev and found[f"ev/{slot}"].shape.as_list() == [dim]


def test_slots_of_partitions_are_named_by_partition(tf):
    ev = embedding_variable(tf, parts=2)
    tf.train.AdamAsyncOptimizer(0.1).minimize(squares(tf, ev, tf.constant([1, 2], tf.int64)))
    names = {v.op.name for v in tf.global_variables()}
    assert names == {
        f"ev/part_{i}{s}" for i in range(2) for s in ("", *(f"/AdamAsync{k}" for k in ("", "_1", "_2", "_3")))
    }


def test_slots_are_created_with_the_key_from_their_defaults(tf):
    ev = embedding_variable(tf)
    optimizer = tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0.5)
    ids = tf.placeholder(tf.int64, [None])
    train = optimizer.apply_gradients([(tf.IndexedSlices(tf.zeros([1, DIM]), ids), ev)])
    slot = optimizer.get_slot(ev, "accumulator")
    with started(tf) as session:
        assert session.run(slot.total_count()).tolist() == [0, DIM]
        session.run(train, {ids: [6]})
        assert session.run([ev.total_count(), slot.total_count()])[1].tolist() == [1, DIM]
        np.testing.assert_array_equal(read_slot(session, slot, [6]), np.full((1, DIM), 0.5))
        np.testing.assert_allclose(read(tf, session, ev, [6])[0], pool()[6], rtol=1e-6)


def test_adam_async_counts_steps_of_the_variable(tf):
    ev = embedding_variable(tf)
    optimizer = tf.train.AdamAsyncOptimizer(0.1, beta1=0.75)
    ids = tf.placeholder(tf.int64, [None])
    train = optimizer.minimize(squares(tf, ev, ids))
    with started(tf) as session:
        for keys in ([1], [2, 2], []):
            session.run(train, {ids: keys})
        np.testing.assert_allclose(session.run(optimizer.get_slot(ev, "beta1_power")), [0.75**4], rtol=1e-6)


def test_adagrad_decay_catches_up_with_missed_periods(tf):
    ev = embedding_variable(tf)
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.AdagradDecayOptimizer(0.1, step, 1.0, 3, 0.5)
    ids = tf.placeholder(tf.int64, [None])
    scale = tf.placeholder(tf.float32, [])
    rows = tf.nn.embedding_lookup(ev, ids)
    train = optimizer.minimize(scale * tf.reduce_sum(rows), global_step=step)
    with started(tf) as session:
        session.run(train, {ids: [1, 2], scale: 8})
        for _ in range(10):
            session.run(train, {ids: [1], scale: 0})
        session.run(train, {ids: [2], scale: 0})
        accumulator = read_slot(session, optimizer.get_slot(ev, "accumulator"), [1, 2])
        power = read_slot(session, optimizer.get_slot(ev, "accumulator_decay_power"), [1, 2])
    # Key 2 sees step 12, of period 4; key 1 was last trained in step 11, of period 3.
    np.testing.assert_allclose(accumulator[:, 0], [65 / 2**3, 65 / 2**4])
    np.testing.assert_array_equal(power[:, 0], [3, 4])


@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("name", SLOTS)
def test_training_goes_on_after_a_restore_as_without(tf, name, sharded, tmp_path):
    ev = embedding_variable(tf, parts=2)
    ids = [tf.placeholder(tf.int64, [None]) for _ in range(2)]
    step = tf.train.get_or_create_global_step()
    train = OPTIMIZERS[name](tf, step).minimize(squares(tf, ev, *ids), global_step=step)
    saver = tf.train.Saver(sharded=sharded)

    def train_on(session, steps):
        for keys in steps:
            session.run(train, dict(zip(ids, keys)))
        return read(tf, session, ev, list(range(ROWS)))

    with started(tf) as session:
        train_on(session, STEPS[:4])
        saved = saver.save(session, str(tmp_path / "model"))
        want = train_on(session, STEPS[3:])
    with tf.Session() as session:
        saver.restore(session, saved)
        np.testing.assert_array_equal(train_on(session, STEPS[3:]), want)


# Gradients that are changed or joined on their way.


def test_nan_stays_in_its_key(tf):
    grad = tf.constant([[np.nan, 1, 1], [1, 1, 1]], tf.float32)
    for name in OPTIMIZERS:
        with tf.variable_scope(name.replace(" ", "")):
            ev = embedding_variable(tf, name="ev_nan")
        step = tf.train.get_or_create_global_step()
        train = OPTIMIZERS[name](tf, step).apply_gradients(
            [(tf.IndexedSlices(grad, tf.constant([1, 2], tf.int64)), ev)], global_step=step
        )
        with started(tf) as session:
            session.run(train)
            rows = read(tf, session, ev, [1, 2])
        # Ftrl's step is by the norm of the row.
        row = [True] * 3 if "Ftrl" in name else [True, False, False]
        assert np.isnan(rows).tolist() == [row, [False] * 3], name


def test_clipping_by_global_norm(tf):
    ids = tf.constant([3, 3, 5], tf.int64)
    ev = embedding_variable(tf)
    table = tf.get_variable("table", initializer=pool("float32"))
    optimizer = tf.train.AdagradOptimizer(0.1)
    grads, variables = zip(*optimizer.compute_gradients(squares(tf, ev, ids) + squares(tf, table, ids)))
    clipped, norm = tf.clip_by_global_norm(grads, 0.5)
    train = optimizer.apply_gradients(zip(clipped, variables))
    with started(tf) as session:
        assert session.run(norm) > 0.5
        session.run(train)
        np.testing.assert_allclose(read(tf, session, ev, [3, 5]), session.run(table)[[3, 5]], rtol=1e-6)


def test_gradients_of_two_losses_joined_by_hand(tf):
    ev = embedding_variable(tf)
    table = tf.get_variable("table", initializer=pool("float32"))

    def joined(variable):
        first, second = (
            tf.gradients(squares(tf, variable, tf.constant(ids, tf.int64)), variable)[0] for ids in ([3, 4, 4], [4, 5])
        )
        return tf.IndexedSlices(
            tf.concat([first.values, second.values], 0), tf.concat([first.indices, second.indices], 0)
        )

    train = tf.train.AdagradOptimizer(0.1).apply_gradients([(joined(v), v) for v in (ev, table)])
    with started(tf) as session:
        session.run(train)
        np.testing.assert_allclose(read(tf, session, ev, [3, 4, 5]), session.run(table)[[3, 4, 5]], rtol=1e-6)
        assert session.run(ev.get_frequency(tf.constant([3, 4, 5], tf.int64))).tolist() == [1, 3, 1]


@pytest.mark.parametrize("kind", ["fixed", "dynamic"])
def test_loss_scale_optimizer(tf, kind):
    ids = tf.constant([3, 3, 5], tf.int64)
    ev = embedding_variable(tf)
    table = tf.get_variable("table", initializer=pool("float32"))
    experimental = tf.train.experimental
    scale = experimental.FixedLossScale(8.0) if kind == "fixed" else experimental.DynamicLossScale(8.0)
    optimizer = experimental.MixedPrecisionLossScaleOptimizer(tf.train.AdagradOptimizer(0.1), scale)
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(squares(tf, ev, ids) + squares(tf, table, ids), global_step=step)
    with started(tf) as session:
        for _ in range(2):
            session.run(train)
        np.testing.assert_allclose(read(tf, session, ev, [3, 5]), session.run(table)[[3, 5]], rtol=1e-6)
        assert session.run(ev.get_version(tf.constant([3], tf.int64))).tolist() == [1]


@pytest.mark.parametrize("key_dtype, parts", [("int64", None), ("int32", 2)])
def test_sync_replicas_optimizer(tf, key_dtype, parts):
    """Two gradients are averaged into one step, each fed by a run of its own."""
    ids, scale = tf.placeholder(key_dtype, [None]), tf.placeholder(tf.float32, [])
    ev = embedding_variable(tf, key_dtype=tf.as_dtype(key_dtype), parts=parts)
    rows = tf.nn.embedding_lookup(ev, ids)
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(1.0), replicas_to_aggregate=2, total_num_replicas=1
    )
    train = optimizer.minimize(scale * tf.reduce_sum(rows), global_step=step)
    hook = optimizer.make_session_run_hook(is_chief=True)
    with tf.train.MonitoredTrainingSession(hooks=[hook], stop_grace_period_secs=1) as session:
        for keys, factor in (([1, 2], 1), ([2, 3], 2)):
            session.run(train, {ids: keys, scale: factor})
        deadline = time.monotonic() + 60
        while session.run(step) == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        got = session.run(rows, {ids: [1, 2, 3, 4]})
    # A row's gradient is the average of those that have it.
    moved = pool()[[1, 2, 3, 4]] - got
    np.testing.assert_allclose(moved[:, 0], [1, 1.5, 2, 0], atol=1e-5)


def test_optimize_loss(tf):
    ids = tf.constant([3, 3, 5], tf.int64)
    ev = embedding_variable(tf)
    table = tf.get_variable("table", initializer=pool("float32"))
    loss = tf.cast(squares(tf, ev, ids) + squares(tf, table, ids), tf.float32)
    train = tf.contrib.layers.optimize_loss(
        loss,
        tf.train.get_or_create_global_step(),
        0.1,
        "Adagrad",
        clip_gradients=1.0,
        summaries=["loss", "gradients", "gradient_norm", "global_gradient_norm"],
    )
    with started(tf) as session:
        session.run([train, tf.summary.merge_all()])
        np.testing.assert_allclose(read(tf, session, ev, [3, 5]), session.run(table)[[3, 5]], rtol=1e-6)


def test_weight_decay_of_chosen_variables(tf):
    evs = {name: embedding_variable(tf, np.ones((1, DIM)), name=name) for name in ("a", "b")}
    optimizer = tf.train.AdamWOptimizer(0.25, learning_rate=0.0)
    loss = squares(tf, evs["a"], tf.constant([1, 1], tf.int64)) + squares(tf, evs["b"], tf.constant([1], tf.int64))
    train = optimizer.minimize(loss, decay_var_list=[evs["a"]])
    with started(tf) as session:
        session.run(train)
        assert read(tf, session, evs["a"], [1, 2])[:, 0].tolist() == [0.75, 1]
        assert read(tf, session, evs["b"], [1])[0, 0] == 1


# What is refused.


def apply_to_ev(tf, optimizer, grad=None):
    ev = embedding_variable(tf)
    grad = tf.IndexedSlices(tf.ones([1, DIM]), tf.constant([1], tf.int64)) if grad is None else grad
    return optimizer.apply_gradients([(grad, ev)])


@pytest.mark.parametrize(
    "make",
    [
        lambda tf: tf.train.AdadeltaOptimizer(),
        lambda tf: tf.train.ProximalAdagradOptimizer(0.1),
        lambda tf: tf.contrib.opt.LARSOptimizer(0.1),
        lambda tf: tf.contrib.opt.NadamOptimizer(0.1),
        lambda tf: tf.train.RMSPropOptimizer(0.1, centered=True),
        lambda tf: tf.contrib.opt.MomentumWOptimizer(0.1, 0.1, 0.9),
    ],
)
def test_optimizers_without_a_step_say_so(tf, make):
    with pytest.raises(NotImplementedError, match=r"EmbeddingVariables \(here: ev:0\)"):
        apply_to_ev(tf, make(tf))


def test_a_users_optimizer_gets_the_list_of_those_that_work(tf):
    class Mine(tf.train.Optimizer):
        def __init__(self):
            super().__init__(False, "Mine")

        def _resource_apply_sparse(self, grad, handle, indices):
            raise AssertionError("must not be called")

    with pytest.raises(NotImplementedError, match="Mine does not train.*These do: GradientDescent, .*RMSProp"):
        apply_to_ev(tf, Mine())


def test_a_subclass_with_another_formula_does_not_pass_for_its_base(tf):
    class Mine(tf.train.AdagradOptimizer):
        def _resource_apply_sparse(self, grad, handle, indices):
            return super()._resource_apply_sparse(-grad, handle, indices)

    with pytest.raises(NotImplementedError, match=r"Mine does not.*AdagradOptimizer's step.*\(Mine\)"):
        apply_to_ev(tf, Mine(0.1))


def test_a_subclass_that_leaves_the_formula_alone_works(tf):
    class Mine(tf.train.AdagradOptimizer):
        def apply_gradients(self, grads_and_vars, *args, **kwargs):
            return super().apply_gradients([(g, v) for g, v in grads_and_vars if g is not None], *args, **kwargs)

    with tf.Graph().as_default():
        train = apply_to_ev(tf, Mine(0.1))
        with started(tf) as session:
            session.run(train)


def test_a_users_optimizer_may_have_a_step_of_its_own(tf):
    class Mine(tf.train.GradientDescentOptimizer):
        def _apply_to_embedding_variable(self, var, grad, indices):
            return super()._apply_to_embedding_variable(var, -grad, indices)

    ev = embedding_variable(tf, np.ones((1, DIM)))
    train = Mine(0.5).apply_gradients([(tf.IndexedSlices(tf.ones([1, DIM]), tf.constant([1], tf.int64)), ev)])
    with started(tf) as session:
        session.run(train)
        np.testing.assert_array_equal(read(tf, session, ev, [1]), [[1.5] * DIM])


def test_moving_averages_are_refused(tf):
    embedding_variable(tf)
    with pytest.raises(NotImplementedError, match="ev:0 has no value as a whole"):
        tf.train.ExponentialMovingAverage(0.9).apply(tf.trainable_variables())


def test_dense_gradients_are_refused(tf):
    with pytest.raises(ValueError, match="gradient of EmbeddingVariable ev:0 must be tf.IndexedSlices"):
        apply_to_ev(tf, tf.train.AdagradOptimizer(0.1), tf.ones([1, DIM]))


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("shape, keys", [((2, DIM), [1]), ((1, DIM + 1), [1]), ((DIM,), [1]), ((1, 1, DIM), [1])])
def test_gradients_of_another_shape_are_refused(tf, name, shape, keys):
    step = tf.train.get_or_create_global_step()
    values, indices = tf.placeholder(tf.float32), tf.placeholder(tf.int64)
    ev = embedding_variable(tf)
    train = OPTIMIZERS[name](tf, step).apply_gradients([(tf.IndexedSlices(values, indices), ev)])
    with started(tf) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"grad must have shape \[1,{DIM}\].*ev.*, got \["):
            session.run(train, {values: np.ones(shape), indices: keys})
        assert session.run(ev.total_count()).tolist() == [0, DIM]


def test_indices_of_another_rank_are_refused(tf):
    values, indices = tf.placeholder(tf.float32), tf.placeholder(tf.int64)
    train = apply_to_ev(tf, tf.train.AdagradOptimizer(0.1), tf.IndexedSlices(values, indices))
    with started(tf) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices must be a vector.*got shape \[1,1\]"):
            session.run(train, {values: np.ones((1, DIM)), indices: [[1]]})


def test_known_shapes_are_checked_when_the_graph_is_made(tf):
    with pytest.raises(ValueError, match="Dimensions must be equal"):
        apply_to_ev(tf, tf.train.AdagradOptimizer(0.1), tf.IndexedSlices(tf.ones([2, DIM]), tf.constant([1], tf.int64)))


def test_a_step_before_initialization_is_refused(tf):
    train = apply_to_ev(tf, tf.train.AdagradOptimizer(0.1))
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="ev.*not.*initialized"):
            session.run(train)
