"""Mixtures of Gaussians as an estimator."""

import time

import numpy as np
import tensorflow as tf
from tensorflow.contrib.factorization import gmm_ops
from tensorflow.contrib.learn import estimator, model_fn

_Algorithm = gmm_ops.GmmAlgorithm


class _InitializeClustersHook(tf.train.SessionRunHook):
    """The chief gives the variables their first values from a batch, the others wait."""

    def __init__(self, init_op, is_initialized, is_chief):
        self._init_op, self._is_initialized, self._is_chief = init_op, is_initialized, is_chief

    def after_create_session(self, session, coord):
        while not session.run(self._is_initialized) and not coord.should_stop():
            if self._is_chief:
                session.run(self._init_op)
            else:
                time.sleep(1)


class GMM(estimator.Estimator):
    """Trains a mixture of Gaussians; each step is one iteration of EM on the batch.

    Features are points [examples, dimensions], or a dict of such parts, joined in the order of the keys.

    Args:
      num_clusters: number of components.
      model_dir: folder of the checkpoints; a temporary one by default.
      random_seed: seed of the initial choice.
      params: which parameters train, of "w" (weights), "m" (means), "c" (covariances).
      initial_clusters: [components, dimensions], or "random": random examples.
      covariance_type: "full" or "diag".
      config: a `RunConfig`.
    """

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self,
        num_clusters,
        model_dir=None,
        random_seed=0,
        params="wmc",
        initial_clusters="random",
        covariance_type="full",
        config=None,
    ):
        self._num_clusters = num_clusters
        self._trained = params
        self._initial_clusters = initial_clusters
        self._covariance_type = covariance_type
        self._random_seed = random_seed
        super().__init__(model_fn=self._build, model_dir=model_dir, config=config)

    def predict_assignments(self, input_fn=None, batch_size=None, outputs=None):
        """Yields the likeliest component of each example."""
        for result in self.predict(input_fn=input_fn, batch_size=batch_size, outputs=outputs):
            yield result[self.ASSIGNMENTS]

    def score(self, input_fn=None, batch_size=None, steps=None):
        """Logarithm of the sum of the likelihoods of a batch's examples; of the last batch, if there are several."""
        scores = self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)[self.SCORES]
        return np.log(np.sum(np.exp(scores)))

    def weights(self):
        """[components], weights."""
        return self.get_variable_value(_Algorithm.CLUSTERS_WEIGHT)

    def clusters(self):
        """[components, dimensions], means."""
        return np.squeeze(self.get_variable_value(_Algorithm.CLUSTERS_VARIABLE), 1)

    def covariances(self):
        """[components, dimensions, dimensions], or [components, dimensions] of "diag"."""
        return self.get_variable_value(_Algorithm.CLUSTERS_COVS_VARIABLE)

    def _build(self, features, labels, mode, config):
        if isinstance(features, dict):
            features = tf.concat([features[key] for key in sorted(features)], 1)
        loss, scores, assignments, train, init, is_initialized = gmm_ops.gmm(
            features,
            self._initial_clusters,
            self._num_clusters,
            self._random_seed,
            self._covariance_type,
            self._trained,
        )
        with tf.control_dependencies([train]):
            train = tf.assign_add(tf.train.get_or_create_global_step(), 1).op
        total = tf.get_local_variable("total_log_likelihood", shape=[], initializer=tf.zeros_initializer())
        last = tf.Variable(
            tf.zeros([0, 1]), trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], validate_shape=False
        )
        return model_fn.ModelFnOps(
            mode=mode,
            predictions={self.ASSIGNMENTS: assignments[0][0]},
            loss=loss,
            train_op=train,
            eval_metric_ops={
                self.SCORES: (last, tf.assign(last, scores, validate_shape=False)),
                self.LOG_LIKELIHOOD: (total, tf.assign_add(total, loss)),
            },
            training_hooks=[_InitializeClustersHook(init, is_initialized, config.is_chief)],
        )
