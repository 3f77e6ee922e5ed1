"""There is one Keras, by whatever path it is reached."""

import sys

import facts
import numpy as np
import pytest
import tensorflow as tf


@pytest.mark.parametrize(
    ("api", "private"),
    [
        ("keras.layers.Layer", "tensorflow.python.keras.engine.base_layer.Layer"),
        ("keras.layers.Dense", "tensorflow.python.keras.layers.core.Dense"),
        ("keras.layers.LSTM", "tensorflow.python.keras.layers.LSTM"),
        ("keras.layers.BatchNormalization", "tensorflow.python.keras.layers.normalization.BatchNormalization"),
        ("keras.layers.Bidirectional", "tensorflow.python.keras.layers.wrappers.Bidirectional"),
        ("keras.Model", "tensorflow.python.keras.engine.network.Network"),
        ("keras.Model", "tensorflow.python.keras.models.Model"),
        ("keras.Sequential", "tensorflow.python.keras.Sequential"),
        ("keras.optimizers.Adam", "tensorflow.python.keras.optimizers.Adam"),
        ("keras.optimizers.Adam", "tensorflow.python.keras.optimizer_v2.adam.Adam"),
        ("keras.losses.Loss", "tensorflow.python.keras.losses.Loss"),
        ("keras.metrics.Mean", "tensorflow.python.keras.metrics.Mean"),
        ("keras.initializers.glorot_uniform", "tensorflow.python.keras.initializers.glorot_uniform"),
        ("keras.regularizers.l2", "tensorflow.python.keras.regularizers.l2"),
        ("keras.callbacks.ModelCheckpoint", "tensorflow.python.keras.callbacks.ModelCheckpoint"),
        ("keras.backend.get_session", "tensorflow.python.keras.backend.get_session"),
        ("keras.preprocessing.sequence.pad_sequences", "tensorflow.python.keras.preprocessing.sequence.pad_sequences"),
        ("layers.Dense", "tensorflow.python.layers.core.Dense"),
        ("layers.Layer", "tensorflow.python.layers.base.Layer"),
        ("layers.BatchNormalization", "tensorflow.python.layers.normalization.BatchNormalization"),
        ("layers.conv2d", "tensorflow.python.layers.convolutional.conv2d"),
        ("layers.max_pooling2d", "tensorflow.python.layers.pooling.max_pooling2d"),
        ("nn.rnn_cell.LSTMCell", "tensorflow.python.ops.rnn_cell_impl.LSTMCell"),
        ("nn.rnn_cell.RNNCell", "tensorflow.python.ops.rnn_cell_impl._LayerRNNCell.__mro__"),
        ("nn.rnn_cell.LSTMStateTuple", "tensorflow.python.ops.rnn_cell.LSTMStateTuple"),
        ("nn.rnn_cell.DropoutWrapper", "tensorflow.python.ops.rnn_cell_impl.DropoutWrapper"),
    ],
)
def test_the_private_path_gives_the_class_of_the_api(api, private):
    private = facts.find(private)
    if isinstance(private, tuple):
        assert facts.find(api, tf) in private
    else:
        assert private is facts.find(api, tf)


def test_the_runtimes_own_copy_is_not_loaded(check_python):
    out = check_python(
        "import sys, tensorflow as tf\n"
        "print([m for m in sys.modules if m.startswith(('tensorflow.python.keras', 'tf_keras'))])\n"
        "tf.keras.layers.Dense(1); tf.nn.rnn_cell.BasicLSTMCell(2); tf.layers.Dense(2)\n"
        "import tensorflow.python.keras.backend as b\n"
        "print(b.__name__, tf.keras.__version__)"
    )
    assert out.splitlines() == ["[]", "tf_keras.src.backend 2.2.4-tf"]


def test_isinstance_holds_across_paths(graph):
    from tensorflow.python.keras.engine.base_layer import Layer
    from tensorflow.python.layers import base
    from tensorflow.python.ops import rnn_cell_impl

    assert isinstance(tf.keras.layers.Dense(1), Layer)
    assert isinstance(tf.layers.Dense(1), (base.Layer,)) and isinstance(tf.layers.Dense(1), Layer)
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(2)])
    assert isinstance(cell, rnn_cell_impl.RNNCell) and isinstance(cell, base.Layer)


def test_feature_columns_are_made_of_its_layers(graph):
    from tensorflow.python.feature_column import feature_column as module

    column = tf.feature_column.numeric_column("x")
    with tf.Session() as session:
        logits = tf.feature_column.linear_model({"x": tf.constant([[1.0], [2.0]])}, [column])
        session.run(tf.global_variables_initializer())
        session.run([v.assign(tf.fill(v.shape, 3.0)) for v in tf.trainable_variables()])
        np.testing.assert_allclose(session.run(logits), [[6.0], [9.0]])
    assert issubclass(module._LinearModel, tf.layers.Layer)
    assert [v.op.name for v in tf.trainable_variables()] == ["linear_model/x/weights", "linear_model/bias_weights"]


def test_dense_features_take_feature_columns(graph):
    column = tf.feature_column.indicator_column(tf.feature_column.categorical_column_with_identity("i", 3))
    from tensorflow.python.feature_column.feature_column_v2 import DenseFeatures

    assert DenseFeatures is tf.keras.layers.DenseFeatures
    with tf.Session() as session:
        out = DenseFeatures([column])({"i": tf.constant([[2], [0]])})
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        np.testing.assert_array_equal(session.run(out), [[0, 0, 1], [1, 0, 0]])


def test_compat_v2_cell_wrappers_are_those_of_this_keras():
    assert tf.compat.v2.nn.RNNCellDropoutWrapper.__module__.startswith("tf_keras.")


def test_standalone_keras_means_this_keras_on_request(check_python):
    code = (
        "import tensorflow as tf, keras\n"
        "from keras.layers import Dense\nfrom keras.layers.core import Dropout\nfrom keras.engine.topology import Layer\n"
        "from keras.preprocessing import sequence\nfrom keras.utils import np_utils\nfrom keras import backend as K\n"
        "print(Dense is tf.keras.layers.Dense, Layer is tf.keras.layers.Layer, keras.__version__, K.backend())"
    )
    assert check_python(code, TF_DEEPREC_KERAS="1") == "True True 2.2.4-tf tensorflow"


def test_another_value_of_the_keras_switch_is_refused(run_python):
    assert (
        "TF_DEEPREC_KERAS is 'x', but must be one of 0, 1"
        in run_python("import tensorflow", TF_DEEPREC_KERAS="x").stderr
    )


# Members that tf_keras lacks.


def test_apply_calls_the_layer(graph):
    layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    x = tf.constant([[1.0, 2.0]])
    with tf.Session() as session:
        y = layer.apply(x)
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(y), [[3.0, 3.0]])


def test_add_update_takes_inputs_and_get_updates_for_finds_them(graph):
    class Counter(tf.keras.layers.Layer):
        def build(self, input_shape):
            self.count = self.add_weight("count", [], initializer="zeros", trainable=False)
            super().build(input_shape)

        def call(self, x):
            self.add_update(tf.assign_add(self.count, tf.reduce_sum(x)), inputs=x)
            self.add_loss(tf.reduce_sum(x) * 2.0, inputs=x)
            return x

    layer, x = Counter(), tf.keras.Input([3])
    layer(x)
    assert len(layer.get_updates_for(x)) == 1 and layer.get_updates_for(None) == []
    assert len(layer.get_losses_for(x)) == 1
    assert layer.get_updates_for(tf.keras.Input([3])) == []


def test_predict_classes_and_predict_proba(graph):
    random = np.random.RandomState(0)
    x = random.rand(7, 4).astype(np.float32)
    several = tf.keras.Sequential([tf.keras.layers.Dense(3, "softmax", input_shape=(4,))])
    np.testing.assert_array_equal(several.predict_classes(x), several.predict(x).argmax(-1))
    np.testing.assert_array_equal(several.predict_proba(x), several.predict(x))
    single = tf.keras.Sequential([tf.keras.layers.Dense(1, "sigmoid", input_shape=(4,))])
    np.testing.assert_array_equal(single.predict_classes(x), single.predict(x) > 0.5)


def test_internals_of_a_compiled_model(graph):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
    model.compile("sgd", "mse", metrics=["mae"])
    assert len(model.targets) == 1 and model.total_loss is not None and len(model.metrics_tensors) == 1


def test_a_model_may_have_attributes_of_those_names(graph):
    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.targets = 5

    assert Own().targets == 5


def test_serialize_keras_object_has_the_old_form():
    config = tf.keras.utils.serialize_keras_object(instance=tf.keras.layers.ReLU())
    assert set(config) == {"class_name", "config"}
    back = tf.keras.utils.deserialize_keras_object(identifier=config, module_objects={"ReLU": tf.keras.layers.ReLU})
    assert isinstance(back, tf.keras.layers.ReLU)


def test_nothing_of_keras_is_imported_with_tensorflow(check_python):
    assert (
        check_python("import sys, tensorflow; print('tf_keras' in sys.modules, 'h5py' in sys.modules)") == "False False"
    )
    assert "tensorflow" in sys.modules


@pytest.mark.parametrize("method", ["predict", "predict_classes", "predict_proba", "evaluate", "fit"])
def test_no_samples_are_an_error_that_says_so(graph, method):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")
    targets = () if method.startswith("predict") else (np.ones([0, 2]),)
    with pytest.raises(ValueError, match="Empty (training )?data"):
        getattr(model, method)(np.ones([0, 3]), *targets, verbose=0)
