"""The Wishart distribution of symmetric, positive definite matrices."""

import math

import tensorflow as tf

from tensorflow.contrib.distributions.base import FULLY_REPARAMETERIZED, Distribution
from tensorflow.contrib.distributions.discrete import distribution_util_seeds


class _Wishart(Distribution):
    """X = L A A^T L^T, scale = L L^T, A a Bartlett triangle: chi on the diagonal, normals below."""

    def __init__(self, df, tril, as_tril, validate_args, allow_nan_stats, name, arguments):
        self._as_tril = as_tril
        with tf.name_scope(name, values=[df, tril]) as name:
            self._tril = tril
            size = tril.shape.dims[-1].value
            df = tf.convert_to_tensor(df, dtype=tril.dtype, name="df")
            static = tf.get_static_value(df)
            if static is not None and size is not None and (static < size).any():
                raise ValueError(
                    f"Degrees of freedom (df = {static}) cannot be less than dimension of scale matrix ({size})"
                )
            if validate_args:
                check = tf.assert_greater_equal(
                    df, tf.cast(tf.shape(tril)[-1], df.dtype), message="df must be >= dimension"
                )
                with tf.control_dependencies([check]):
                    df = tf.identity(df)
            self._df = df
            super().__init__(
                dtype=tril.dtype,
                reparameterization_type=FULLY_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters={k: v for k, v in arguments.items() if k not in ("self", "__class__")},
                graph_parents=[df, tril],
                name=name,
            )

    @property
    def df(self):
        return self._df

    @property
    def cholesky_input_output_matrices(self):
        return self._as_tril

    @property
    def dimension(self):
        return self._tril.shape.dims[-1]

    @property
    def scale_operator(self):
        """The Cholesky factor of the scale matrix."""
        return tf.linalg.LinearOperatorLowerTriangular(self._tril)

    def scale(self):
        """The scale matrix, or its Cholesky factor if samples are factors."""
        return self._tril if self._as_tril else self._covariance_scale()

    def _covariance_scale(self):
        return tf.matmul(self._tril, self._tril, adjoint_b=True)

    def _event_shape_tensor(self):
        return tf.shape(self._tril)[-2:]

    def _event_shape(self):
        return self._tril.shape[-2:]

    def _batch_shape_tensor(self):
        return tf.broadcast_dynamic_shape(tf.shape(self._df), tf.shape(self._tril)[:-2])

    def _batch_shape(self):
        return tf.broadcast_static_shape(self._df.shape, self._tril.shape[:-2])

    def _k(self):
        return tf.cast(tf.shape(self._tril)[-1], self.dtype)

    def _sample_n(self, n, seed):
        stream = distribution_util_seeds(seed, "wishart")
        k = tf.shape(self._tril)[-1]
        batch = tf.concat([[n], self.batch_shape_tensor()], 0)
        below = tf.random_normal(tf.concat([batch, [k, k]], 0), dtype=self.dtype, seed=next(stream))
        alpha = (self._df[..., tf.newaxis] - tf.cast(tf.range(k), self.dtype)) * 0.5
        alpha += tf.zeros(tf.concat([self.batch_shape_tensor(), [k]], 0), self.dtype)
        squares = tf.random_gamma([n], alpha=alpha, beta=0.5, dtype=self.dtype, seed=next(stream))
        a = tf.matrix_set_diag(tf.matrix_band_part(below, -1, 0), tf.sqrt(squares))
        tril = tf.matmul(self._tril + tf.zeros_like(a), a)
        return tril if self._as_tril else tf.matmul(tril, tril, adjoint_b=True)

    def _log_prob(self, x):
        factor = x if self._as_tril else tf.cholesky(x)
        half_log_det = tf.reduce_sum(tf.log(tf.matrix_diag_part(factor)), axis=-1)
        # tr(S^-1 X) = |L^-1 factor|^2
        ratio = tf.matrix_triangular_solve(self._tril + tf.zeros_like(factor), factor)
        trace = tf.reduce_sum(tf.square(ratio), axis=[-2, -1])
        log = -0.5 * trace + (self._df - self._k() - 1.0) * half_log_det - self.log_normalization()
        if not self._as_tril:
            return log
        # The density of the factor: times the determinant of factor -> X.
        diag = tf.matrix_diag_part(factor)
        k = tf.shape(diag)[-1]
        powers = tf.cast(k - tf.range(k), self.dtype)
        return log + math.log(2.0) * self._k() + tf.reduce_sum(powers * tf.log(diag), axis=-1)

    def _scale_half_log_det(self):
        return tf.reduce_sum(tf.log(tf.abs(tf.matrix_diag_part(self._tril))), axis=-1)

    def _multi_terms(self):
        k = tf.shape(self._tril)[-1]
        return (self._df[..., tf.newaxis] - tf.cast(tf.range(k), self.dtype)) * 0.5

    def _multi_lgamma(self):
        k = self._k()
        return 0.25 * k * (k - 1) * math.log(math.pi) + tf.reduce_sum(tf.lgamma(self._multi_terms()), axis=-1)

    def log_normalization(self, name="log_normalization"):
        """log of 2^(df k / 2) |scale|^(df / 2) Gamma_k(df / 2)."""
        with self._name_scope(name):
            return (
                self._df * self._scale_half_log_det()
                + 0.5 * self._df * self._k() * math.log(2.0)
                + self._multi_lgamma()
            )

    def mean_log_det(self, name="mean_log_det"):
        """E log |X|."""
        with self._name_scope(name):
            digammas = tf.reduce_sum(tf.digamma(self._multi_terms()), axis=-1)
            return digammas + self._k() * math.log(2.0) + 2 * self._scale_half_log_det()

    def _entropy(self):
        half = 0.5 * (self._df - self._k() - 1.0)
        return self.log_normalization() - half * self.mean_log_det() + 0.5 * self._df * self._k()

    def _mean(self):
        if self._as_tril:
            return tf.sqrt(self._df)[..., tf.newaxis, tf.newaxis] * self._tril
        return self._df[..., tf.newaxis, tf.newaxis] * self._covariance_scale()

    def _variance(self):
        scale = self._covariance_scale()
        diag = tf.matrix_diag_part(scale)
        variance = tf.square(scale) + diag[..., tf.newaxis] * diag[..., tf.newaxis, :]
        variance *= self._df[..., tf.newaxis, tf.newaxis]
        return tf.cholesky(variance) if self._as_tril else variance

    def _stddev(self):
        if self._as_tril:
            raise ValueError("Computing std. dev. when is cholesky_input_output_matrices=True does not make sense.")
        return tf.sqrt(self._variance())

    def _mode(self):
        factor = self._df - self._k() - 1.0
        factor = tf.where(factor < 0, tf.fill(tf.shape(factor), tf.cast(float("nan"), self.dtype)), factor)
        if self._as_tril:
            return tf.sqrt(factor)[..., tf.newaxis, tf.newaxis] * self._tril
        return factor[..., tf.newaxis, tf.newaxis] * self._covariance_scale()


class WishartCholesky(_Wishart):
    """The Wishart distribution, by the Cholesky factor of its scale.

    Args:
      df: degrees of freedom, at least k.
      scale: [..., k, k] lower triangle L; the scale matrix is L L^T.
      cholesky_input_output_matrices: whether samples (and values of log_prob) are Cholesky factors.
      validate_args: whether bad parameters are an error when it runs.
      allow_nan_stats: see `Distribution`.
      name: name scope.
    """

    def __init__(
        self,
        df,
        scale,
        cholesky_input_output_matrices=False,
        validate_args=False,
        allow_nan_stats=True,
        name="WishartCholesky",
    ):
        arguments = dict(locals())
        tril = tf.matrix_band_part(tf.convert_to_tensor(scale), -1, 0)
        super().__init__(df, tril, cholesky_input_output_matrices, validate_args, allow_nan_stats, name, arguments)


class WishartFull(_Wishart):
    """`WishartCholesky` by the scale matrix itself, symmetric and positive definite."""

    def __init__(
        self,
        df,
        scale,
        cholesky_input_output_matrices=False,
        validate_args=False,
        allow_nan_stats=True,
        name="WishartFull",
    ):
        arguments = dict(locals())
        tril = tf.cholesky(tf.convert_to_tensor(scale))
        super().__init__(df, tril, cholesky_input_output_matrices, validate_args, allow_nan_stats, name, arguments)
