"""Arguments of Keras that are left out have 1.15's values, and a missing SciPy is named."""

import numpy as np
import pytest
import tensorflow as tf


def test_an_eager_model_predicts_in_silence(check_python):
    out = check_python(
        "import numpy as np, tensorflow as tf\n"
        "tf.enable_eager_execution()\n"
        "model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])\n"
        "print(model.predict(np.zeros((1, 2))))"
    )
    assert out == "[[0.]]"


def test_linear_model_starts_from_glorot_uniform(graph):
    initializer = tf.keras.experimental.LinearModel().kernel_initializer
    assert type(initializer) is type(tf.keras.initializers.get("glorot_uniform"))


def test_linear_model_keeps_a_given_initializer(graph):
    initializer = tf.keras.experimental.LinearModel(1, None, True, "zeros").kernel_initializer
    assert type(initializer) is type(tf.keras.initializers.get("zeros"))


@pytest.mark.parametrize(
    ("name", "expected"), [("KLDivergence", "kullback_leibler_divergence"), ("LogCosh", "logcosh")]
)
def test_a_loss_has_its_default_name(name, expected):
    assert getattr(tf.keras.losses, name)().name == expected


def test_an_affine_transform_takes_the_channels_last():
    pytest.importorskip("scipy")
    image = np.arange(24.0).reshape(3, 4, 2)
    transform = tf.keras.preprocessing.image.apply_affine_transform
    np.testing.assert_array_equal(transform(image, tx=1), transform(image, 0, 1, 0, 0, 1, 1, 0, 1, 2))


@pytest.mark.parametrize("what", ["horizontal_flip", "vertical_flip"])
def test_an_image_flip_without_scipy_says_what_to_install(check_python, what):
    out = check_python(
        "import sys; sys.modules['scipy'] = None\n"
        "import numpy as np, tensorflow as tf\n"
        f"images = tf.keras.preprocessing.image.ImageDataGenerator({what}=True)\n"
        "try:\n"
        "    next(images.flow(np.zeros((4, 4, 4, 3)), batch_size=4))\n"
        "except ImportError as error:\n"
        "    print(error)"
    )
    assert "Install SciPy" in out
