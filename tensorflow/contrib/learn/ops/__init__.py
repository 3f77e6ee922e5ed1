"""Small building blocks of models."""

from tensorflow.contrib.learn.ops.embeddings_ops import categorical_variable, embedding_lookup
from tensorflow.contrib.learn.ops.losses_ops import mean_squared_error_regressor, softmax_classifier

__all__ = ["categorical_variable", "embedding_lookup", "mean_squared_error_regressor", "softmax_classifier"]
