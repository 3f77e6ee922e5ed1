"""k-means by ops: the core's implementation with the seeds of contrib's."""

from tensorflow.python.ops import clustering_ops
from tensorflow.python.ops.clustering_ops import (  # noqa: F401
    COSINE_DISTANCE,
    KMC2_INIT,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
)


class KMeans(clustering_ops.KMeans):
    """As the core's class of `tf.python.ops.clustering_ops`, but `random_seed` is the seed of the ops themselves.

    The core's takes the graph's seed for it, where there is one.
    """

    def __init__(
        self,
        inputs,
        num_clusters,
        initial_clusters=RANDOM_INIT,
        distance_metric=SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch=False,
        mini_batch_steps_per_iteration=1,
        random_seed=0,
        kmeans_plus_plus_num_retries=2,
        kmc2_chain_length=200,
    ):
        super().__init__(
            inputs,
            num_clusters,
            initial_clusters=initial_clusters,
            distance_metric=distance_metric,
            use_mini_batch=use_mini_batch,
            mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
            random_seed=random_seed,
            kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries,
            kmc2_chain_length=kmc2_chain_length,
        )
        self._seed = random_seed
