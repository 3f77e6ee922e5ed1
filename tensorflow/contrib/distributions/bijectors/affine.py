"""Affine bijectors of vectors."""

import tensorflow as tf
from tensorflow.python.ops.distributions.bijector import Bijector


def scale_operator(identity_multiplier=None, diag=None, tril=None, perturb_factor=None, perturb_diag=None, dtype=None):
    """The sum of c I, a diagonal, a lower triangle, and U diag(d) U^T, as a LinearOperator; None if all are None.

    Raises:
      ValueError: only an identity multiplier, whose size is unknown, comes with a perturbation.
    """

    def tensor(value):
        return None if value is None else tf.convert_to_tensor(value, dtype=dtype)

    c, diag, tril, u, d = (tensor(v) for v in (identity_multiplier, diag, tril, perturb_factor, perturb_diag))
    multiplied = None if c is None else c[..., tf.newaxis]
    if tril is not None:
        tril = tf.matrix_band_part(tril, -1, 0)
        if diag is not None or c is not None:
            more = (0 if diag is None else diag) + (0 if multiplied is None else multiplied)
            tril = tf.matrix_set_diag(tril, tf.matrix_diag_part(tril) + more)
        base = tf.linalg.LinearOperatorLowerTriangular(tril, is_non_singular=True)
    elif diag is not None:
        base = tf.linalg.LinearOperatorDiag(diag if c is None else diag + multiplied, is_non_singular=True)
    elif c is not None and u is None:
        return None
    elif u is not None:
        ones = tf.ones_like(u[..., 0])
        base = tf.linalg.LinearOperatorDiag(ones if c is None else ones * multiplied, is_non_singular=True)
    else:
        return None
    if u is None:
        return base
    return tf.linalg.LinearOperatorLowRankUpdate(
        base,
        u,
        diag_update=d,
        is_diag_update_positive=True if d is None else None,
        is_non_singular=True,
        is_self_adjoint=True if tril is None else None,
        is_positive_definite=True if tril is None and d is None else None,
        is_square=True,
    )


class AffineLinearOperator(Bijector):
    """y = scale @ x + shift.

    Args:
      shift: [..., n], none by default.
      scale: LinearOperator, the identity by default.
      validate_args: whether a singular scale is an error when it runs.
      name: name of the bijector.

    Raises:
      TypeError: `scale` is no LinearOperator, or of another type than `shift`.
      ValueError: `scale` is not known to be non-singular.
    """

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_linear_operator"):
        with tf.name_scope(name, values=[shift]):
            self._shift = None if shift is None else tf.convert_to_tensor(shift, name="shift")
            if scale is not None:
                if not isinstance(scale, tf.linalg.LinearOperator):
                    raise TypeError(f"scale is not an instance of tf.LinearOperator: {type(scale)}")
                if not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
                if self._shift is not None and self._shift.dtype.base_dtype != scale.dtype.base_dtype:
                    raise TypeError(
                        f"shift.dtype({self._shift.dtype}) is incompatible with scale.dtype({scale.dtype})."
                    )
            self._scale = scale
        parents = [t for t in (self._shift,) if t is not None]
        super().__init__(
            forward_min_event_ndims=1,
            graph_parents=parents,
            is_constant_jacobian=True,
            dtype=scale.dtype if scale is not None else None if shift is None else self._shift.dtype,
            validate_args=validate_args,
            name=name,
        )

    @property
    def shift(self):
        return self._shift

    @property
    def scale(self):
        return self._scale

    def _checks(self):
        return [self.scale.assert_non_singular()] if self.validate_args and self.scale is not None else []

    def _forward(self, x):
        y = x
        if self.scale is not None:
            with tf.control_dependencies(self._checks()):
                y = self.scale.matvec(y)
        return y if self.shift is None else y + self.shift

    def _inverse(self, y):
        x = y if self.shift is None else y - self.shift
        if self.scale is None:
            return x
        with tf.control_dependencies(self._checks()):
            return self.scale.solvevec(x)

    def _forward_log_det_jacobian(self, x):
        if self.scale is None:
            return tf.constant(0.0, dtype=x.dtype.base_dtype)
        with tf.control_dependencies(self._checks()):
            return self.scale.log_abs_determinant()


class Affine(Bijector):
    """y = scale @ x + shift; scale is the sum of the parts below, the identity if there is none.

    Args:
      shift: [..., n].
      scale_identity_multiplier: [...] c, of c I.
      scale_diag: [..., n] diagonal.
      scale_tril: [..., n, n] lower triangle; what lies above counts as 0.
      scale_perturb_factor: [..., n, r] U, of U diag(d) U^T.
      scale_perturb_diag: [..., r] d, ones by default.
      validate_args: whether a singular scale is an error when it runs.
      name: name of the bijector.
    """

    def __init__(
        self,
        shift=None,
        scale_identity_multiplier=None,
        scale_diag=None,
        scale_tril=None,
        scale_perturb_factor=None,
        scale_perturb_diag=None,
        validate_args=False,
        name="affine",
    ):
        with tf.name_scope(name):
            self._shift = None if shift is None else tf.convert_to_tensor(shift, name="shift")
            dtype = None if self._shift is None else self._shift.dtype.base_dtype
            self._multiplier = None
            if scale_identity_multiplier is not None:
                self._multiplier = tf.convert_to_tensor(scale_identity_multiplier, dtype=dtype)
            self._scale = scale_operator(
                self._multiplier, scale_diag, scale_tril, scale_perturb_factor, scale_perturb_diag, dtype
            )
        super().__init__(
            forward_min_event_ndims=1,
            graph_parents=[t for t in (self._shift, self._multiplier) if t is not None],
            is_constant_jacobian=True,
            dtype=dtype,
            validate_args=validate_args,
            name=name,
        )

    @property
    def shift(self):
        return self._shift

    @property
    def scale(self):
        return self._scale if self._scale is not None else self._multiplier

    def _factor(self):
        return None if self._multiplier is None else self._multiplier[..., tf.newaxis]

    def _forward(self, x):
        y = tf.identity(x)
        if self._scale is not None:
            y = self._scale.matvec(y)
        elif self._multiplier is not None:
            y *= self._factor()
        return y if self.shift is None else y + self.shift

    def _inverse(self, y):
        x = tf.identity(y)
        if self.shift is not None:
            x -= self.shift
        if self._scale is not None:
            return self._scale.solvevec(x)
        return x if self._multiplier is None else x / self._factor()

    def _forward_log_det_jacobian(self, x):
        if self._scale is not None:
            return self._scale.log_abs_determinant()
        if self._multiplier is not None:
            size = tf.cast(tf.shape(x)[-1], x.dtype.base_dtype)
            return tf.log(tf.abs(self._multiplier)) * size
        return tf.constant(0.0, dtype=x.dtype.base_dtype)
