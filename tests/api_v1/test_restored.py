"""What was written anew computes what its formula says."""

import gzip
import os
import struct

import numpy as np
import pytest
import tensorflow as tf


@pytest.mark.parametrize("step", [0, 3, 10, 25])
def test_linear_cosine_decay_is_the_function_of_tf_train(graph, step):
    schedule = tf.keras.experimental.LinearCosineDecay(0.3, 10, num_periods=2.0, alpha=0.1, beta=0.02)
    t = min(step, 10) / 10
    want = 0.3 * ((0.1 + 1 - t) * 0.5 * (1 + np.cos(2 * np.pi * 2.0 * t)) + 0.02)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(schedule(tf.constant(step))), want, rtol=1e-5)
        reference = tf.train.linear_cosine_decay(0.3, step, 10, num_periods=2.0, alpha=0.1, beta=0.02)
        np.testing.assert_allclose(session.run(reference), want, rtol=1e-5)
    again = tf.keras.experimental.LinearCosineDecay.from_config(schedule.get_config())
    assert again.get_config() == schedule.get_config()


def test_noisy_linear_cosine_decay_without_variance_is_plain(graph):
    noisy = tf.keras.experimental.NoisyLinearCosineDecay(0.3, 10, initial_variance=0.0)
    plain = tf.keras.experimental.LinearCosineDecay(0.3, 10)
    loud = tf.keras.experimental.NoisyLinearCosineDecay(0.3, 10, initial_variance=1.0)
    with tf.Session() as session:
        a, b, c = session.run([noisy(tf.constant(4)), plain(tf.constant(4)), loud(tf.constant(4))])
    assert a == b and c != b


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.float64])
def test_compare_and_bitpack_packs_most_significant_bit_first(dtype):
    x = np.random.RandomState(0).randint(-5, 5, (3, 16)).astype(dtype)
    with tf.Graph().as_default(), tf.Session() as session:
        out = tf.raw_ops.CompareAndBitpack(input=x, threshold=dtype(1))
        assert out.shape.as_list() == [3, 2] and out.dtype == tf.uint8
        np.testing.assert_array_equal(session.run(out), np.packbits(x > 1, axis=-1))
        with pytest.raises(ValueError, match="multiple of 8"):
            tf.raw_ops.CompareAndBitpack(input=np.zeros(7), threshold=0.0)


def test_tpu_ops_raise_as_on_a_cpu_build():
    with pytest.raises(tf.errors.InvalidArgumentError, match="RetrieveTPUEmbeddingADAMParametersGradAccumDebug"):
        tf.raw_ops.RetrieveTPUEmbeddingADAMParametersGradAccumDebug(num_shards=1, shard_id=0)
    with pytest.raises(TypeError):
        tf.raw_ops.LoadTPUEmbeddingFTRLParametersGradAccumDebug(num_shards=1)
    with pytest.raises(NotImplementedError, match="op hints"):
        tf.lite.experimental.nn.TfLiteRNNCell(3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.tpu.experimental.AdagradParameters(0.1, initial_accumulator=0.0), "initial_accumulator"),
        (lambda: tf.tpu.experimental.AdamParameters(0.1, beta1=1.0), "beta1"),
        (lambda: tf.tpu.experimental.AdamParameters(0.1, epsilon=0.0), "epsilon"),
        (
            lambda: tf.tpu.experimental.AdamParameters(0.1, lazy_adam=False, use_gradient_accumulation=False),
            "lazy_adam",
        ),
    ],
)
def test_tpu_embedding_parameters_are_checked(make, message):
    assert tf.tpu.experimental.StochasticGradientDescentParameters(0.1).learning_rate == 0.1
    with pytest.raises(ValueError, match=message):
        make()


def test_list_devices_names_the_cpu():
    assert any("CPU:0" in name for name in tf.config.experimental_list_devices())


def test_new_checkpoint_reader_of_pywrap_tensorflow_reads(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        session.run(v.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    reader = tf.pywrap_tensorflow.NewCheckpointReader(path)
    np.testing.assert_array_equal(reader.get_tensor("v"), [1, 2])
    from tensorflow.python.pywrap_tensorflow import EqualGraphDefWrapper, EventsWriter

    assert EventsWriter is not None
    a = tf.Graph()
    with a.as_default():
        tf.constant(1.0, name="c")
    b = tf.Graph()
    with b.as_default():
        tf.constant(2.0, name="c")
    one, two = (g.as_graph_def().SerializeToString() for g in (a, b))
    assert EqualGraphDefWrapper(one, one) == b"" and b"'c'" in EqualGraphDefWrapper(one, two)


def test_transform_graph_folds_constants():
    from tensorflow.tools.graph_transforms import TransformGraph

    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.add(x, tf.constant([1.0, 2.0]) * 3.0, name="y")
    out = TransformGraph(
        graph.as_graph_def(), ["x"], ["y"], ["fold_constants(ignore_errors=true)", "strip_unused_nodes"]
    )
    assert "Mul" not in {n.op for n in out.node} and len(out.node) < len(graph.as_graph_def().node)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(out, name="")
        np.testing.assert_array_equal(session.run("y:0", {"x:0": [1, 1]}), [4, 7])


def test_python_shape_functions(graph):
    from tensorflow.python.framework import common_shapes, tensor_shape

    assert tensor_shape.scalar().as_list() == [] and tensor_shape.vector(3).as_list() == [3]
    assert tensor_shape.matrix(2, None).as_list() == [2, None]
    a, b = tf.placeholder(tf.float32, [None, 3]), tf.zeros([4, 3])
    assert common_shapes.matmul_shape(tf.matmul(a, b, transpose_b=True).op)[0].as_list() == [None, 4]
    sizes = np.random.RandomState(0).randint(1, 20, (20, 3))
    for size, window, stride in sizes:
        for padding in ("VALID", "SAME"):
            if padding == "VALID" and window > size:
                with pytest.raises(ValueError, match="larger than the input"):
                    common_shapes.get_conv_output_size((size,), (window,), (stride,), b"VALID")
                continue
            y = tf.nn.conv1d(tf.zeros([1, size, 1]), tf.zeros([window, 1, 1]), int(stride), padding)
            got = common_shapes.get_conv_output_size((size,), (window,), (stride,), padding.encode())
            assert got == (y.shape[1].value,)


def test_op_def_library_applies_an_op_by_name():
    from tensorflow.python.framework import op_def_library, op_def_registry

    assert op_def_registry.get_registered_ops()["MatMul"].input_arg[0].name == "a"
    with tf.Graph().as_default(), tf.Session() as session:
        out = op_def_library.OpDefLibrary().apply_op("Add", x=tf.constant(1), y=tf.constant(2), name="sum")
        assert out.op.name == "sum" and session.run(out) == 3


def test_eager_profiler_takes_a_profile(check_python, tmp_path):
    out = check_python(
        "import tensorflow as tf, os\nfrom tensorflow.python.eager import profiler\n"
        "profiler.start()\nwith tf.Session() as s: s.run(tf.matmul(tf.ones([9, 9]), tf.ones([9, 9])))\n"
        f"r = profiler.stop(); profiler.save({str(tmp_path)!r}, r)\n"
        "try: profiler.stop()\nexcept profiler.ProfilerNotRunningError: print(len(r) > 0)"
    )
    assert out == "True" and any(f.endswith(".xplane.pb") for _, _, files in os.walk(tmp_path) for f in files)


def test_profile_context_traces_a_step(tmp_path):
    from tensorflow.python.profiler import profile_context

    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.matmul(tf.ones([9, 9]), tf.ones([9, 9]))
        with profile_context.ProfileContext(str(tmp_path), trace_steps=[1], dump_steps=[1]):
            for _ in range(3):
                session.run(y)
        assert os.path.getsize(tmp_path / "profile_1") > 0 and len(os.listdir(tmp_path)) == 1


def test_python_string_state_is_saved_and_restored(tmp_path):
    from tensorflow.python.training.tracking import base

    state = {"text": "first"}
    with tf.Graph().as_default(), tf.Session() as session:
        saveable = base.PythonStringStateSaveable("s", lambda: state["text"], lambda value: state.update(text=value))
        saver = tf.train.Saver([saveable])
        path = saver.save(session, str(tmp_path / "m"))
        state["text"] = "second"
        saver.restore(session, path)
    assert state["text"] == b"first"


def test_export_saved_model_and_back(graph, tmp_path):
    x = np.random.RandomState(0).rand(5, 3).astype(np.float32)
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, "tanh", input_shape=(3,)), tf.keras.layers.Dense(1)])
    want = model.predict(x)
    tf.keras.experimental.export_saved_model(model, str(tmp_path / "m"))
    again = tf.keras.experimental.load_from_saved_model(str(tmp_path / "m"))
    np.testing.assert_allclose(again.predict(x), want, rtol=1e-6)
    with tf.Graph().as_default(), tf.Session() as session:
        meta = tf.saved_model.loader.load(session, ["serve"], str(tmp_path / "m"))
        signature = meta.signature_def["serving_default"]
        [given], [got] = signature.inputs.values(), signature.outputs.values()
        np.testing.assert_allclose(session.run(got.name, {given.name: x}), want, rtol=1e-6)


def test_hdf5_matrix_reads_rows(tmp_path):
    import h5py

    data = np.random.RandomState(0).rand(20, 3)
    with h5py.File(tmp_path / "d.h5", "w") as f:
        f["x"] = data
    matrix = tf.keras.utils.HDF5Matrix(str(tmp_path / "d.h5"), "x", start=4, end=16, normalizer=lambda v: v * 2)
    part = data[4:16] * 2
    assert len(matrix) == 12 and matrix.shape == (12, 3) and matrix.ndim == 2 and matrix.size == 36
    for key in (0, -1, slice(2, 5), slice(None, None, 3), slice(None, None, -1), [5, 1, 1], np.arange(12) % 2 == 0):
        np.testing.assert_array_equal(matrix[key], part[key])
    for key in (12, [12], [-1]):
        with pytest.raises(IndexError):
            matrix[key]


def test_convert_all_kernels_flips_convolutions(graph):
    model = tf.keras.Sequential([tf.keras.layers.Conv2D(2, (3, 2), input_shape=(5, 5, 1)), tf.keras.layers.Flatten()])
    before = model.get_weights()[0]
    tf.keras.utils.convert_all_kernels_in_model(model)
    np.testing.assert_array_equal(model.get_weights()[0], before[::-1, ::-1])


def test_multi_gpu_model_trains_on_the_cpu(graph):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    with pytest.warns(UserWarning, match="no GPU support"):
        assert tf.keras.utils.multi_gpu_model(model, gpus=2) is model
    with pytest.raises(ValueError, match="gpus >= 2, got 1"):
        tf.keras.utils.multi_gpu_model(model, 1)


def test_scikit_learn_wrappers_train_and_score(graph):
    random = np.random.RandomState(0)
    x = random.randn(200, 2)
    labels = np.where(x[:, 0] > 0, 7, 3)

    def build(units=4):
        model = tf.keras.Sequential(
            [tf.keras.layers.Dense(units, "tanh", input_shape=(2,)), tf.keras.layers.Dense(1, "sigmoid")]
        )
        model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
        return model

    wrapped = tf.keras.wrappers.scikit_learn.KerasClassifier(build, units=6, epochs=40, verbose=0)
    assert wrapped.get_params()["units"] == 6
    wrapped.fit(x, labels)
    predicted = wrapped.predict(x).ravel()
    assert set(predicted) <= {3, 7}
    np.testing.assert_allclose(wrapped.score(x, labels), (predicted == labels).mean(), atol=1e-6)
    assert wrapped.predict_proba(x).shape == (200, 2)
    with pytest.raises(ValueError, match="no_such"):
        tf.keras.wrappers.scikit_learn.KerasClassifier(build, no_such=1)


def test_keras_regressor_scores_by_its_negative_loss(graph):
    def build():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")
        return model

    x = np.random.RandomState(0).randn(50, 2)
    y = x @ [1.0, -2.0]
    wrapped = tf.keras.wrappers.scikit_learn.KerasRegressor(build, epochs=3, verbose=0)
    wrapped.fit(x, y)
    np.testing.assert_allclose(wrapped.score(x, y), -np.mean((wrapped.predict(x) - y) ** 2), rtol=1e-4)


def test_experimental_policy_and_loss_scale(check_python):
    out = check_python(
        "import tensorflow as tf\n"
        "e = tf.keras.mixed_precision.experimental\n"
        "p = e.Policy('mixed_float16'); print(p.loss_scale, p.should_cast_variables, p.compute_dtype)\n"
        "o = e.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1), 8.0); print(o.dynamic, o.initial_scale)\n"
        "e.set_policy('float32'); print(e.global_policy().name, e.Policy('infer').name)"
    )
    assert out.splitlines() == ["dynamic True float16", "False 8.0", "float32 float32"]


def test_terminate_pools_without_pools():
    assert tf.keras.experimental.terminate_keras_multiprocessing_pools() == []


# tensorflow.examples.tutorials.mnist


@pytest.fixture
def mnist(tmp_path):
    """A folder with MNIST's files, of 60 and 20 random images; and the arrays."""
    random = np.random.RandomState(0)
    arrays = {}
    for part, n in (("train", 60), ("t10k", 20)):
        images = random.randint(0, 256, (n, 28, 28), np.uint8)
        labels = random.randint(0, 10, n, np.uint8)
        with gzip.open(tmp_path / f"{part}-images-idx3-ubyte.gz", "wb") as f:
            f.write(struct.pack(">IIII", 2051, n, 28, 28) + images.tobytes())
        with gzip.open(tmp_path / f"{part}-labels-idx1-ubyte.gz", "wb") as f:
            f.write(struct.pack(">II", 2049, n) + labels.tobytes())
        arrays[part] = images, labels
    return str(tmp_path), arrays


def test_mnist_is_read_from_the_original_files(mnist):
    from tensorflow.examples.tutorials.mnist import input_data

    folder, arrays = mnist
    sets = input_data.read_data_sets(folder, validation_size=10)
    images, labels = arrays["train"]
    np.testing.assert_allclose(sets.train.images, images[10:].reshape(50, 784) / 255, rtol=1e-6)
    np.testing.assert_array_equal(sets.validation.labels, labels[:10])
    raw = input_data.read_data_sets(folder, one_hot=True, dtype=tf.uint8, reshape=False, validation_size=0)
    np.testing.assert_array_equal(raw.test.images[..., 0], arrays["t10k"][0])
    np.testing.assert_array_equal(raw.test.labels, np.eye(10)[arrays["t10k"][1]])


def test_mnist_batches_cover_each_epoch_once(mnist):
    from tensorflow.examples.tutorials.mnist import input_data

    train = input_data.read_data_sets(mnist[0], validation_size=10, seed=3).train
    batches = [train.next_batch(20)[0] for _ in range(5)]
    assert train.epochs_completed == 1 and all(len(b) == 20 for b in batches)
    first, second = np.split(np.concatenate(batches), 2)
    np.testing.assert_array_equal(np.sort(first, 0), np.sort(second, 0))
    assert not np.array_equal(first, second)
    again = input_data.read_data_sets(mnist[0], validation_size=10, seed=3).train
    np.testing.assert_array_equal(again.next_batch(20)[0], batches[0])


def test_damaged_mnist_files_are_refused(mnist):
    from tensorflow.examples.tutorials.mnist import input_data

    path = os.path.join(mnist[0], "train-labels-idx1-ubyte.gz")
    for content, message in (
        (struct.pack(">II", 2050, 3), "magic number must be 2049"),
        (struct.pack(">II", 2049, 9), "9 bytes"),
    ):
        with gzip.open(path, "wb") as f:
            f.write(content)
        with pytest.raises(ValueError, match=message):
            input_data.read_data_sets(mnist[0])
    os.remove(path)
    with pytest.raises(OSError, match="train-labels-idx1-ubyte.gz is missing"):
        input_data.read_data_sets(mnist[0], source_url="file:///nowhere/")


def test_the_tutorials_network_trains(graph):
    from tensorflow.examples.tutorials.mnist import mnist

    random = np.random.RandomState(0)
    x, y = random.rand(30, 784).astype(np.float32), random.randint(0, 10, 30)
    logits = mnist.inference(tf.constant(x), 16, 8)
    loss = mnist.loss(logits, tf.constant(y))
    step = mnist.training(loss, 0.1)
    right = mnist.evaluation(logits, tf.constant(y))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(50):
            session.run(step)
        assert session.run(loss) < before
        assert session.run(right) == (session.run(logits).argmax(1) == y).sum()
