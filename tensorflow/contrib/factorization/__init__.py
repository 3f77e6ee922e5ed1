# ruff: noqa: F401
"""Clustering and matrix factorization."""

import importlib

from tensorflow.contrib.factorization.clustering_ops import (
    COSINE_DISTANCE,
    KMEANS_PLUS_PLUS_INIT,
    KMeans,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
)

from tensorflow.contrib.factorization.factorization_ops import WALSModel
from tensorflow.contrib.factorization.gmm_ops import GmmAlgorithm, gmm as _gmm

# The estimators load when they are used: with them come tf.estimator and tf.contrib.learn.
_ESTIMATORS = {"GMM": "gmm", "KMeansClustering": "kmeans", "WALSMatrixFactorization": "wals"}

__all__ = (
    "COSINE_DISTANCE GMM GmmAlgorithm KMEANS_PLUS_PLUS_INIT KMeans KMeansClustering RANDOM_INIT "
    "SQUARED_EUCLIDEAN_DISTANCE WALSMatrixFactorization WALSModel gmm "
).split()


def __getattr__(name):
    if name not in _ESTIMATORS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    estimator = getattr(importlib.import_module(f"{__name__}.{_ESTIMATORS[name]}"), name)
    # The import of the module "gmm" hid the function of that name.
    globals().update({name: estimator, "gmm": _gmm})
    return estimator


def __dir__():
    return sorted({*globals(), *__all__})


gmm = _gmm
