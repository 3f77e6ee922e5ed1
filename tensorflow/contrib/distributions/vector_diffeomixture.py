"""Mixtures of affine maps of one base distribution, by quadrature."""

import tensorflow as tf
from tensorflow.python.ops.distributions import categorical, util
from tensorflow.python.ops.linalg import linear_operator_addition

from tensorflow.contrib.distributions import quadrature
from tensorflow.contrib.distributions.base import FULLY_REPARAMETERIZED, Distribution
from tensorflow.contrib.distributions.bijectors.affine import AffineLinearOperator


def _normal_parameters(loc, scale, validate_args):
    loc = tf.convert_to_tensor(loc, name="normal_loc")
    scale = tf.convert_to_tensor(scale, dtype=loc.dtype.base_dtype, name="normal_scale")
    for name, tensor in (("normal_loc", loc), ("normal_scale", scale)):
        if tensor.shape.ndims == 0:
            raise ValueError(f"Mixing params must be a (batch of) vector; {name} is a scalar")
        if tensor.shape.ndims is None or tensor.shape.dims[-1].value != 1:
            raise NotImplementedError(f"Only bimixtures are supported; {name} must end in 1, got shape {tensor.shape}")
    return loc, quadrature.checked_scale(scale, "normal_scale", validate_args)


def _centered_softmax(x):
    """[..., K - 1, n] -> [..., K, n] on the simplex."""
    return tf.nn.softmax(tf.concat([x, tf.zeros_like(x[..., :1, :])], axis=-2), axis=-2)


def quadrature_scheme_softmaxnormal_gauss_hermite(
    normal_loc, normal_scale, quadrature_size, validate_args=False, name=None
):
    """Gauss-Hermite points of a normal variable, mapped to the simplex by a softmax with a last logit of 0.

    Args:
      normal_loc: [batch, 1] location of the normal distribution, float.
      normal_scale: its scale; broadcasts with `normal_loc`.
      quadrature_size: number of points, a Python integer.
      validate_args: whether a scale that is not positive is an error when it runs.
      name: name scope.

    Returns:
      (points [batch, 2, quadrature_size], probabilities [quadrature_size]).

    Raises:
      ValueError: a parameter is a scalar.
      NotImplementedError: the last dimension is not 1.
    """
    with tf.name_scope(name, "quadrature_scheme_softmaxnormal_gauss_hermite", [normal_loc, normal_scale]):
        parameters = _normal_parameters(normal_loc, normal_scale, validate_args)
        points, probs = quadrature.hermite(*parameters, quadrature_size)
        return _centered_softmax(points), probs


def quadrature_scheme_softmaxnormal_quantiles(
    normal_loc, normal_scale, quadrature_size, validate_args=False, name=None
):
    """Midpoints of the quantiles of a normal variable mapped to the simplex. As for the Gauss-Hermite scheme otherwise."""
    with tf.name_scope(name, "softmax_normal_grid_and_probs", [normal_loc, normal_scale]):
        parameters = _normal_parameters(normal_loc, normal_scale, validate_args)
        return quadrature.midpoints(_centered_softmax(quadrature.normal_quantiles(*parameters, quadrature_size)))


class VectorDiffeomixture(Distribution):
    """sum_i probs_i p(x | z_i): x is d draws of a base distribution under the affine map that z_i makes of two maps.

    Map i has the shift z_i loc[0] + (1 - z_i) loc[1], and the scale likewise; z = sigmoid(Normal(mix_loc / temperature,
    1 / temperature)) by quadrature. Samples are reparameterized if the base distribution is, or has no trained parameters.

    Args:
      mix_loc: [batch, 1]: the larger, the more of the first map.
      temperature: broadcasts with `mix_loc`: the smaller, the more the mixture is of the two maps alone.
      distribution: of the draws; of scalar batch and event.
      loc: two shifts [batch, d], or None for 0.
      scale: two `LinearOperator`s [batch, d, d]: identity, scaled identity, diagonal or lower triangular.
      quadrature_size: number of points.
      quadrature_fn: (mix_loc / temperature, 1 / temperature, quadrature_size, validate_args) -> (grid [batch, 2, n],
        probs [n]).
      validate_args: whether what is wrong is an error, partly when it runs.
      allow_nan_stats: see `Distribution`.
      name: name scope.

    Raises:
      ValueError: fewer than two scales, another number of shifts than scales, or (`validate_args`) a scale that is not known
        to be positive definite, or a base distribution that is not scalar or reparameterized.
      TypeError: types differ.
      NotImplementedError: more than two scales, or a scale of another kind.
    """

    def __init__(
        self,
        mix_loc,
        temperature,
        distribution,
        loc=None,
        scale=None,
        quadrature_size=8,
        quadrature_fn=quadrature_scheme_softmaxnormal_quantiles,
        validate_args=False,
        allow_nan_stats=True,
        name="VectorDiffeomixture",
    ):
        arguments = dict(locals())
        with tf.name_scope(name, values=[mix_loc, temperature]) as name:
            loc, scale = _check_maps(loc, scale, validate_args)
            dtype = scale[0].dtype.base_dtype
            _check_base(distribution, dtype, validate_args)
            self._distribution = distribution
            self._endpoint_affine = [
                AffineLinearOperator(loc_, scale_, validate_args, f"endpoint_affine_{k}")
                for k, (loc_, scale_) in enumerate(zip(loc, scale))
            ]
            mix_loc = tf.convert_to_tensor(mix_loc, dtype=dtype, name="mix_loc")
            temperature = tf.convert_to_tensor(temperature, dtype=dtype, name="temperature")
            self._grid, probs = quadrature_fn(mix_loc / temperature, 1.0 / temperature, quadrature_size, validate_args)
            size = self._grid.shape.dims[-1].value
            if size is None:
                raise ValueError("The number of quadrature points must be known when the graph is built")
            self._mixture_distribution = categorical.Categorical(
                logits=tf.log(probs), validate_args=validate_args, allow_nan_stats=allow_nan_stats
            )
            self._interpolated_affine = [
                AffineLinearOperator(
                    _mixed_loc(self._grid[..., k], loc),
                    _mixed_scale(self._grid[..., k], scale),
                    validate_args,
                    f"interpolated_affine_{k}",
                )
                for k in range(size)
            ]
            super().__init__(
                dtype=dtype,
                reparameterization_type=FULLY_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters={k: v for k, v in arguments.items() if k not in ("self", "__class__")},
                graph_parents=list(distribution._graph_parents)
                + [shift for shift in loc if shift is not None]
                + [p for operator in scale for p in operator.graph_parents],
                name=name,
            )

    @property
    def mixture_distribution(self):
        """The `Categorical` over the points."""
        return self._mixture_distribution

    @property
    def distribution(self):
        """The distribution of the draws."""
        return self._distribution

    @property
    def grid(self):
        """The shares of the two maps at each point, [batch, 2, n]."""
        return self._grid

    @property
    def endpoint_affine(self):
        """The two maps."""
        return self._endpoint_affine

    @property
    def interpolated_affine(self):
        """The maps of the points."""
        return self._interpolated_affine

    def _batch_shape_tensor(self):
        shape = tf.shape(self._grid)[:-2]
        for affine in self._endpoint_affine:
            shape = tf.broadcast_dynamic_shape(shape, affine.scale.batch_shape_tensor())
            if affine.shift is not None:
                shape = tf.broadcast_dynamic_shape(shape, tf.shape(affine.shift)[:-1])
        return shape

    def _batch_shape(self):
        shape = self._grid.shape[:-2]
        for affine in self._endpoint_affine:
            shape = tf.broadcast_static_shape(shape, affine.scale.batch_shape)
            if affine.shift is not None:
                shape = tf.broadcast_static_shape(shape, affine.shift.shape[:-1])
        return shape

    def _event_shape_tensor(self):
        return self._endpoint_affine[0].scale.range_dimension_tensor()[tf.newaxis]

    def _event_shape(self):
        return tf.TensorShape([self._endpoint_affine[0].scale.range_dimension])

    def _whole_shape(self):
        return tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)

    def _sample_n(self, n, seed=None):
        draws = self._distribution.sample(tf.concat([[n], self._whole_shape()], 0), seed=seed)
        first, second = (affine.forward(draws) for affine in self._endpoint_affine)
        ids = quadrature.sample_points(
            self._mixture_distribution, n, self.batch_shape_tensor(), util.gen_new_seed(seed, "vector_diffeomixture")
        )
        share = quadrature.pick(self._grid[..., 0, :], ids)[..., tf.newaxis]
        return share * (first - second) + second

    def _log_prob(self, x):
        parts = []
        for affine in self._interpolated_affine:
            draws = tf.reduce_sum(self._distribution.log_prob(affine.inverse(x)), -1)
            parts.append(draws - affine.forward_log_det_jacobian(x, event_ndims=1))
        return tf.reduce_logsumexp(self._mixture_distribution.logits + tf.stack(parts, axis=-1), axis=-1)

    def _prob(self, x):
        return tf.exp(self._log_prob(x))

    def _over_points(self, values):
        """sum_i probs_i values_i, for a list of [batch, ...] tensors, one a point."""
        probs = self._mixture_distribution.probs
        extra = values[0].shape.ndims - (probs.shape.ndims - 1) if probs.shape.ndims > 1 else 0
        shares = [probs[(..., i) + (tf.newaxis,) * extra] for i in range(len(values))]
        return tf.add_n([share * value for share, value in zip(shares, values)])

    def _means(self):
        """The mean at each point, [batch, d]."""
        base = self._distribution.mean() + tf.zeros(self._whole_shape(), self.dtype)
        return [affine.forward(base) for affine in self._interpolated_affine]

    def _mean(self):
        return self._over_points(self._means())

    def _covariance(self):
        # By the law of total variance; draws are independent and of one variance.
        means, variance = self._means(), self._distribution.variance()
        mean = self._over_points(means)
        parts = []
        for affine, point in zip(self._interpolated_affine, means):
            dense, away = affine.scale.to_dense(), point - mean
            outer = away[..., :, tf.newaxis] * away[..., tf.newaxis, :]
            parts.append(variance * tf.matmul(dense, dense, transpose_b=True) + outer)
        return self._over_points(parts)

    def _variance(self):
        return tf.matrix_diag_part(self._covariance())


def _check_maps(loc, scale, validate_args):
    if not scale or len(scale) < 2:
        raise ValueError("Must specify a list of at least two scale LinearOperators, one for each component.")
    loc = [None] * len(scale) if loc is None else list(loc)
    if len(loc) != len(scale):
        raise ValueError(f"loc and scale must be lists of the same length, got {len(loc)} and {len(scale)}")
    if len(scale) != 2:
        raise NotImplementedError(f"Only bimixtures are supported; len(scale)={len(scale)} is not 2.")
    dtype = scale[0].dtype.base_dtype
    for k, operator in enumerate(scale):
        if operator.dtype.base_dtype != dtype:
            raise TypeError(f"dtype mismatch; scale[{k}] has {operator.dtype.name}, scale[0] has {dtype.name}")
        if validate_args and not operator.is_positive_definite:
            raise ValueError(f"scale[{k}].is_positive_definite = {operator.is_positive_definite} != True")
    return [
        None if shift is None else tf.convert_to_tensor(shift, dtype=dtype, name=f"loc{k}")
        for k, shift in enumerate(loc)
    ], list(scale)


def _check_base(distribution, dtype, validate_args):
    if distribution.dtype.base_dtype != dtype:
        raise TypeError(f"dtype mismatch; distribution has {distribution.dtype.name}, scale has {dtype.name}")
    for what in ("batch", "event"):
        shape = getattr(distribution, f"{what}_shape")
        if shape.ndims not in (0, None):
            raise ValueError(f"distribution must be of scalar {what}, got shape {shape}")
    if validate_args and distribution.reparameterization_type != FULLY_REPARAMETERIZED:
        raise ValueError("distribution must be FULLY_REPARAMETERIZED if validate_args is set")


def _mixed_loc(shares, loc):
    """The shift [batch, d] of shares [batch, 2]."""
    parts = [shares[..., k, tf.newaxis] * shift for k, shift in enumerate(loc) if shift is not None]
    return sum(parts[1:], parts[0]) if parts else None


def _mixed_scale(shares, scale):
    parts = [_times(shares[..., k], operator) for k, operator in enumerate(scale)]
    return linear_operator_addition.add_operators(parts)[0]


def _times(share, operator):
    """A `LinearOperator` times numbers above 0, [batch]."""
    known = {
        "is_non_singular": operator.is_non_singular,
        "is_self_adjoint": operator.is_self_adjoint,
        "is_positive_definite": operator.is_positive_definite,
    }
    linalg = tf.linalg
    if isinstance(operator, (linalg.LinearOperatorIdentity, linalg.LinearOperatorScaledIdentity)):
        multiplier = share * getattr(operator, "multiplier", 1.0)
        return linalg.LinearOperatorScaledIdentity(operator.range_dimension_tensor(), multiplier, **known)
    if isinstance(operator, linalg.LinearOperatorDiag):
        return linalg.LinearOperatorDiag(share[..., tf.newaxis] * operator.diag_part(), **known)
    if isinstance(operator, linalg.LinearOperatorLowerTriangular):
        return linalg.LinearOperatorLowerTriangular(share[..., tf.newaxis, tf.newaxis] * operator.to_dense(), **known)
    raise NotImplementedError(f"Unsupported LinearOperator type ({type(operator).__name__})")
