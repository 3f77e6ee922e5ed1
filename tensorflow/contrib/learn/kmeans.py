"""An estimator that clusters by k-means."""

import time

import numpy as np

from tensorflow.contrib import factorization
from tensorflow.contrib.learn import estimator, model_fn
from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, control_flow_ops, math_ops, metrics, state_ops
from tensorflow.python.summary import summary
from tensorflow.python.training import session_run_hook, training_util


class _InitializeHook(session_run_hook.SessionRunHook):
    """Runs the op that chooses centers until all are chosen; workers wait for the chief."""

    def __init__(self, is_initialized, init_op, is_chief):
        self._is_initialized, self._init_op, self._is_chief = is_initialized, init_op, is_chief

    def after_create_session(self, session, coord):
        while not session.run(self._is_initialized):
            if self._is_chief:
                session.run(self._init_op)
            else:
                time.sleep(1)


class _ToleranceHook(session_run_hook.SessionRunHook):
    """Ends training when the loss changes by less than a part of itself."""

    def __init__(self, loss, tolerance):
        self._loss, self._tolerance, self._last = loss, tolerance, None

    def before_run(self, run_context):
        return session_run_hook.SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        loss, last = run_values.results, self._last
        if last is not None and abs(loss - last) / (1 + abs(last)) < self._tolerance:
            run_context.request_stop()
        self._last = loss


class KMeansClustering(estimator.Estimator):
    """k-means.

    Args:
      num_clusters: number of clusters.
      model_dir: folder of the checkpoints; a temporary one by default.
      initial_clusters: `RANDOM_INIT`, `KMEANS_PLUS_PLUS_INIT`, or an array `[num_clusters, n]`.
      distance_metric: `SQUARED_EUCLIDEAN_DISTANCE` or `COSINE_DISTANCE`.
      random_seed: seed of the choice of centers.
      use_mini_batch: whether a batch is a sample of the data; otherwise it is all of them, and steps are Lloyd's.
      mini_batch_steps_per_iteration: steps between two updates of the centers from what was gathered.
      kmeans_plus_plus_num_retries: number of points that are tried for each center.
      relative_tolerance: relative change of the loss at which training ends; only for full batches.
      config: a `RunConfig`.

    Features are a tensor `[batch, n]`, or a dict of them, which are concatenated in the order of their names.
    """

    SQUARED_EUCLIDEAN_DISTANCE = factorization.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = factorization.COSINE_DISTANCE
    RANDOM_INIT = factorization.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = factorization.KMEANS_PLUS_PLUS_INIT
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = "clusters"
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = "kmeans_loss"

    def __init__(
        self,
        num_clusters,
        model_dir=None,
        initial_clusters=RANDOM_INIT,
        distance_metric=SQUARED_EUCLIDEAN_DISTANCE,
        random_seed=0,
        use_mini_batch=True,
        mini_batch_steps_per_iteration=1,
        kmeans_plus_plus_num_retries=2,
        relative_tolerance=None,
        config=None,
    ):
        self._relative_tolerance = relative_tolerance
        self._options = dict(
            num_clusters=num_clusters,
            initial_clusters=initial_clusters,
            distance_metric=distance_metric,
            use_mini_batch=use_mini_batch,
            mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
            random_seed=random_seed,
            kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries,
        )
        super().__init__(self._kmeans_model_fn, model_dir, config=config)

    def _kmeans_model_fn(self, features, labels, mode, config):
        del labels
        if isinstance(features, dict):
            features = array_ops.concat([features[name] for name in sorted(features)], 1)
        all_scores, cluster_idx, scores, is_initialized, init_op, training_op = factorization.KMeans(
            features, **self._options
        ).training_graph()
        step = training_util.get_global_step()
        loss = math_ops.reduce_sum(scores, name=self.LOSS_OP_NAME)
        summary.scalar("loss/raw", loss)
        train_op = None
        if mode == model_fn.ModeKeys.TRAIN:
            with ops.control_dependencies([training_op]):
                train_op = control_flow_ops.group(state_ops.assign_add(step, 1))
        hooks = [_InitializeHook(is_initialized, init_op, getattr(config, "is_chief", True))]
        if self._relative_tolerance is not None:
            hooks.append(_ToleranceHook(loss, self._relative_tolerance))
        return model_fn.ModelFnOps(
            mode=mode,
            predictions={self.ALL_SCORES: all_scores[0], self.CLUSTER_IDX: cluster_idx[0]},
            loss=loss,
            train_op=train_op,
            eval_metric_ops={self.SCORES: metrics.mean(loss)} if mode == model_fn.ModeKeys.EVAL else None,
            training_hooks=hooks,
        )

    def predict_cluster_idx(self, input_fn=None):
        """Yields the index of the nearest cluster, for each example."""
        for prediction in self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]):
            yield prediction[self.CLUSTER_IDX]

    def score(self, input_fn=None, steps=None):
        """The sum of the distances of the examples of a batch to their nearest clusters, in the mean over `steps` batches."""
        return np.sum(self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES])

    def transform(self, input_fn=None, as_iterable=False):
        """Distances of examples to all clusters: array `[n, num_clusters]`, or an iterator over its rows."""
        rows = (
            prediction[self.ALL_SCORES]
            for prediction in self.predict(input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=True)
        )
        return rows if as_iterable else np.array(list(rows))

    def clusters(self):
        """The centers, array `[num_clusters, n]`."""
        return self.get_variable_value(self.CLUSTERS)
