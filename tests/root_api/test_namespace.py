"""`import tensorflow as tf` is the 1.x API."""

import importlib
import pkgutil

import numpy as np
import pytest
import tensorflow as tf


def test_versions_are_those_of_the_api_and_of_the_runtime():
    assert (tf.__version__, tf.VERSION, tf.version.VERSION, tf.compat.v1.__version__) == ("1.15.5",) * 4
    assert tf.compat.v2.__version__ == "2.21.0"


def test_distribution_names_deeprec_under_the_spelling_that_scripts_use():
    import pkg_resources

    version = pkg_resources.get_distribution("Tensorflow").version
    assert version.startswith("1.15.5+") and "deeprec" in version and "2.21.0" in version


def test_graph_mode_without_any_switch():
    assert not tf.executing_eagerly()
    assert isinstance(tf.constant(1.0).shape[0:0], tf.TensorShape)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.reduce_sum(x, axis=1)
        assert y.shape.as_list() == [None]
        with tf.Session() as session:
            np.testing.assert_array_equal(session.run(y, {x: np.ones((2, 3))}), [3, 3])


def test_variables_are_reference_variables_by_default():
    with tf.Graph().as_default():
        assert tf.get_variable("v", [2]).op.type == "VariableV2"
        assert tf.get_variable("r", [2], use_resource=True).op.type == "VarHandleOp"
        assert tf.Variable(1.0).dtype._is_ref_dtype


def test_control_flow_is_version_1_by_default():
    with tf.Graph().as_default() as graph:
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
        assert "Enter" in {op.type for op in graph.get_operations()}


def test_layers_make_variables_with_1x_names_and_train():
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None, 3])
        loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - 1.0))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        assert [v.name for v in tf.trainable_variables()] == ["dense/kernel:0", "dense/bias:0"]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            feed = {x: np.ones((4, 3))}
            first = session.run(loss, feed)
            for _ in range(20):
                session.run(train, feed)
            assert session.run(loss, feed) < 0.01 * first


@pytest.mark.parametrize("cell", ["BasicRNNCell", "GRUCell", "LSTMCell", "BasicLSTMCell"])
def test_rnn_cells_run_in_dynamic_rnn(cell):
    with tf.Graph().as_default():
        x = tf.constant(np.random.RandomState(0).rand(2, 5, 3), tf.float32)
        outputs, _ = tf.nn.dynamic_rnn(getattr(tf.nn.rnn_cell, cell)(4), x, dtype=tf.float32)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run(outputs).shape == (2, 5, 4)


def test_distribute_is_the_api_and_not_the_folder_of_that_name():
    assert hasattr(tf.distribute, "MirroredStrategy")


@pytest.mark.parametrize(
    "path",
    [
        "nn",
        "train",
        "summary",
        "io.gfile",
        "compat.v1",
        "compat.v2",
        "keras.layers",
        "keras.backend",
        "layers",
        "nn.rnn_cell",
        "compat.v1.keras.layers",
    ],
)
def test_a_part_imported_by_path_is_the_part_of_the_root(path):
    part = tf
    for name in path.split("."):
        part = getattr(part, name)
    imported = importlib.import_module(f"tensorflow.{path}")
    public = [n for n in dir(imported) if not n.startswith("_")]
    assert public
    for name in public:
        assert getattr(part, name) is getattr(imported, name)


def test_compat_v1_is_the_same_api():
    import tensorflow.compat.v1 as tf1

    assert tf1.Session is tf.Session and tf1.train.AdamOptimizer is tf.train.AdamOptimizer


def test_private_modules_import_and_share_classes_with_the_api():
    from tensorflow.python.framework import ops
    from tensorflow.python.training import adam

    assert ops.Graph is tf.Graph
    assert adam.AdamOptimizer is tf.train.AdamOptimizer


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        tf.no_such_name


def test_lazy_parts_survive_tools_that_probe_modules():
    import inspect

    assert inspect.ismodule(tf.contrib) and inspect.ismodule(tf.estimator)
    assert not hasattr(tf.contrib, "__wrapped__")
    assert "tensorflow.contrib" in repr(tf.contrib)


def test_every_module_of_ours_imports():
    for package in ("tensorflow.api_v1", "tensorflow.deeprec"):
        module = importlib.import_module(package)
        for info in pkgutil.walk_packages(module.__path__, package + "."):
            if not info.name.endswith(".libdeeprec"):  # the shared library, which pkgutil takes for a module
                importlib.import_module(info.name)
