"""Estimators in an environment without the packages that they only serve."""

_TRAINS = """
import sys

for name in ("pandas", "sklearn", "dask", "yaml"):
    sys.modules[name] = None  # as if not installed
import numpy as np
import tensorflow as tf

x = np.arange(8, dtype=np.float32)
input_fn = tf.estimator.inputs.numpy_input_fn({"x": x}, 2 * x, shuffle=False)
estimator = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")])
estimator.train(input_fn)
for part in (tf.contrib.learn, tf.contrib.factorization, tf.contrib.tpu, tf.contrib.estimator):
    dir(part)
tf.contrib.learn.LinearRegressor([tf.contrib.layers.real_valued_column("x")])
print(len(list(estimator.predict(tf.estimator.inputs.numpy_input_fn({"x": x}, shuffle=False)))))
"""


def test_estimators_train_where_pandas_and_its_like_are_missing(check_python):
    assert check_python(_TRAINS).splitlines()[-1] == "8"
