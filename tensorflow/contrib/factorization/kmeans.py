"""k-means as an estimator: the core's, with contrib's argument names, seeds and squared distances."""

import tensorflow as tf
import tensorflow.estimator as core
from tensorflow.contrib.factorization import clustering_ops
from tensorflow_estimator.python.estimator.canned import kmeans as core_kmeans

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
        # The core's constructor checks the arguments; its model function would take the seed of `config` for the ops'.
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
        self._clustering = {
            "num_clusters": num_clusters,
            "initial_clusters": initial_clusters,
            "distance_metric": distance_metric,
            "use_mini_batch": use_mini_batch,
            "mini_batch_steps_per_iteration": mini_batch_steps_per_iteration,
            "random_seed": random_seed,
            "kmeans_plus_plus_num_retries": kmeans_plus_plus_num_retries,
        }
        self._tolerance = relative_tolerance
        self._feature_columns = feature_columns
        self._model_fn = self._cluster

    def _cluster(self, features, labels, mode, config):
        del labels
        points = core_kmeans._parse_features_if_necessary(features, self._feature_columns)
        distances, indices, losses, is_initialized, init_op, train_op = clustering_ops.KMeans(
            points, **self._clustering
        ).training_graph()
        loss = tf.reduce_sum(losses)
        tf.summary.scalar("loss/raw", loss)
        with tf.control_dependencies([train_op, tf.assign_add(tf.train.get_global_step(), 1)]):
            train_op = tf.identity(loss)
        hooks = [core_kmeans._InitializeClustersHook(init_op, is_initialized, config.is_chief)]
        if self._tolerance is not None:
            hooks.append(core_kmeans._LossRelativeChangeHook(loss, self._tolerance))
        predictions = {self.ALL_DISTANCES: distances[0], self.CLUSTER_INDEX: indices[0]}
        exports = {name: core.export.PredictOutput(value) for name, value in predictions.items()}
        exports["serving_default"] = core.export.PredictOutput(indices[0])
        return core.EstimatorSpec(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops={self.SCORE: tf.metrics.mean(loss)},
            training_hooks=hooks,
            export_outputs=exports,
        )

    def transform(self, input_fn):
        """Yields the distances of each point to all centers, [num_clusters]: squared ones, if they are Euclidean."""
        for prediction in self.predict(input_fn, predict_keys=[self.ALL_DISTANCES]):
            yield prediction[self.ALL_DISTANCES]
