"""k-means as an estimator: the core's, under contrib's argument names."""

import tensorflow.estimator as core

_Core = core.experimental.KMeans


class KMeansClustering(_Core):
    """Trains cluster centers; see `tf.estimator.experimental.KMeans`.

    Args:
      num_clusters: number of clusters.
      model_dir: folder of the checkpoints; a temporary one by default.
      initial_clusters: `RANDOM_INIT`, `KMEANS_PLUS_PLUS_INIT`, centers [clusters, dimensions], or a function of
        (points, count) that gives up to `count` centers.
      distance_metric: `SQUARED_EUCLIDEAN_DISTANCE` or `COSINE_DISTANCE`.
      random_seed: seed of the initial choice.
      use_mini_batch: whether a step sees a part of the points; otherwise each step is one of Lloyd's iterations over
        all of them.
      mini_batch_steps_per_iteration: number of steps between updates of the centers, with `use_mini_batch`.
      kmeans_plus_plus_num_retries: number of further candidates for each center that k-means++ draws.
      relative_tolerance: training stops when the loss changes by less than this share.
      config: `tf.estimator.RunConfig`.
      feature_columns: columns that make points of a dict of features; by default all features, in order of their keys.

    Raises:
      ValueError: `initial_clusters` or `distance_metric` is unknown.
    """

    def __init__(
        self,
        num_clusters,
        model_dir=None,
        initial_clusters=_Core.RANDOM_INIT,
        distance_metric=_Core.SQUARED_EUCLIDEAN_DISTANCE,
        random_seed=0,
        use_mini_batch=True,
        mini_batch_steps_per_iteration=1,
        kmeans_plus_plus_num_retries=2,
        relative_tolerance=None,
        config=None,
        feature_columns=None,
    ):
        super().__init__(
            num_clusters,
            model_dir=model_dir,
            initial_clusters=initial_clusters,
            distance_metric=distance_metric,
            seed=random_seed,
            use_mini_batch=use_mini_batch,
            mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries,
            relative_tolerance=relative_tolerance,
            config=config,
            feature_columns=feature_columns,
        )
