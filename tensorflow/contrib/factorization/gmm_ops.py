"""Mixtures of Gaussians by expectation maximization (Dempster, Laird and Rubin 1977).

With N examples x_i, K components of weight a_k, mean m_k and covariance C_k:

    E: r_ik = a_k N(x_i; m_k, C_k + v) / sum_j a_j N(x_i; m_j, C_j + v)
    M: a_k = sum_i r_ik / N,    m_k = sum_i r_ik x_i / sum_i r_ik,
       C_k = sum_i r_ik x_i x_i^T / sum_i r_ik - m_k m_k^T + v

where v = 0.001 I keeps covariances invertible.
"""

import numpy as np
import tensorflow as tf

FULL_COVARIANCE = "full"
DIAG_COVARIANCE = "diag"
_EPSILON = np.finfo(float).eps
_MIN_VARIANCE = 1e-3


class GmmAlgorithm:
    """The variables of a mixture and the ops of its training.

    Args:
      data: list of tensors [examples, dimensions], float32.
      num_classes: number of components.
      initial_means: [components, dimensions], or None: random examples.
      params: which parameters train, of "w" (weights), "m" (means), "c" (covariances).
      covariance_type: "full", or "diag" (dimensions are independent).
      random_seed: seed of the initial choice.

    Raises:
      ValueError: `covariance_type` is unknown.
    """

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self, data, num_classes, initial_means=None, params="wmc", covariance_type=FULL_COVARIANCE, random_seed=0
    ):
        if covariance_type not in (FULL_COVARIANCE, DIAG_COVARIANCE):
            raise ValueError(f"covariance_type must be 'full' or 'diag', got {covariance_type!r}")
        self._full = covariance_type == FULL_COVARIANCE
        self._params = params
        self._num_classes = num_classes

        def variable(name):
            # Its shape is known when `init_ops` has run: it depends on the data.
            return tf.Variable(tf.constant([], tf.float32), name=name, validate_shape=False)

        self._means = variable(self.CLUSTERS_VARIABLE)
        self._covs = variable(self.CLUSTERS_COVS_VARIABLE)
        self._alpha = variable(self.CLUSTERS_WEIGHT)
        self._initialized = tf.Variable(False, dtype=tf.bool, name="initialized", trainable=False)
        self._init_ops = self._initialize(data, initial_means, random_seed)
        dimensions = data[0].shape[1].value or tf.shape(data[0])[1]
        self._log_joint = [self._log_joint_of(shard, dimensions) for shard in data]
        self._log_likelihoods = [tf.reduce_logsumexp(p, axis=1, keepdims=True) for p in self._log_joint]
        self._w = [tf.exp(p - total) for p, total in zip(self._log_joint, self._log_likelihoods)]
        self._train_ops = self._maximize(data, dimensions)

    def init_ops(self):
        """Op that gives the variables their first values."""
        return self._init_ops

    def training_ops(self):
        """List of the ops of one iteration."""
        return self._train_ops

    def is_initialized(self):
        """bool variable: whether `init_ops` has run."""
        return self._initialized

    def alphas(self):
        """Variable [components], weights."""
        return self._alpha

    def clusters(self):
        """Variable [components, 1, dimensions], means."""
        return self._means

    def covariances(self):
        """Variable [components, dimensions, dimensions], or [components, dimensions] of "diag"."""
        return self._covs

    def assignments(self):
        """List with [examples] int64 for each tensor of the data, the likeliest components."""
        return [tf.argmax(w, 1) for w in self._w]

    def scores(self):
        """[examples, 1] of all data, log-likelihood of each example."""
        return tf.concat(self._log_likelihoods, 0)

    def log_likelihood_op(self):
        """Scalar, logarithm of the sum of the likelihoods of all examples."""
        return tf.reduce_logsumexp([tf.reduce_logsumexp(p) for p in self._log_likelihoods])

    def _initialize(self, data, initial_means, seed):
        first = data[0]
        if initial_means is None:
            initial_means = _random_examples(data, self._num_classes, seed)
        centered = first - tf.reduce_mean(first, 0, keepdims=True)
        count = tf.cast(tf.shape(first)[0] - 1, tf.float32)
        if self._full:
            size = tf.shape(first)[1]
            covariance = tf.matmul(centered, centered, transpose_a=True) / count
            covariance += _MIN_VARIANCE * tf.eye(size)
        else:
            covariance = tf.reduce_sum(tf.square(centered), 0) / count + _MIN_VARIANCE
        copies = tf.concat([[self._num_classes], tf.ones([tf.rank(covariance)], tf.int32)], 0)
        values = [
            (self._means, tf.expand_dims(initial_means, 1)),
            (self._covs, tf.tile(tf.expand_dims(covariance, 0), copies)),
            (self._alpha, tf.fill([self._num_classes], 1.0 / self._num_classes)),
        ]
        done = [tf.assign(v, value, validate_shape=False).op for v, value in values]
        with tf.control_dependencies(done):
            return tf.assign(self._initialized, True).op

    def _log_joint_of(self, shard, dimensions):
        """log(a_k N(x_i)), [examples, components]."""
        difference = shard[tf.newaxis] - self._means
        if self._full:
            factor = tf.cholesky(self._covs + _MIN_VARIANCE * tf.eye(dimensions))
            log_determinant = 2.0 * tf.reduce_sum(tf.log(tf.matrix_diag_part(factor)), 1)
            distance = tf.matrix_triangular_solve(factor, tf.transpose(difference, [0, 2, 1]), lower=True)
            distance = tf.reduce_sum(tf.square(distance), 1)
        else:
            variance = self._covs + _MIN_VARIANCE
            log_determinant = tf.reduce_sum(tf.log(variance), 1)
            distance = tf.reduce_sum(tf.square(difference) / tf.expand_dims(variance, 1), 2)
        constant = tf.cast(dimensions, tf.float32) * np.log(2 * np.pi).astype(np.float32)
        result = tf.transpose(distance) + log_determinant + constant
        result = tf.log(self._alpha) - 0.5 * result
        return tf.reshape(result, [-1, self._num_classes])

    def _maximize(self, data, dimensions):
        # Sums first, and all of them: the variables that they read change below.
        points = tf.add_n([tf.reduce_sum(w, 0) for w in self._w])
        sums = tf.add_n([tf.matmul(w, x, transpose_a=True) for w, x in zip(self._w, data)])
        if self._full:
            squares = tf.add_n([tf.einsum("nk,nd,ne->kde", w, x, x) for w, x in zip(self._w, data)])
        else:
            squares = tf.add_n([tf.matmul(w, tf.square(x), transpose_a=True) for w, x in zip(self._w, data)])
        means = sums / (points + _EPSILON)[:, tf.newaxis] if "m" in self._params else tf.squeeze(self._means, 1)
        mean_of_squares = squares / tf.reshape(points + _EPSILON, [-1, 1, 1] if self._full else [-1, 1])
        if self._full:
            covs = mean_of_squares - means[:, :, tf.newaxis] * means[:, tf.newaxis]
            covs += _MIN_VARIANCE * tf.eye(dimensions)
        else:
            covs = mean_of_squares - tf.square(means) + _MIN_VARIANCE
        alpha = points / (tf.reduce_sum(points) + _EPSILON)
        values = {
            "w": (self._alpha, alpha),
            "m": (self._means, means[:, tf.newaxis]),
            "c": (self._covs, covs),
        }
        with tf.control_dependencies([alpha, means, covs] + self._log_likelihoods):
            return [tf.assign(*values[key], validate_shape=False).op for key in "wmc" if key in self._params]


def _random_examples(data, count, seed):
    examples = tf.concat(data, 0)
    total = tf.shape(examples)[0]
    with tf.control_dependencies(
        [tf.assert_less_equal(count, total, message="num_clusters must not exceed the number of examples")]
    ):
        indices = tf.random_uniform([count], maxval=tf.cast(total, tf.int64), seed=seed, dtype=tf.int64)
    return tf.gather(examples, indices)


def gmm(inp, initial_clusters, num_clusters, random_seed, covariance_type=FULL_COVARIANCE, params="wmc"):
    """Ops of a mixture of Gaussians.

    Args:
      inp: [examples, dimensions] of floats, or a list of such tensors.
      initial_clusters: [components, dimensions], or "random": random examples.
      num_clusters: number of components.
      random_seed: seed of the initial choice.
      covariance_type: "full" or "diag".
      params: which parameters train, of "w" (weights), "m" (means), "c" (covariances).

    Returns:
      (loss, scores, assignments, training_op, init_op, is_initialized): logarithm of the sum of all examples' likelihoods,
      log-likelihood of each [examples, 1], a list with the list of components [examples] of each tensor, op of one iteration, op that must
      run before training, and variable that tells whether it has.

    Raises:
      ValueError: `initial_clusters` or `covariance_type` is unknown.
    """
    if isinstance(initial_clusters, str):
        if initial_clusters != "random":
            raise ValueError(f"initial_clusters must be 'random' or means, got {initial_clusters!r}")
        initial_clusters = None
    elif initial_clusters is not None:
        initial_clusters = tf.convert_to_tensor(initial_clusters, dtype=tf.float32)
    data = [tf.cast(x, tf.float32) for x in (inp if isinstance(inp, (list, tuple)) else [inp])]
    tool = GmmAlgorithm(data, num_clusters, initial_clusters, params, covariance_type, random_seed)
    return (
        tool.log_likelihood_op(),
        tool.scores(),
        [tool.assignments()],
        tf.group(*tool.training_ops()),
        tool.init_ops(),
        tool.is_initialized(),
    )
