import modes
import numpy as np
import pytest
import tensorflow as tf
from batches import Batch
from tensorflow.python.eager import context

_KEYS, _DIM, _STEPS = 30, 4, 5
_KERAS = tf.compat.v1.keras.optimizers if hasattr(tf, "Session") else tf.keras.optimizers.legacy


def _legacy(name, **kwargs):
    import tf_keras.src.optimizers.legacy as legacy

    module = {"SGD": "gradient_descent"}.get(name, name.lower())
    return getattr(__import__(f"{legacy.__name__}.{module}", fromlist=[name]), name)(**kwargs)


_OPTIMIZERS = {
    "sgd": lambda: _legacy("SGD", learning_rate=0.1),
    "momentum": lambda: _legacy("SGD", learning_rate=0.1, momentum=0.9),
    "adam": lambda: _legacy("Adam", learning_rate=0.1),
    "adamax": lambda: _legacy("Adamax", learning_rate=0.1),
    "adadelta": lambda: _legacy("Adadelta", learning_rate=1.0),
    "adagrad": lambda: _legacy("Adagrad", learning_rate=0.1),
    "ftrl": lambda: _legacy("Ftrl", learning_rate=0.1),
    "train.adam": lambda: tf.compat.v1.train.AdamOptimizer(0.1),
    "train.adagrad": lambda: tf.compat.v1.train.AdagradOptimizer(0.1),
    "train.momentum": lambda: tf.compat.v1.train.MomentumOptimizer(0.1, 0.9),
    "train.ftrl": lambda: tf.compat.v1.train.FtrlOptimizer(0.1),
    "train.sgd": lambda: tf.compat.v1.train.GradientDescentOptimizer(0.1),
}


@pytest.mark.parametrize("name", sorted(_OPTIMIZERS))
@pytest.mark.parametrize("mode", modes.MODES)
def test_dynamic_rows_train_as_those_of_a_variable_that_has_gradients_for_all(sok, mode, name):
    # Each batch has every key, so a lazy step is a dense one.
    random = np.random.default_rng(5)
    rows = [random.permutation(_KEYS).tolist() + random.integers(0, _KEYS, 9).tolist()]
    batch = Batch(rows)
    start = random.standard_normal([_KEYS, _DIM]).astype(np.float32)
    scale = random.standard_normal([1, _DIM]).astype(np.float32)

    def train(is_dynamic):
        def setup():
            if is_dynamic:
                table = sok.DynamicVariable(_DIM, initializer="zeros")
                filled = table.insert(np.arange(_KEYS), start)
                optimizer = sok.OptimizerWrapper(_OPTIMIZERS[name]())
                if mode == "function":
                    optimizer.create_slots([table])
                return table, optimizer, filled
            return tf.compat.v1.Variable(start, use_resource=True), _OPTIMIZERS[name](), None

        def step(made):
            table, optimizer, _ = made

            def loss():
                if is_dynamic:
                    combined = sok.lookup_sparse(table, batch.ids(), combiners="sum")
                else:
                    combined = tf.nn.embedding_lookup_sparse(table, batch.ids(), None, combiner="sum")
                return tf.reduce_sum(tf.square(combined * scale))

            (gradient,) = modes.dense_gradients(loss, [table])
            return optimizer.apply_gradients([(gradient, table)])

        if mode == "session":
            with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
                made = setup()
                op = step(made)
                sess.run(tf.compat.v1.global_variables_initializer())
                if is_dynamic:
                    sess.run(made[2])
                for _ in range(_STEPS):
                    sess.run(op)
                return sess.run(sok.export(made[0])[1] if is_dynamic else made[0])
        with context.eager_mode():
            made = setup()
            call = tf.function(lambda: step(made) and None) if mode == "function" else lambda: step(made)
            for _ in range(_STEPS):
                call()
            return (sok.export(made[0])[1] if is_dynamic else tf.convert_to_tensor(made[0])).numpy()

    np.testing.assert_allclose(train(True), train(False), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("mode", modes.MODES)
def test_rows_without_gradients_do_not_move_and_slots_hold_trained_keys_only(sok, mode):
    def setup():
        return sok.DynamicVariable(2, initializer="1"), sok.OptimizerWrapper(_OPTIMIZERS["adam"]())

    def step(made):
        table, optimizer = made
        read = table.sparse_read(tf.constant([1, 2, 3], tf.int64))
        gradient = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([2, 2], tf.int64))
        with tf.control_dependencies([read] if mode == "session" else []):
            return optimizer.apply_gradients([(gradient, table)])

    _, ((keys, rows), (slot_keys, slot_rows)) = modes.run(
        mode, setup, step, lambda made: (sok.export(made[0]), sok.export(made[1].get_slot(made[0], "m"))), steps=2
    )
    assert keys.tolist() == [1, 2, 3]
    np.testing.assert_allclose(rows[:, 0], [1, 0.8, 1], rtol=1e-5)
    assert slot_keys.tolist() == [2]
    np.testing.assert_allclose(slot_rows[0], [0.38, 0.38], rtol=1e-5)


@pytest.mark.parametrize("mode", modes.MODES)
def test_sgd_of_the_library_trains_tables_and_other_variables(sok, mode):
    def setup():
        return (
            sok.Variable(np.ones([5, 1], np.float32)),
            sok.DynamicVariable(1, initializer="1"),
            tf.compat.v1.Variable([1.0], use_resource=True),
            sok.SGD(0.5),
        )

    def step(made):
        slices = tf.IndexedSlices(
            tf.constant([[1.0], [1.0]]), tf.constant([2, 2], tf.int64), tf.constant([5, 1], tf.int64)
        )
        pairs = [(slices, made[0]), (slices, made[1]), (tf.constant([2.0]), made[2]), (None, made[0])]
        return made[3].apply_gradients(pairs)

    def final(made):
        return tf.convert_to_tensor(made[0]), sok.export(made[1]), tf.convert_to_tensor(made[2])

    _, (static, (keys, rows), other) = modes.run(mode, setup, step, final)
    assert static[:, 0].tolist() == [1, 1, 0, 1, 1]
    assert keys.tolist() == [2] and rows.tolist() == [[0]] and other.tolist() == [0]


@pytest.fixture
def eager():
    with context.eager_mode():
        yield


def test_all_variables_take_one_step_together(sok, eager):
    tables = [sok.DynamicVariable(1), sok.DynamicVariable(2)]
    other = sok.Variable(np.ones([3, 1], np.float32))
    optimizer = sok.OptimizerWrapper(_OPTIMIZERS["adam"]())
    keys = tf.constant([1], tf.int64)
    pairs = [(tf.IndexedSlices(tf.ones([1, t.shape[-1]]), keys), t) for t in tables]
    pairs.append((tf.IndexedSlices(tf.ones([1, 1]), keys, tf.constant([3, 1], tf.int64)), other))
    optimizer.apply_gradients(pairs)
    assert int(optimizer.iterations) == 1
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.get_slot(other, "m").shape == (3, 1)
    np.testing.assert_allclose(other.numpy()[:, 0], [1, 0.9, 1], rtol=1e-5)


def test_the_learning_rate_can_be_set(sok, eager):
    optimizer = sok.OptimizerWrapper(_OPTIMIZERS["sgd"]())
    optimizer.lr = 2.0
    assert float(optimizer.lr) == 2
    table = sok.DynamicVariable(1, initializer="zeros")
    optimizer.apply_gradients([(tf.IndexedSlices(tf.ones([1, 1]), tf.constant([1], tf.int64)), table)])
    np.testing.assert_array_equal(table.sparse_read([1]), [[-2]])
    plain = sok.SGD(1.0)
    plain.lr = 3.0
    assert float(plain.lr) == 3


def test_what_does_not_fit_is_named(sok, eager):
    with pytest.raises(TypeError, match="legacy"):
        sok.OptimizerWrapper("adam")
    import tf_keras

    with pytest.raises(TypeError, match="legacy"):
        sok.OptimizerWrapper(tf_keras.src.optimizers.adam.Adam())
    optimizer, table = sok.OptimizerWrapper(_OPTIMIZERS["sgd"]()), sok.DynamicVariable(1)
    with pytest.raises(TypeError, match="IndexedSlices"):
        optimizer.apply_gradients([(tf.ones([1, 1]), table)])
    with pytest.raises(ValueError, match="no gradient"):
        optimizer.apply_gradients([(None, table)])
    with pytest.raises(ValueError, match="global_step"):
        optimizer.apply_gradients([(tf.IndexedSlices(tf.ones([1, 1]), [1]), table)], global_step=tf.Variable(1))


def test_two_gradients_of_one_dynamic_table_are_refused(sok, eager):
    table = sok.DynamicVariable(1, initializer="ones", name="twice")
    optimizer = sok.OptimizerWrapper(_legacy("SGD", learning_rate=1.0))
    pairs = [(tf.IndexedSlices(tf.ones([len(keys), 1]), keys), table) for keys in ([1, 2], [7, 2, 3])]
    with pytest.raises(ValueError, match="one gradient of twice:0, got several"):
        optimizer.apply_gradients(pairs)
    assert not len(sok.export(table)[0])


@pytest.mark.parametrize("width", [0, 1, 2, 4])
@pytest.mark.parametrize("known", [True, False])
def test_a_gradient_of_another_width_is_refused(sok, eager, width, known):
    table = sok.DynamicVariable(3, initializer="ones", name="three_wide")
    optimizer = sok.OptimizerWrapper(_legacy("SGD", learning_rate=1.0))
    table.sparse_read(tf.constant([5], tf.int64))
    shape = [1, width] if known else [None, None]

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32)])
    def step(rows):
        optimizer.apply_gradients([(tf.IndexedSlices(rows, tf.constant([5], tf.int64)), table)])

    error = ValueError if known else tf.errors.InvalidArgumentError
    with pytest.raises(error, match="gradient.of.three_wide"):
        step(tf.ones([1, width]))
    np.testing.assert_array_equal(table.sparse_read(tf.constant([5], tf.int64)), np.ones([1, 3]))


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_optimizers_of_keras_take_static_tables_as_they_are(sok, eager, name):
    import tf_keras

    for cls in (getattr(tf_keras.optimizers.legacy, name, None), getattr(tf_keras.src.optimizers, name, None)):
        if cls is None:
            continue
        table = sok.Variable(np.ones([3, 1], np.float32))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(sok.lookup_sparse(table, Batch([[1]]).ids(np.int32)))
        cls(learning_rate=0.5).apply_gradients([(tape.gradient(loss, table), table)])
        np.testing.assert_allclose(table.numpy()[:, 0], [1, 0.5, 1], rtol=1e-5)


@pytest.mark.parametrize("mode", modes.MODES)
def test_gradients_of_two_lookups_of_one_table_add_up(sok, mode):
    batches = [Batch([[1, 2, 2]]), Batch([[2, 3]])]

    def setup():
        table, optimizer = (
            sok.DynamicVariable(1, initializer="ones"),
            sok.OptimizerWrapper(_legacy("SGD", learning_rate=1.0)),
        )
        optimizer.create_slots([table])
        return table, optimizer

    def step(made):
        def loss():
            return tf.add_n([tf.reduce_sum(sok.lookup_sparse(made[0], b.ids(), combiners="sum")) for b in batches])

        return made[1].apply_gradients(zip(modes.dense_gradients(loss, [made[0]]), [made[0]]))

    _, (keys, rows) = modes.run(mode, setup, step, lambda made: sok.export(made[0]))
    assert dict(zip(keys.tolist(), rows[:, 0].tolist())) == {1: 0, 2: -2, 3: 0}
