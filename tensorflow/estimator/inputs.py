"""`tf.estimator.inputs`: the names of 1.15."""

from tensorflow.api_v1.restored import estimator_names as _names
from tensorflow_estimator._api.v1.estimator import inputs as _api

globals().update(_names.public(_api))
