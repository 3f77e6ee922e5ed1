"""TF_DEEPREC_ROOT=2 gives the released 2.x root."""


def test_the_root_is_the_released_one_with_our_kernels(check_python):
    out = check_python(
        """
import tensorflow as tf
from tensorflow.python.framework import kernels
print(tf.__version__, tf.executing_eagerly(), hasattr(tf, "placeholder"), tf.keras.__name__)
print(max(k.priority for k in kernels.get_registered_kernels_for_op("ResourceSparseApplyAdagrad").kernel))
import tensorflow.keras.layers as layers
print(layers.Dense is tf.keras.layers.Dense, float(tf.function(lambda x: x * 2)(tf.constant(2.0))))
""",
        TF_DEEPREC_ROOT="2",
    )
    assert out.splitlines() == ["2.21.0 True False tf_keras.api._v2.keras", "1", "True 4.0"]


def test_keras_trains_with_its_newer_optimizers_there(check_python):
    out = check_python(
        """
import numpy as np, tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
model.compile(tf.keras.optimizers.Adam(0.1), "mse")
before = model.get_weights()[0]
model.fit(np.ones((8, 3)), np.ones((8, 1)), verbose=0)
print(type(model.optimizer).__module__, np.abs(model.get_weights()[0] - before).max() > 0.01)
""",
        TF_DEEPREC_ROOT="2",
    )
    assert out == "tf_keras.src.optimizers.adam True"


def test_tensorflow_probability_works_there(check_python):
    assert (
        check_python(
            """
import tensorflow as tf, tensorflow_probability as tfp
print(float(tfp.distributions.Normal(0.0, 1.0).cdf(0.0)))
""",
            TF_DEEPREC_ROOT="2",
        )
        == "0.5"
    )


def test_another_value_is_refused_with_the_choices(run_python):
    done = run_python("import tensorflow", TF_DEEPREC_ROOT="3")
    assert done.returncode != 0
    assert "TF_DEEPREC_ROOT is '3', but must be one of 1, 2" in done.stderr
