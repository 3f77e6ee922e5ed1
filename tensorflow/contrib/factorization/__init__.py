# ruff: noqa: F401
"""Clustering and matrix factorization."""

from tensorflow.python.ops.clustering_ops import (
    COSINE_DISTANCE,
    KMEANS_PLUS_PLUS_INIT,
    KMeans,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
)

from tensorflow.contrib.factorization.factorization_ops import WALSModel

__all__ = ("COSINE_DISTANCE KMEANS_PLUS_PLUS_INIT KMeans RANDOM_INIT SQUARED_EUCLIDEAN_DISTANCE WALSModel ").split()
