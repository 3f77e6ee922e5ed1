"""`tf.contrib.predictor`: run a trained model on arrays, without an input_fn and without reloading it."""

from tensorflow.contrib.predictor.predictor_factories import from_contrib_estimator, from_estimator, from_saved_model

__all__ = ["from_contrib_estimator", "from_estimator", "from_saved_model"]
