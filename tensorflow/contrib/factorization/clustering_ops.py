"""k-means by ops: the core's implementation under its name of contrib."""

from tensorflow.python.ops.clustering_ops import (  # noqa: F401
    COSINE_DISTANCE,
    KMC2_INIT,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
    KMeans,
)
