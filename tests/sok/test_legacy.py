import json
import os
import pathlib
import subprocess
import sys

import horovod_runs
import legacy_training
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context

_PROGRAM = str(pathlib.Path(__file__).with_name("legacy_training.py"))


@pytest.fixture
def sok():
    import sparse_operation_kit

    with context.eager_mode():
        sparse_operation_kit.Init(global_batch_size=8, seed=3)
        yield sparse_operation_kit


def _layer(sok, **kwargs):
    return sok.All2AllDenseEmbedding(4, 2, 1, 2, embedding_initializer="ones", **kwargs)


def test_keys_get_rows_in_the_order_in_which_training_sees_them(sok):
    layer = sok.All2AllDenseEmbedding(4, 2, 1, 2)
    table = layer.embedding_variable.numpy()
    rows = layer(tf.constant([[[70, -5]], [[70, 9]]], tf.int64), training=True)
    np.testing.assert_array_equal(rows, table[[[[0, 1]], [[0, 2]]]])
    assert np.abs(table).max() <= 0.05 and len(np.unique(table)) == 8


def test_unknown_keys_read_zero_when_not_training(sok):
    layer = _layer(sok)
    layer(tf.constant([[[5, 5]]]), training=True)
    np.testing.assert_array_equal(layer(tf.constant([[[5, 6]]]), training=False), [[[[1, 1], [0, 0]]]])
    np.testing.assert_array_equal(layer(tf.constant([[[6, 6]]]), training=tf.constant(True)), np.ones([1, 1, 2, 2]))


def test_more_keys_than_rows_are_an_error_that_names_the_layer(sok):
    layer = _layer(sok, name="small")
    with pytest.raises(tf.errors.ResourceExhaustedError, match="layer small has room for 4 different keys"):
        layer(tf.constant([[[1, 2]], [[3, 4]], [[5, 5]]]), training=True)
    layer(tf.constant([[[7, 8]], [[9, 10]]]), training=True)


def test_without_a_hash_table_keys_are_row_numbers(sok):
    layer = sok.All2AllDenseEmbedding(4, 2, 1, 2, use_hashtable=False)
    table = layer.embedding_variable.numpy()
    np.testing.assert_array_equal(layer(tf.constant([[[3, 0]]])), [[table[[3, 0]]]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must be in \[0, 4\)"):
        layer(tf.constant([[[4, 0]]]))


def test_dynamic_input_is_a_vector(sok):
    layer = _layer(sok, dynamic_input=True)
    assert layer(tf.constant([1, 2, 1])).shape == (3, 2)
    assert layer(tf.constant([], tf.int64)).shape == (0, 2)


@pytest.mark.parametrize("combiner, expected", [("Sum", [3, 0, 1]), ("mean", [1, 0, 1])])
def test_distributed_embedding_combines_by_slot(sok, combiner, expected):
    layer = sok.DistributedEmbedding(combiner, 8, 2, 3, 4, embedding_initializer="ones")
    inputs = tf.SparseTensor([[0, 0], [0, 1], [0, 2], [2, 1]], [5, 6, 5, 7], [3, 4])
    np.testing.assert_array_equal(layer(inputs), [[[x, x] for x in expected]])


def test_seeds_give_the_same_initial_rows(sok):
    from sparse_operation_kit.legacy import table

    def made():
        sok.Init(global_batch_size=8, seed=5)
        table._numbers = iter([0])
        return sok.All2AllDenseEmbedding(4, 2, 1, 2).embedding_variable.numpy()

    before = table._numbers
    first, second = made(), made()
    table._numbers = before
    np.testing.assert_array_equal(first, second)


def test_a_functional_model_has_static_shapes_and_lists_the_variable(sok):
    inputs = tf.keras.Input(type_spec=tf.TensorSpec((None, 1, 2), tf.int64))
    layer = _layer(sok)
    rows = layer(inputs)
    assert rows.shape.as_list() == [None, 1, 2, 2]
    outputs = tf.keras.layers.Dense(1)(tf.keras.layers.Reshape([4])(rows))
    model = tf.keras.Model(inputs, outputs)
    tables, others = sok.split_embedding_variable_from_others(model.trainable_variables)
    assert len(tables) == 1 and tables[0] is layer.embedding_variable and len(others) == 2
    assert model(tf.constant([[[1, 2]]], tf.int64)).shape == (1, 1)


def test_dense_adam_moves_rows_without_gradients_too(sok):
    layer = sok.All2AllDenseEmbedding(3, 1, 1, 1, use_hashtable=False, embedding_initializer="zeros")
    variable, optimizer = layer.embedding_variable, sok.optimizers.Adam(0.1, beta_1=0.8, beta_2=0.9, epsilon=1e-3)
    w, m, v = np.zeros(3), np.zeros(3), np.zeros(3)
    for t, (rows, values) in enumerate([([0, 0], [1.0, 2.0]), ([1], [5.0]), ([2], [-1.0])], 1):
        slices = tf.IndexedSlices(
            tf.constant(values)[:, None], tf.constant(rows, tf.int64), tf.constant([3, 1], tf.int64)
        )
        optimizer.apply_gradients([(slices, variable), (None, variable)])
        g = np.bincount(rows, values, 3)
        m, v = 0.8 * m + 0.2 * g, 0.9 * v + 0.1 * g * g
        w -= 0.1 * np.sqrt(1 - 0.9**t) / (1 - 0.8**t) * m / (np.sqrt(v) + 1e-3)
    np.testing.assert_allclose(variable.numpy()[:, 0], w, rtol=1e-5)
    with pytest.raises(ValueError, match="embedding variables of layers alone"):
        optimizer.apply_gradients([(slices, tf.compat.v1.Variable([[1.0]], use_resource=True))])


def test_lazy_adam_leaves_other_rows_and_their_moments(sok):
    with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        variable = tf.compat.v1.Variable(np.zeros([3, 1], np.float32), use_resource=True)
        optimizer = sok.tf.keras.optimizers.LazyAdamOptimizer(0.1)
        rows = tf.compat.v1.placeholder(tf.int64, [None])
        slices = tf.IndexedSlices(tf.ones([tf.size(rows), 1]), rows, tf.constant([3, 1], tf.int64))
        step = optimizer.apply_gradients([(slices, variable)])
        sess.run(tf.compat.v1.global_variables_initializer())
        sess.run(step, {rows: [0, 0]})
        first = sess.run(variable)
        sess.run(step, {rows: [1]})
        second, moments = sess.run([variable, optimizer.get_slot(variable, "m")])
    assert first[0] == second[0] and second[1] != 0 and second[2] == 0
    np.testing.assert_allclose(moments[:, 0], [0.2, 0.1, 0], rtol=1e-5)


@pytest.mark.parametrize("key_dtype, width", [(None, np.int64), ("uint32", np.uint32)])
def test_files_are_raw_keys_and_rows(sok, tmp_path, key_dtype, width):
    layer = sok.All2AllDenseEmbedding(4, 2, 1, 2, key_dtype=key_dtype, name="files")
    rows = layer(tf.constant([[[70, 9]]]), training=True)
    assert sok.Saver().dump_to_file(layer.embedding_variable, str(tmp_path / "new")).numpy() == b"OK"
    stem = str(tmp_path / "new" / "files_EmbeddingVariable")
    assert np.fromfile(f"{stem}_keys.file", width).tolist() == [70, 9]
    np.testing.assert_array_equal(np.fromfile(f"{stem}_values.file", np.float32), rows.numpy().ravel())
    layer(tf.constant([[[1, 2]]]), training=True)
    layer.embedding_variable.assign(np.zeros([4, 2]))
    assert sok.Saver().restore_from_file(layer.embedding_variable, str(tmp_path / "new")).numpy() == b"OK"
    np.testing.assert_array_equal(layer(tf.constant([[[70, 9]]]), training=False), rows)
    np.testing.assert_array_equal(layer(tf.constant([[[1, 2]]]), training=False), np.zeros([1, 1, 2, 2]))


def test_layers_of_one_name_in_a_graph_have_keys_and_files_of_their_own(sok, tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        init = sok.Init(global_batch_size=8)
        layers = [_layer(sok, name="same") for _ in range(2)]
        rows = [layer(tf.constant([[keys]], tf.int64), training=True) for layer, keys in zip(layers, ([5, 6], [7, 8]))]
        sess.run(init)
        sess.run(tf.compat.v1.global_variables_initializer())
        sess.run(rows)
        sess.run([sok.Saver().dump_to_file(layer.embedding_variable, str(tmp_path)) for layer in layers])
    keys = [np.fromfile(path, np.int64).tolist() for path in sorted(tmp_path.glob("*_keys.file"))]
    assert sorted(sorted(of_layer) for of_layer in keys) == [[5, 6], [7, 8]]


def test_a_second_layer_of_a_name_does_not_overwrite_the_files_of_the_first(sok, tmp_path):
    first, second, saver = _layer(sok, name="same"), _layer(sok, name="same"), sok.Saver()
    for _ in range(2):
        saver.dump_to_file(first.embedding_variable, str(tmp_path))
    with pytest.raises(
        ValueError, match="same_EmbeddingVariable_keys.file has the keys of another layer of the name same"
    ):
        saver.dump_to_file(second.embedding_variable, str(tmp_path))
    # One that takes the place of another is no such layer.
    del first
    saver.dump_to_file(second.embedding_variable, str(tmp_path))


@pytest.mark.parametrize("done", range(5))
def test_a_dump_that_is_cut_short_leaves_the_earlier_one_or_none(sok, tmp_path, interrupt_files, done):
    layer, saver, folder = _layer(sok, name="cut"), sok.Saver(), str(tmp_path)
    layer(tf.constant([[[70, 9]]]), training=True)
    saver.dump_to_file(layer.embedding_variable, folder)
    layer(tf.constant([[[1, 2]]]), training=True)
    layer.embedding_variable.assign(np.full([4, 2], 5.0))
    saver.load_embedding_values(layer.embedding_variable, np.full([2, 2], 5, np.float32))
    interrupt_files(done)
    try:
        saver.dump_to_file(layer.embedding_variable, folder)
    except BaseException:
        assert done < 3
    try:
        saver.restore_from_file(layer.embedding_variable, folder)
    except FileNotFoundError as e:
        assert done in (1, 2) and "a dump was cut short" in str(e)
        return
    keys = [0, 1] if done > 2 else [70, 9]
    assert layer(tf.constant([[keys]]), training=False).numpy().ravel().tolist() == [5.0 if done > 2 else 1.0] * 4


def test_files_that_do_not_fit_are_named(sok, tmp_path):
    layer, saver = _layer(sok, name="files"), sok.Saver()
    with pytest.raises(FileNotFoundError, match="there is no .*files_EmbeddingVariable"):
        saver.restore_from_file(layer.embedding_variable, str(tmp_path))
    np.arange(2).tofile(tmp_path / "files_EmbeddingVariable_keys.file")
    np.zeros(5, np.float32).tofile(tmp_path / "files_EmbeddingVariable_values.file")
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="no multiple of 2"):
        saver.restore_from_file(layer.embedding_variable, str(tmp_path))
    np.zeros(6, np.float32).tofile(tmp_path / "files_EmbeddingVariable_values.file")
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="not 4 or 8 for each of the 3 rows"):
        saver.restore_from_file(layer.embedding_variable, str(tmp_path))
    with pytest.raises(tf.errors.InvalidArgumentError, match="too few for the keys"):
        saver.load_embedding_values(layer.embedding_variable, np.zeros([5, 2], np.float32))
    with pytest.raises(ValueError, match=r"tensors must be one of shape \[n, 2\], or a list of such, got \[\]"):
        saver.load_embedding_values(layer.embedding_variable, [])
    with pytest.raises(ValueError, match="must be that of an embedding layer"):
        saver.dump_to_file(tf.compat.v1.Variable(1.0, use_resource=True), str(tmp_path))


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda sok: sok.Init(), TypeError, "global_batch_size"),
        (lambda sok: sok.Init(global_batch_size=0), ValueError, "got 0"),
        (lambda sok: sok.Init(global_batch_size=8, sed=1), TypeError, "sed"),
        (lambda sok: sok.Init(global_batch_size=8.0), TypeError, "got 8.0"),
        (lambda sok: sok.split_embedding_variable_from_others(1), ValueError, "list or tuple"),
        (lambda sok: sok.OptimizerScope(1), RuntimeError, "list or tuple"),
        (lambda sok: sok.All2AllDenseEmbedding(0, 2, 1, 2), ValueError, "max_vocabulary_size_per_gpu .* got 0"),
        (lambda sok: sok.All2AllDenseEmbedding(4, 2, 1, 2, key_dtype=tf.float32), ValueError, "got float32"),
        (lambda sok: sok.DistributedEmbedding("max", 4, 2, 1, 2), ValueError, "got 'max'"),
        (lambda sok: _layer(sok)(tf.constant([[[1.0, 2.0]]])), TypeError, "got float32"),
        (lambda sok: _layer(sok)(tf.constant([[1, 2]])), ValueError, "must have shape"),
        (lambda sok: sok.DistributedEmbedding("sum", 4, 2, 1, 2)(tf.constant([[1]])), TypeError, "SparseTensor"),
        (
            lambda sok: sok.DistributedEmbedding("sum", 4, 2, 1, 1)(tf.SparseTensor([[0, 0], [0, 1]], [1, 2], [1, 2])),
            tf.errors.InvalidArgumentError,
            "max_nnz, 1",
        ),
        (
            lambda sok: sok.DistributedEmbedding("sum", 4, 2, 2, 1)(tf.SparseTensor([[0, 0]], [1], [3, 1])),
            tf.errors.InvalidArgumentError,
            "slot_num, 2, rows for each sample",
        ),
        (lambda sok: sok.optimizers.Adam(beta_1=1), ValueError, "beta_1"),
        (lambda sok: sok.optimizers.Adam(decay=1), TypeError, "decay"),
    ],
)
def test_what_does_not_fit_is_named(sok, call, error, text):
    with pytest.raises(error, match=text):
        call(sok)


def test_numbers_of_numpy_are_taken(sok):
    sok.Init(global_batch_size=np.int64(8))
    two = np.int64(2)
    assert sok.All2AllDenseEmbedding(two, two, two, two)(np.ones([1, 2, 2], np.int64)).shape == [1, 2, 2, 2]


def test_layers_are_got_by_name_in_a_graph(sok):
    with tf.Graph().as_default():
        sok.Init(global_batch_size=8)
        first = sok.get_embedding("a", sok.All2AllDenseEmbedding, **dict(zip(_ARGUMENTS, (4, 2, 1, 2))))
        assert sok.get_embedding("a") is first
        with pytest.raises(ValueError, match="no embedding layer 'b'"):
            sok.get_embedding("b")


_ARGUMENTS = ("max_vocabulary_size_per_gpu", "embedding_vec_size", "slot_num", "nnz_per_slot")


def test_variables_of_a_graph_need_the_op_of_init_first(sok):
    with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        sok.Init(global_batch_size=8)
        sok.All2AllDenseEmbedding(4, 2, 1, 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="must run before the initializers"):
            sess.run(tf.compat.v1.global_variables_initializer())


def _compare(folder, rtol=1e-6):
    """With plain TensorFlow's training of the whole batch."""
    with context.eager_mode():
        first, second, weights = legacy_training.reference()
    for name, expected in (("first", first), ("second", second)):
        stem = os.path.join(folder, f"{name}_EmbeddingVariable")
        keys = np.fromfile(f"{stem}_keys.file", np.int64)
        rows = np.fromfile(f"{stem}_values.file", np.float32).reshape(-1, legacy_training.DIM)
        known = keys < legacy_training.KEYS
        assert sorted(keys[known].tolist()) == list(range(legacy_training.KEYS))
        np.testing.assert_allclose(rows[known], expected[keys[known]], rtol=rtol, atol=rtol)
    np.testing.assert_allclose(np.load(os.path.join(folder, "weights.npy")), weights, rtol=rtol, atol=rtol)


# Keras' newer Adam and the library's own add epsilon elsewhere.
_TOLERANCES = {"keras": 1e-6, "new_keras": 1e-5, "sok": 1e-5}


@pytest.mark.parametrize(
    "backend, optimizer, mode, root",
    [
        ("single", "keras", "session", "1"),
        ("mirrored1", "sok", "function", "1"),
        ("mirrored2", "keras", "function", "1"),
        ("mirrored2", "new_keras", "function", "2"),
    ],
)
def test_replicas_train_as_one_process_with_the_whole_batch(run_python, tmp_path, backend, optimizer, mode, root):
    code = f"import runpy, sys; sys.argv[1:] = {[backend, optimizer, mode, str(tmp_path)]!r}; runpy.run_path({_PROGRAM!r}, run_name='__main__')"
    done = run_python(code, TF_DEEPREC_ROOT=root)
    assert done.returncode == 0, done.stderr[-4000:]
    assert f"trained on {backend[-1] if backend[-1].isdigit() else 1} replicas" in done.stdout
    _compare(tmp_path, _TOLERANCES[optimizer])


def test_workers_of_a_cluster_train_as_one_process(tmp_path):
    import socket

    found = [socket.socket() for _ in range(2)]
    for port in found:
        port.bind(("localhost", 0))
    workers = [f"localhost:{port.getsockname()[1]}" for port in found]
    for port in found:
        port.close()
    processes = []
    for index in range(2):
        env = {k: v for k, v in os.environ.items() if not k.startswith("TF_")}
        cluster = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}}
        env.update(TF_CONFIG=json.dumps(cluster), TF_DEEPREC_ROOT="2", TF_CPP_MIN_LOG_LEVEL="2")
        command = [sys.executable, _PROGRAM, "workers", "keras", "function", str(tmp_path)]
        processes.append(
            subprocess.Popen(
                command, env=env, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
        )
    outputs = [process.communicate(timeout=200)[0] for process in processes]
    for process, output in zip(processes, outputs):
        assert process.returncode == 0 and "trained on 2 replicas" in output, output[-4000:]
    _compare(tmp_path)


@horovod_runs.needs_horovod
@pytest.mark.parametrize("optimizer, mode, root", [("keras", "function", "2"), ("sok", "session", "1")])
def test_processes_of_horovod_train_as_one(tmp_path, optimizer, mode, root):
    horovod_runs.check(2, [_PROGRAM, "horovod", optimizer, mode, str(tmp_path)], cwd=tmp_path, TF_DEEPREC_ROOT=root)
    _compare(tmp_path, _TOLERANCES[optimizer])


_NO_KEYS = """
import numpy as np, tensorflow as tf
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
import sparse_operation_kit as sok
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    sok.Init(global_batch_size=4)
    layer = sok.DistributedEmbedding("sum", 8, 3, 2, 3, embedding_initializer="ones")

@tf.function
def step(values):
    def replica():
        keys = tf.SparseTensor(tf.stack([values, values], 1), values, [4, 3])
        with tf.GradientTape() as tape:
            rows = layer(keys, training=True)
            loss = tf.reduce_sum(rows)
        gradient = tape.gradient(loss, layer.trainable_variables)[0]
        return rows, tf.size(gradient.indices)
    return strategy.run(replica)

for values in ([], [1]):
    rows, size = step(tf.constant(values, tf.int64))
    print([float(tf.reduce_sum(part)) for part in strategy.experimental_local_results(rows)], rows.values[0].shape)
"""


def test_replicas_that_all_have_no_keys_read_zeros(check_python):
    printed = check_python(_NO_KEYS, TF_DEEPREC_ROOT="2")
    assert printed.splitlines()[-2:] == ["[0.0, 0.0] (2, 2, 3)", "[3.0, 3.0] (2, 2, 3)"]
