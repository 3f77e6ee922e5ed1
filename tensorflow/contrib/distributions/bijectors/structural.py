"""Bijectors made of bijectors or functions, and those that move elements."""

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import util
from tensorflow.python.ops.distributions.bijector import Bijector

from tensorflow.contrib.distributions.bijectors.elementwise import AffineScalar, Softplus


def _chain_min_event_ndims(bijectors, forward):
    """The least rank of events of a chain; ranks may change on the way."""
    least = touched = 0
    for b in reversed(bijectors) if forward else bijectors:
        here, there = b.forward_min_event_ndims, b.inverse_min_event_ndims
        if not forward:
            here, there = there, here
        least += max(0, here - touched)
        touched = max(here, touched) - (here - there)
    return least


class Chain(Bijector):
    """The composition of bijectors; the last one is applied first.

    Args:
      bijectors: list; the identity if it is empty.
      validate_args: see `Bijector`.
      name: name of the bijector.

    Raises:
      NotImplementedError: one is not injective.
      ValueError: they have different dtypes.
    """

    def __init__(self, bijectors=None, validate_args=False, name=None):
        bijectors = tuple(bijectors or ())
        for b in bijectors:
            if not b._is_injective:
                raise NotImplementedError(f"Invert is not implemented for non-injective bijector ({b.name})")
        dtypes = {b.dtype for b in bijectors if b.dtype is not None}
        if len(dtypes) > 1:
            raise ValueError(f"incompatible dtypes: {sorted(d.name for d in dtypes)}")
        self._bijectors = bijectors
        super().__init__(
            graph_parents=[t for b in bijectors for t in b.graph_parents],
            forward_min_event_ndims=_chain_min_event_ndims(bijectors, True),
            inverse_min_event_ndims=_chain_min_event_ndims(bijectors, False),
            is_constant_jacobian=all(b.is_constant_jacobian for b in bijectors),
            validate_args=validate_args,
            dtype=dtypes.pop() if dtypes else None,
            name=name or ("identity" if not bijectors else "_of_".join(["chain"] + [b.name for b in bijectors])),
        )

    @property
    def bijectors(self):
        return self._bijectors

    def _shape(self, shape, method, order):
        for b in order:
            shape = getattr(b, method)(shape)
        return shape

    def _forward_event_shape(self, shape):
        return self._shape(shape, "forward_event_shape", reversed(self.bijectors))

    def _forward_event_shape_tensor(self, shape):
        return self._shape(shape, "forward_event_shape_tensor", reversed(self.bijectors))

    def _inverse_event_shape(self, shape):
        return self._shape(shape, "inverse_event_shape", self.bijectors)

    def _inverse_event_shape_tensor(self, shape):
        return self._shape(shape, "inverse_event_shape_tensor", self.bijectors)

    def _forward(self, x, **kwargs):
        for b in reversed(self.bijectors):
            x = b.forward(x, **kwargs.get(b.name, {}))
        return x

    def _inverse(self, y, **kwargs):
        for b in self.bijectors:
            y = b.inverse(y, **kwargs.get(b.name, {}))
        return y

    def _forward_log_det_jacobian(self, x, **kwargs):
        total = tf.cast(0.0, x.dtype.base_dtype)
        ndims = self.forward_min_event_ndims
        for b in reversed(self.bijectors):
            total += b.forward_log_det_jacobian(x, event_ndims=ndims, **kwargs.get(b.name, {}))
            ndims += b.inverse_min_event_ndims - b.forward_min_event_ndims
            x = b.forward(x, **kwargs.get(b.name, {}))
        return total

    def _inverse_log_det_jacobian(self, y, **kwargs):
        total = tf.cast(0.0, y.dtype.base_dtype)
        ndims = self.inverse_min_event_ndims
        for b in self.bijectors:
            total += b.inverse_log_det_jacobian(y, event_ndims=ndims, **kwargs.get(b.name, {}))
            ndims += b.forward_min_event_ndims - b.inverse_min_event_ndims
            y = b.inverse(y, **kwargs.get(b.name, {}))
        return total


class Invert(Bijector):
    """A bijector the other way round.

    Raises:
      NotImplementedError: it is not injective.
    """

    def __init__(self, bijector, validate_args=False, name=None):
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            name=name or "_".join(["invert", bijector.name]),
        )

    @property
    def bijector(self):
        return self._bijector

    def _forward_event_shape(self, shape):
        return self.bijector._inverse_event_shape(shape)

    def _forward_event_shape_tensor(self, shape):
        return self.bijector._inverse_event_shape_tensor(shape)

    def _inverse_event_shape(self, shape):
        return self.bijector._forward_event_shape(shape)

    def _inverse_event_shape_tensor(self, shape):
        return self.bijector._forward_event_shape_tensor(shape)

    def _forward(self, x, **kwargs):
        return self.bijector.inverse(x, **kwargs)

    def _inverse(self, y, **kwargs):
        return self.bijector.forward(y, **kwargs)

    def _forward_log_det_jacobian(self, x, **kwargs):
        return self.bijector.inverse_log_det_jacobian(x, event_ndims=self.forward_min_event_ndims, **kwargs)

    def _inverse_log_det_jacobian(self, y, **kwargs):
        return self.bijector.forward_log_det_jacobian(y, event_ndims=self.inverse_min_event_ndims, **kwargs)


class Inline(Bijector):
    """A bijector of functions.

    Args:
      forward_fn: x -> y.
      inverse_fn: y -> x.
      inverse_log_det_jacobian_fn: y -> log |det|.
      forward_log_det_jacobian_fn: x -> log |det|.
      forward_event_shape_fn: shape -> shape; the same shape by default.
      forward_event_shape_tensor_fn: the same for tensors.
      inverse_event_shape_fn: shape -> shape.
      inverse_event_shape_tensor_fn: the same for tensors.
      is_constant_jacobian: whether the determinant is the same everywhere.
      validate_args: see `Bijector`.
      forward_min_event_ndims: least rank of x's events.
      inverse_min_event_ndims: least rank of y's events.
      name: name of the bijector.
    """

    def __init__(
        self,
        forward_fn=None,
        inverse_fn=None,
        inverse_log_det_jacobian_fn=None,
        forward_log_det_jacobian_fn=None,
        forward_event_shape_fn=None,
        forward_event_shape_tensor_fn=None,
        inverse_event_shape_fn=None,
        inverse_event_shape_tensor_fn=None,
        is_constant_jacobian=False,
        validate_args=False,
        forward_min_event_ndims=None,
        inverse_min_event_ndims=None,
        name="inline",
    ):
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )
        self._functions = dict(
            forward_fn=forward_fn,
            inverse_fn=inverse_fn,
            inverse_log_det_jacobian_fn=inverse_log_det_jacobian_fn,
            forward_log_det_jacobian_fn=forward_log_det_jacobian_fn,
            forward_event_shape_fn=forward_event_shape_fn or (lambda shape: shape),
            forward_event_shape_tensor_fn=forward_event_shape_tensor_fn or (lambda shape: shape),
            inverse_event_shape_fn=inverse_event_shape_fn or (lambda shape: shape),
            inverse_event_shape_tensor_fn=inverse_event_shape_tensor_fn or (lambda shape: shape),
        )

    def _call(self, what, value, kwargs):
        if self._functions[what] is None:
            raise NotImplementedError(f"Cannot call without {what}.")
        return self._functions[what](value, **kwargs)

    def _forward_event_shape(self, shape):
        return self._functions["forward_event_shape_fn"](shape)

    def _forward_event_shape_tensor(self, shape):
        return self._functions["forward_event_shape_tensor_fn"](shape)

    def _inverse_event_shape(self, shape):
        return self._functions["inverse_event_shape_fn"](shape)

    def _inverse_event_shape_tensor(self, shape):
        return self._functions["inverse_event_shape_tensor_fn"](shape)

    def _forward(self, x, **kwargs):
        return self._call("forward_fn", x, kwargs)

    def _inverse(self, y, **kwargs):
        return self._call("inverse_fn", y, kwargs)

    def _inverse_log_det_jacobian(self, y, **kwargs):
        return self._call("inverse_log_det_jacobian_fn", y, kwargs)

    def _forward_log_det_jacobian(self, x, **kwargs):
        return self._call("forward_log_det_jacobian_fn", x, kwargs)


class ConditionalBijector(Bijector):
    """A bijector whose methods take `condition_kwargs`, given to them as keywords."""

    def forward(self, x, name="forward", **condition_kwargs):
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y, name="inverse", **condition_kwargs):
        return self._call_inverse(y, name, **condition_kwargs)

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian", **condition_kwargs):
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)

    def forward_log_det_jacobian(self, x, event_ndims, name="forward_log_det_jacobian", **condition_kwargs):
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)

    # A subclass has one of these; with keywords, the base class could not tell that the other is missing.

    def _inverse_log_det_jacobian(self, y, **condition_kwargs):
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _forward_log_det_jacobian(self, x, **condition_kwargs):
        raise NotImplementedError("forward_log_det_jacobian not implemented.")


class Permute(Bijector):
    """Puts the last dimension into another order.

    Args:
      permutation: [n] integers 0..n-1, each once.
      validate_args: whether another `permutation` is an error when it runs.
      name: name of the bijector.

    Raises:
      TypeError: `permutation` is not of integers.
      ValueError: it is known, and no permutation.
    """

    def __init__(self, permutation, validate_args=False, name=None):
        with tf.name_scope(name, "permute", values=[permutation]):
            permutation = tf.convert_to_tensor(permutation, name="permutation")
            if not permutation.dtype.is_integer:
                raise TypeError(f"permutation.dtype ({permutation.dtype.name}) should be `int`-like.")
            static = tf.get_static_value(permutation)
            if static is not None and not np.array_equal(np.sort(static), np.arange(static.size)):
                raise ValueError(f"Permutation over `d` must contain exactly one of each of 0..d-1, got {static}")
            if static is None and validate_args:
                ordered = tf.nn.top_k(-permutation, k=tf.size(permutation)).values
                check = tf.assert_equal(ordered, -tf.range(tf.size(permutation)), message="permutation is none")
                with tf.control_dependencies([check]):
                    permutation = tf.identity(permutation)
            self._permutation = permutation
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "permute",
        )

    @property
    def permutation(self):
        return self._permutation

    def _forward(self, x):
        return tf.gather(x, self.permutation, axis=-1)

    def _inverse(self, y):
        return tf.gather(y, tf.invert_permutation(self.permutation), axis=-1)

    def _forward_log_det_jacobian(self, x):
        return tf.constant(0.0, dtype=x.dtype.base_dtype)


class Reshape(Bijector):
    """Gives events another shape.

    Args:
      event_shape_out: the new shape; one entry may be -1.
      event_shape_in: the old shape; one entry may be -1. (-1,) by default.
      validate_args: see `Bijector`.
      name: name of the bijector.

    Raises:
      ValueError: a shape is no vector or has several -1.
    """

    def __init__(self, event_shape_out, event_shape_in=(-1,), validate_args=False, name=None):
        with tf.name_scope(name, "reshape", values=[event_shape_out, event_shape_in]):
            shapes = []
            for what, shape in (("event_shape_out", event_shape_out), ("event_shape_in", event_shape_in)):
                shape = tf.convert_to_tensor(shape, name=what, dtype=tf.int32)
                if shape.shape.ndims != 1:
                    raise ValueError(f"{what} must be a vector, got shape {shape.shape}")
                static = tf.get_static_value(shape)
                if static is not None and (np.sum(static == -1) > 1 or np.any(static < -1)):
                    raise ValueError(f"{what} must have entries >= 0 and at most one -1, got {static}")
                shapes.append(shape)
            self._event_shape_out, self._event_shape_in = shapes
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "reshape",
        )

    def _reshaped(self, x, before, after):
        rank = tf.size(before)
        batch = tf.shape(x)[: tf.rank(x) - rank]
        return tf.reshape(x, tf.concat([batch, after], 0))

    def _forward(self, x):
        y = self._reshaped(x, self._event_shape_in, self._event_shape_out)
        return y

    def _inverse(self, y):
        return self._reshaped(y, self._event_shape_out, self._event_shape_in)

    def _inverse_log_det_jacobian(self, y):
        return tf.constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x):
        return tf.constant(0.0, dtype=x.dtype)

    @staticmethod
    def _static(shape, before, after):
        shape = tf.TensorShape(shape)
        before, after = tf.get_static_value(before), tf.get_static_value(after)
        if before is None or after is None or shape.ndims is None:
            return tf.TensorShape(None)
        rank = len(before)
        head, tail = shape[: shape.ndims - rank], shape[shape.ndims - rank :]
        if any(b != -1 and t.value is not None and b != t.value for b, t in zip(before, tail.dims)):
            raise ValueError(f"Input event shape {tail} does not fit {before.tolist()}")
        after = after.tolist()
        if -1 in after:
            size = tail.num_elements()
            known = int(np.prod([a for a in after if a != -1]))
            after[after.index(-1)] = None if size is None else size // known
        return head.concatenate(after)

    def _forward_event_shape(self, shape):
        return self._static(shape, self._event_shape_in, self._event_shape_out)

    def _inverse_event_shape(self, shape):
        return self._static(shape, self._event_shape_out, self._event_shape_in)

    def _tensor(self, shape, before, after):
        size = tf.reduce_prod(shape[tf.size(shape) - tf.size(before) :])
        known = -tf.reduce_prod(after)
        tail = tf.where(after < 0, tf.fill(tf.shape(after), size // tf.maximum(known, 1)), after)
        return tf.concat([shape[: tf.size(shape) - tf.size(before)], tail], 0)

    def _forward_event_shape_tensor(self, shape):
        return self._tensor(shape, self._event_shape_in, self._event_shape_out)

    def _inverse_event_shape_tensor(self, shape):
        return self._tensor(shape, self._event_shape_out, self._event_shape_in)


class Ordered(Bijector):
    """y[0] = x[0], y[k] = log(x[k] - x[k-1]), for increasing x."""

    def __init__(self, validate_args=False, name="ordered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward(self, x):
        if self.validate_args:
            with tf.control_dependencies([tf.assert_positive(x[..., 1:] - x[..., :-1], message="x must increase")]):
                x = tf.identity(x)
        return tf.concat([x[..., :1], tf.log(x[..., 1:] - x[..., :-1])], axis=-1)

    def _inverse(self, y):
        return tf.cumsum(tf.concat([y[..., :1], tf.exp(y[..., 1:])], axis=-1), axis=-1)

    def _inverse_log_det_jacobian(self, y):
        return tf.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x):
        return -tf.reduce_sum(tf.log(x[..., 1:] - x[..., :-1]), axis=-1)


class SoftmaxCentered(Bijector):
    """y = softmax([x, 0]): vectors of length n to points of the simplex with n + 1 entries."""

    def __init__(self, validate_args=False, name="softmax_centered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    @staticmethod
    def _longer(shape, by):
        shape = tf.TensorShape(shape)
        if shape.ndims is None or shape.ndims < 1:
            return shape
        last = shape.dims[-1].value
        return shape[:-1].concatenate([None if last is None else last + by])

    def _forward_event_shape(self, shape):
        return self._longer(shape, 1)

    def _inverse_event_shape(self, shape):
        return self._longer(shape, -1)

    def _forward_event_shape_tensor(self, shape):
        return tf.concat([shape[:-1], shape[-1:] + 1], 0)

    def _inverse_event_shape_tensor(self, shape):
        return tf.concat([shape[:-1], shape[-1:] - 1], 0)

    def _forward(self, x):
        return tf.nn.softmax(tf.concat([x, tf.zeros_like(x[..., :1])], -1))

    def _inverse(self, y):
        return tf.log(y[..., :-1]) - tf.log(y[..., -1:])

    def _inverse_log_det_jacobian(self, y):
        return -tf.reduce_sum(tf.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x):
        count = tf.cast(tf.shape(x)[-1] + 1, x.dtype)
        return tf.reduce_sum(x, -1) - count * tf.nn.softplus(tf.reduce_logsumexp(x, -1))


class CholeskyOuterProduct(Bijector):
    """Y = X X^T, X a lower triangle with a positive diagonal."""

    def __init__(self, validate_args=False, name="cholesky_outer_product"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x):
        return tf.matmul(x, x, adjoint_b=True)

    def _inverse(self, y):
        return tf.cholesky(y)

    def _forward_log_det_jacobian(self, x):
        diag = tf.matrix_diag_part(x)
        n = tf.shape(diag)[-1]
        powers = tf.cast(n - tf.range(n), diag.dtype)
        return tf.cast(n, diag.dtype) * np.log(2.0).astype(diag.dtype.as_numpy_dtype) + tf.reduce_sum(
            powers * tf.log(diag), -1
        )


class FillTriangular(Bijector):
    """Vectors of length n (n + 1) / 2 to triangles; see `fill_triangular`."""

    def __init__(self, upper=False, validate_args=False, name="fill_triangular"):
        self._upper = upper
        super().__init__(
            forward_min_event_ndims=1,
            inverse_min_event_ndims=2,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name,
        )

    def _forward(self, x):
        return util.fill_triangular(x, upper=self._upper)

    def _inverse(self, y):
        return util.fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x):
        return tf.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y):
        return tf.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, shape):
        n = shape.dims[-1].value
        if n is None:
            return shape[:-1].concatenate([None, None])
        side = int(round((np.sqrt(8 * n + 1) - 1) / 2))
        if side * (side + 1) // 2 != n:
            raise ValueError(f"FillTriangular: {n} is no triangular number")
        return shape[:-1].concatenate([side, side])

    def _inverse_event_shape(self, shape):
        shape = tf.TensorShape(shape)
        side, other = (d.value for d in shape.dims[-2:])
        if side is not None and other is not None and side != other:
            raise ValueError(f"Matrix must be square, got {shape}")
        return shape[:-2].concatenate([None if side is None else side * (side + 1) // 2])

    def _forward_event_shape_tensor(self, shape):
        n = tf.cast(shape[-1:], tf.float32)
        side = tf.cast(tf.round((tf.sqrt(8 * n + 1) - 1) / 2), tf.int32)
        return tf.concat([shape[:-1], side, side], 0)

    def _inverse_event_shape_tensor(self, shape):
        side = shape[-1:]
        return tf.concat([shape[:-2], side * (side + 1) // 2], 0)


class MatrixInverseTriL(Bijector):
    """The inverse of a lower triangle; its own inverse."""

    def __init__(self, validate_args=False, name="matrix_inverse_tril"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x):
        eye = tf.eye(tf.shape(x)[-1], batch_shape=tf.shape(x)[:-2], dtype=x.dtype)
        inverse = tf.matrix_triangular_solve(x, eye)
        inverse.set_shape(x.shape)
        return inverse

    def _inverse(self, y):
        return self._forward(y)

    def _forward_log_det_jacobian(self, x):
        size = tf.cast(tf.shape(x)[-1], x.dtype.base_dtype)
        return -(size + 1.0) * tf.reduce_sum(tf.log(tf.abs(tf.matrix_diag_part(x))), axis=-1)


class TransformDiagonal(Bijector):
    """A bijector of the diagonal of matrices.

    Args:
      diag_bijector: bijector of the diagonal.
      validate_args: see `Bijector`.
      name: name of the bijector.
    """

    def __init__(self, diag_bijector, validate_args=False, name="transform_diagonal"):
        self._diag_bijector = diag_bijector
        super().__init__(
            forward_min_event_ndims=2,
            is_constant_jacobian=diag_bijector.is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )

    def _forward(self, x):
        return tf.matrix_set_diag(x, self._diag_bijector.forward(tf.matrix_diag_part(x)))

    def _inverse(self, y):
        return tf.matrix_set_diag(y, self._diag_bijector.inverse(tf.matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x):
        return self._diag_bijector.forward_log_det_jacobian(tf.matrix_diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y):
        return self._diag_bijector.inverse_log_det_jacobian(tf.matrix_diag_part(y), event_ndims=1)


class ScaleTriL(Chain):
    """Vectors to lower triangles with a positive diagonal.

    Args:
      diag_bijector: bijector of the diagonal, `Softplus` by default.
      diag_shift: added to the diagonal afterwards; 1e-5 by default.
      validate_args: see `Bijector`.
      name: name of the bijector.
    """

    def __init__(self, diag_bijector=None, diag_shift=1e-5, validate_args=False, name="scale_tril"):
        diag_bijector = diag_bijector or Softplus(validate_args=validate_args)
        if diag_shift is not None:
            diag_bijector = Chain([AffineScalar(shift=diag_shift), diag_bijector])
        super().__init__(
            [TransformDiagonal(diag_bijector=diag_bijector), FillTriangular()], validate_args=validate_args, name=name
        )
