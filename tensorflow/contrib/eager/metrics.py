"""Metrics as objects."""

from tensorflow.contrib.eager.metrics_impl import (
    Accuracy,
    BinaryAccuracy,
    CategoricalAccuracy,
    Mean,
    Metric,
    SparseAccuracy,
)

__all__ = ["Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "Mean", "Metric", "SparseAccuracy"]
