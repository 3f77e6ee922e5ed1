"""Vectors: normal, exponential, Laplace, sinh-arcsinh under affine maps."""

import math

import tensorflow as tf
from tensorflow.python.ops.distributions import exponential, kullback_leibler, laplace, normal

from tensorflow.contrib.distributions.bijectors import Affine, AffineLinearOperator, Chain, SinhArcsinh
from tensorflow.contrib.distributions.bijectors.affine import scale_operator
from tensorflow.contrib.distributions.transformed_distribution import TransformedDistribution


def _event_and_batch(loc, scale):
    """(batch shape, event shape) vectors that `loc` and the LinearOperator `scale` have together."""
    event = scale.range_dimension_tensor()[tf.newaxis]
    batch = scale.batch_shape_tensor()
    if loc is not None:
        batch = tf.broadcast_dynamic_shape(batch, tf.shape(loc)[:-1])
    static_event = scale.range_dimension.value
    static_batch = scale.batch_shape
    if loc is not None:
        static_batch = tf.broadcast_static_shape(static_batch, loc.shape[:-1])
        static_event = loc.shape.dims[-1].value if loc.shape.dims[-1].value not in (None, 1) else static_event
    if static_event is not None:
        event = tf.constant([static_event], tf.int32)
    if static_batch.is_fully_defined():
        batch = tf.constant(static_batch.as_list(), tf.int32)
    return batch, event


class _VectorOfScalars(TransformedDistribution):
    """loc + scale @ X, X a vector of independent draws of a scalar distribution with deviation `_DEVIATION`."""

    def _set_up(self, base, loc, scale, validate_args, arguments, name):
        dtype = scale.dtype if scale is not None else None
        loc = None if loc is None else tf.convert_to_tensor(loc, name="loc", dtype=dtype)
        if scale is None:
            raise ValueError("Missing arguments; at least one of `loc`, `scale` must describe the size of the event.")
        batch, event = _event_and_batch(loc, scale)
        super().__init__(
            distribution=base,
            bijector=AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args),
            batch_shape=batch,
            event_shape=event,
            validate_args=validate_args,
            name=name,
        )
        self._parameters = {k: v for k, v in arguments.items() if k not in ("self", "__class__")}

    @property
    def loc(self):
        """[..., n] shift, or None."""
        return self.bijector.shift

    @property
    def scale(self):
        """The LinearOperator."""
        return self.bijector.scale

    def _shape_filled(self, value):
        shape = tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        filled = value + tf.zeros(shape, self.dtype)
        filled.set_shape(self.batch_shape.concatenate(self.event_shape))
        return filled

    def _mean(self):
        mean = self.distribution.mean()
        x = self._shape_filled(mean)
        return self.bijector.forward(x)

    def _covariance(self):
        variance = self.distribution.variance()
        matrix = self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)
        batch = tf.concat([self.batch_shape_tensor(), tf.shape(matrix)[-2:]], 0)
        return matrix * variance + tf.zeros(batch, self.dtype)

    def _variance(self):
        if isinstance(self.scale, tf.linalg.LinearOperatorDiag):
            diagonal = tf.square(self.scale.diag_part())
        else:
            diagonal = tf.matrix_diag_part(self.scale.matmul(self.scale.to_dense(), adjoint_arg=True))
        return self._shape_filled(diagonal * self.distribution.variance())

    def _stddev(self):
        return tf.sqrt(self._variance())


def _diag_scale(loc, scale_diag, scale_identity_multiplier, dtype=None):
    """A diagonal operator; with a multiplier alone, of the size of `loc`.

    Raises:
      ValueError: nothing tells the size.
    """
    if scale_diag is None and loc is None:
        raise ValueError("Missing arguments; at least one of `loc`, `scale_diag` must be given.")
    if scale_diag is None:
        loc = tf.convert_to_tensor(loc, dtype=dtype)
        scale_diag = tf.ones_like(loc)
        if scale_identity_multiplier is None:
            return tf.linalg.LinearOperatorDiag(scale_diag, is_non_singular=True)
        factor = tf.convert_to_tensor(scale_identity_multiplier, dtype=loc.dtype)[..., tf.newaxis]
        return tf.linalg.LinearOperatorDiag(scale_diag * factor, is_non_singular=True)
    return scale_operator(scale_identity_multiplier, scale_diag, dtype=dtype)


class MultivariateNormalLinearOperator(_VectorOfScalars):
    """The normal distribution with mean `loc` and covariance scale scale^T.

    Args:
      loc: [..., n], 0 by default.
      scale: LinearOperator.
      validate_args: see `Distribution`.
      allow_nan_stats: see `Distribution`.
      name: name scope.
    """

    def __init__(
        self, loc=None, scale=None, validate_args=False, allow_nan_stats=True, name="MultivariateNormalLinearOperator"
    ):
        arguments = dict(locals())
        self._set_up_normal(loc, scale, validate_args, allow_nan_stats, arguments, name)

    def _set_up_normal(self, loc, scale, validate_args, allow_nan_stats, arguments, name):
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        base = normal.Normal(
            loc=tf.zeros([], scale.dtype), scale=tf.ones([], scale.dtype), allow_nan_stats=allow_nan_stats
        )
        self._set_up(base, loc, scale, validate_args, arguments, name)

    def _mode(self):
        return self._mean()

    def _entropy(self):
        n = tf.cast(self.event_shape_tensor()[0], self.dtype)
        entropy = 0.5 * n * (1 + math.log(2 * math.pi)) + self.scale.log_abs_determinant()
        return entropy + tf.zeros(self.batch_shape_tensor(), self.dtype)


@kullback_leibler.RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _kl_normals(a, b, name=None):
    """0.5 (|B^-1 A|^2 + |B^-1 (mu_b - mu_a)|^2 - n) + log |B| - log |A|."""
    with tf.name_scope(name, "kl_mvn"):
        ratio = b.scale.solve(a.scale.to_dense())
        difference = (b.mean() - a.mean())[..., tf.newaxis]
        trace = tf.reduce_sum(tf.square(ratio), axis=[-2, -1])
        distance = tf.reduce_sum(tf.square(b.scale.solve(difference)), axis=[-2, -1])
        n = tf.cast(a.event_shape_tensor()[0], a.dtype)
        logs = b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
        return logs + 0.5 * (trace + distance - n)


class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """A normal vector with a diagonal scale.

    Args:
      loc: [..., n], 0 by default.
      scale_diag: [..., n] deviations.
      scale_identity_multiplier: [...] c, added to (or in place of) `scale_diag`.
      validate_args: see `Distribution`.
      allow_nan_stats: see `Distribution`.
      name: name scope.

    Raises:
      ValueError: nothing tells the size.
    """

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalDiag",
    ):
        arguments = dict(locals())
        with tf.name_scope(name) as name:
            scale = _diag_scale(loc, scale_diag, scale_identity_multiplier)
            self._set_up_normal(loc, scale, validate_args, allow_nan_stats, arguments, name)


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """`MultivariateNormalDiag` with softplus of the given `scale_diag`."""

    def __init__(
        self,
        loc,
        scale_diag,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalDiagWithSoftplusScale",
    ):
        with tf.name_scope(name, values=[scale_diag]) as name:
            super().__init__(
                loc=loc,
                scale_diag=tf.nn.softplus(scale_diag),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """A normal vector with scale c I + diag + U diag(d) U^T.

    Args:
      loc: [..., n], 0 by default.
      scale_diag: [..., n].
      scale_identity_multiplier: [...] c.
      scale_perturb_factor: [..., n, r] U.
      scale_perturb_diag: [..., r] d, ones by default.
      validate_args: see `Distribution`.
      allow_nan_stats: see `Distribution`.
      name: name scope.

    Raises:
      ValueError: nothing tells the size.
    """

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        scale_perturb_factor=None,
        scale_perturb_diag=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalDiagPlusLowRank",
    ):
        arguments = dict(locals())
        with tf.name_scope(name) as name:
            if scale_perturb_factor is None:
                scale = _diag_scale(loc, scale_diag, scale_identity_multiplier)
            else:
                scale = scale_operator(
                    scale_identity_multiplier, scale_diag, None, scale_perturb_factor, scale_perturb_diag
                )
            self._set_up_normal(loc, scale, validate_args, allow_nan_stats, arguments, name)


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """A normal vector with a lower triangular scale.

    Args:
      loc: [..., n], 0 by default.
      scale_tril: [..., n, n]; what lies above the diagonal counts as 0. The identity by default.
      validate_args: see `Distribution`.
      allow_nan_stats: see `Distribution`.
      name: name scope.

    Raises:
      ValueError: both are missing.
    """

    def __init__(
        self, loc=None, scale_tril=None, validate_args=False, allow_nan_stats=True, name="MultivariateNormalTriL"
    ):
        arguments = dict(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with tf.name_scope(name) as name:
            scale = _diag_scale(loc, None, None) if scale_tril is None else scale_operator(tril=scale_tril)
            self._set_up_normal(loc, scale, validate_args, allow_nan_stats, arguments, name)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """A normal vector with covariance [..., n, n], symmetric and positive definite (the identity by default)."""

    def __init__(
        self,
        loc=None,
        covariance_matrix=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalFullCovariance",
    ):
        parameters = dict(locals())
        with tf.name_scope(name) as name:
            tril = None
            if covariance_matrix is not None:
                covariance_matrix = tf.convert_to_tensor(covariance_matrix, name="covariance_matrix")
                checks = []
                if validate_args:
                    transposed = tf.matrix_transpose(covariance_matrix)
                    checks = [tf.assert_equal(covariance_matrix, transposed, message="Matrix was not symmetric")]
                with tf.control_dependencies(checks):
                    tril = tf.cholesky(covariance_matrix)
            super().__init__(
                loc=loc, scale_tril=tril, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name
            )
        self._parameters = {k: v for k, v in parameters.items() if k not in ("self", "__class__")}


class VectorExponentialDiag(_VectorOfScalars):
    """loc + scale @ X, X of independent exponentials with rate 1; arguments as in `MultivariateNormalDiag`."""

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        validate_args=False,
        allow_nan_stats=True,
        name="VectorExponentialDiag",
    ):
        arguments = dict(locals())
        with tf.name_scope(name) as name:
            scale = _diag_scale(loc, scale_diag, scale_identity_multiplier)
            base = exponential.Exponential(rate=tf.ones([], scale.dtype), allow_nan_stats=allow_nan_stats)
            self._set_up(base, loc, scale, validate_args, arguments, name)

    def _mode(self):
        return self._shape_filled(tf.zeros([], self.dtype) if self.loc is None else self.loc)


class VectorLaplaceDiag(_VectorOfScalars):
    """loc + scale @ X, X of independent Laplace variables; arguments as in `MultivariateNormalDiag`."""

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        validate_args=False,
        allow_nan_stats=True,
        name="VectorLaplaceDiag",
    ):
        arguments = dict(locals())
        with tf.name_scope(name) as name:
            scale = _diag_scale(loc, scale_diag, scale_identity_multiplier)
            base = laplace.Laplace(
                loc=tf.zeros([], scale.dtype), scale=tf.ones([], scale.dtype), allow_nan_stats=allow_nan_stats
            )
            self._set_up(base, loc, scale, validate_args, arguments, name)

    def _mode(self):
        return self._mean()


def _sinh_arcsinh_scale(tailweight, dtype):
    """2 / F(2), F the transform without skewness: tails differ, the bulk keeps its width."""
    return 2.0 / SinhArcsinh(tailweight=tailweight).forward(tf.convert_to_tensor(2.0, dtype=dtype))


class _SinhArcsinh(TransformedDistribution):
    """What both distributions of this family show of their parameters."""

    @property
    def loc(self):
        return self._loc

    @property
    def scale(self):
        return self._scale

    @property
    def skewness(self):
        return self._skewness

    @property
    def tailweight(self):
        return self._tailweight


class VectorSinhArcsinhDiag(_SinhArcsinh):
    """loc + scale @ F(X) 2 / F0(2), F the `SinhArcsinh` bijector, X a vector of independent normals.

    Args:
      loc: [..., n].
      scale_diag: [..., n].
      scale_identity_multiplier: [...] c, added to `scale_diag`.
      skewness: of F, 0 by default.
      tailweight: of F, 1 by default.
      distribution: scalar distribution of X's entries, the standard normal by default.
      validate_args: see `Distribution`.
      allow_nan_stats: see `Distribution`.
      name: name scope.
    """

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        skewness=None,
        tailweight=None,
        distribution=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalLinearOperator",
    ):
        parameters = dict(locals())
        with tf.name_scope(name) as name:
            scale = _diag_scale(loc, scale_diag, scale_identity_multiplier)
            dtype = scale.dtype
            loc = None if loc is None else tf.convert_to_tensor(loc, dtype=dtype)
            tailweight = tf.convert_to_tensor(1.0 if tailweight is None else tailweight, dtype=dtype)
            skewness = tf.convert_to_tensor(0.0 if skewness is None else skewness, dtype=dtype)
            batch, event = _event_and_batch(loc, scale)
            if distribution is None:
                distribution = normal.Normal(tf.zeros([], dtype), tf.ones([], dtype), allow_nan_stats=allow_nan_stats)
            factor = _sinh_arcsinh_scale(tailweight, dtype)
            affine = Affine(shift=loc, scale_diag=scale.diag_part() * factor, validate_args=validate_args)
            bijector = Chain([affine, SinhArcsinh(skewness=skewness, tailweight=tailweight)])
            super().__init__(
                distribution=distribution,
                bijector=bijector,
                batch_shape=batch,
                event_shape=event,
                validate_args=validate_args,
                name=name,
            )
        self._parameters = {k: v for k, v in parameters.items() if k not in ("self", "__class__")}
        self._loc, self._skewness, self._tailweight, self._scale = loc, skewness, tailweight, scale


class SinhArcsinhDistribution(_SinhArcsinh):
    """loc + scale F(X) 2 / F0(2), F the `SinhArcsinh` bijector, X normal (Jones and Pewsey 2009).

    Args:
      loc: shift.
      scale: factor, positive.
      skewness: of F, 0 by default.
      tailweight: of F, 1 by default.
      distribution: of X, the standard normal by default.
      validate_args: see `Distribution`.
      allow_nan_stats: see `Distribution`.
      name: name scope.
    """

    def __init__(
        self,
        loc,
        scale,
        skewness=None,
        tailweight=None,
        distribution=None,
        validate_args=False,
        allow_nan_stats=True,
        name="SinhArcsinh",
    ):
        from tensorflow.contrib.distributions.bijectors import AffineScalar

        parameters = dict(locals())
        with tf.name_scope(name, values=[loc, scale, skewness, tailweight]) as name:
            loc = tf.convert_to_tensor(loc, name="loc")
            dtype = loc.dtype
            scale = tf.convert_to_tensor(scale, name="scale", dtype=dtype)
            tailweight = tf.convert_to_tensor(1.0 if tailweight is None else tailweight, dtype=dtype)
            skewness = tf.convert_to_tensor(0.0 if skewness is None else skewness, dtype=dtype)
            batch = tf.shape(loc + scale + skewness + tailweight)
            static = (loc + scale + skewness + tailweight).shape
            if static.is_fully_defined():
                batch = static.as_list()
            if distribution is None:
                distribution = normal.Normal(tf.zeros([], dtype), tf.ones([], dtype), allow_nan_stats=allow_nan_stats)
            else:
                batch = None if distribution.batch_shape.ndims else batch
            affine = AffineScalar(shift=loc, scale=scale * _sinh_arcsinh_scale(tailweight, dtype))
            super().__init__(
                distribution=distribution,
                bijector=Chain([affine, SinhArcsinh(skewness=skewness, tailweight=tailweight)]),
                batch_shape=batch,
                validate_args=validate_args,
                name=name,
            )
        self._parameters = {k: v for k, v in parameters.items() if k not in ("self", "__class__", "AffineScalar")}
        self._loc, self._scale, self._skewness, self._tailweight = loc, scale, skewness, tailweight


SinhArcsinhDistribution.__name__ = "SinhArcsinh"
