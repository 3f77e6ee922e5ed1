"""Methods of Keras classes take 1.15's arguments in 1.15's order."""

import inspect

import numpy as np
import pytest
import tensorflow as tf


def _model(kind):
    layers = [tf.keras.layers.Dense(1, input_shape=(2,), name="out")]
    if kind == "Sequential":
        model = tf.keras.Sequential(layers)
    else:
        x = tf.keras.Input((2,))
        model = tf.keras.Model(x, layers[0](x))
    model.compile("adam", "mse")
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    return model


@pytest.mark.parametrize("kind", ["Model", "Sequential"])
@pytest.mark.parametrize("include_optimizer", [True, False])
def test_save_takes_include_optimizer_in_third_place(graph, tmp_path, kind, include_optimizer):
    h5py = pytest.importorskip("h5py")
    path = str(tmp_path / "model.h5")
    with tf.Session() as session:
        tf.keras.backend.set_session(session)
        _model(kind).save(path, True, include_optimizer)
    with h5py.File(path, "r") as file:
        assert ("optimizer_weights" in file) == include_optimizer


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("save", "self filepath overwrite include_optimizer save_format signatures"),
        ("load_weights", "self filepath by_name"),
        (
            "compile",
            "self optimizer loss metrics loss_weights sample_weight_mode weighted_metrics target_tensors distribute",
        ),
        ("add_loss", "self losses inputs"),
        ("add_metric", "self value aggregation name"),
        (
            "add_weight",
            "self name shape dtype initializer regularizer trainable constraint partitioner use_resource synchronization "
            "aggregation",
        ),
    ],
)
@pytest.mark.parametrize("kind", [tf.keras.Model, tf.keras.Sequential])
def test_a_method_takes_the_arguments_of_1_15_in_its_order(kind, method, arguments):
    parameters = inspect.signature(getattr(kind, method)).parameters.values()
    names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert names[: len(arguments.split())] == arguments.split()


_EAGER = """
import numpy as np, tensorflow as tf
tf.enable_eager_execution()
layer = tf.keras.layers.Dense(1, input_shape=(2,), name="out")
model = tf.keras.Sequential([layer])
"""


def test_an_eager_model_loads_weights_by_name_in_second_place(check_python):
    pytest.importorskip("h5py")
    out = check_python(
        _EAGER + "model.save_weights('w.h5')\n"
        "other = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,)), tf.keras.layers.Dense(1, name='last')])\n"
        "other.load_weights('w.h5', True)\n"
        "print('loaded')"
    )
    assert out == "loaded"


def test_an_eager_model_compiles_with_weighted_metrics_in_sixth_place(check_python):
    out = check_python(
        _EAGER + "model.compile('sgd', 'mse', None, None, None, ['mae'])\n"
        "print(model.evaluate(np.ones((2, 2)), np.ones((2, 1)), verbose=0).__len__(), model.metrics_names)"
    )
    assert out == "2 ['loss', 'mae']"


def test_an_eager_model_fits_with_validation_freq_in_fifteenth_place(check_python):
    out = check_python(
        _EAGER + "model.compile('sgd', 'mse')\n"
        "x, y = np.ones((4, 2)), np.ones((4, 1))\n"
        "h = model.fit(x, y, 2, 4, 0, None, 0.0, (x, y), True, None, None, 0, None, None, 2)\n"
        "print(len(h.history['loss']), len(h.history['val_loss']))"
    )
    assert out == "4 2"


def test_an_eager_layer_adds_a_metric_with_aggregation_in_second_place(check_python):
    out = check_python(
        _EAGER + "class Sum(tf.keras.layers.Layer):\n"
        "    def call(self, x):\n"
        "        self.add_metric(tf.reduce_sum(x), 'mean', 'total')\n"
        "        return x\n"
        "layer = Sum()\n"
        "layer(tf.ones([3]))\n"
        "print([(m.name, float(m.result())) for m in layer.metrics])"
    )
    assert out == "[('total', 3.0)]"


def test_an_eager_layer_adds_a_weight_with_synchronization_in_tenth_place(check_python):
    out = check_python(
        _EAGER + "on_read = tf.VariableSynchronization.ON_READ\n"
        "w = layer.add_weight('w', [2], tf.float32, 'ones', None, False, None, None, True, on_read)\n"
        "print(w.synchronization is on_read)"
    )
    assert out == "True"


def test_image_flow_takes_subset_in_tenth_place():
    images = tf.keras.preprocessing.image.ImageDataGenerator(validation_split=0.25)
    x, y = np.zeros((8, 4, 4, 3)), np.arange(8) % 2
    flow = images.flow(x, y, 8, False, None, None, None, "", "png", "validation")
    assert len(next(flow)[1]) == 2
