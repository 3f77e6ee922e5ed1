"""Bijectors that act on each element."""

import math

import tensorflow as tf
from tensorflow.python.ops.distributions import util
from tensorflow.python.ops.distributions.bijector import Bijector


class _Elementwise(Bijector):
    def __init__(self, validate_args, name, parameters=(), constant=False):
        super().__init__(
            graph_parents=[p for p in parameters if isinstance(p, tf.Tensor)],
            forward_min_event_ndims=0,
            is_constant_jacobian=constant,
            validate_args=validate_args,
            name=name,
        )


class AbsoluteValue(_Elementwise):
    """y = |x|; the inverse is the pair (-y, y)."""

    def __init__(self, validate_args=False, name="absolute_value"):
        super().__init__(validate_args, name, constant=True)

    def _forward(self, x):
        return tf.abs(x)

    def _inverse(self, y):
        return -y, y

    def _inverse_log_det_jacobian(self, y):
        zero = tf.zeros([], dtype=y.dtype.base_dtype)
        return zero, zero

    @property
    def _is_injective(self):
        return False


class AffineScalar(_Elementwise):
    """y = scale x + shift; either may be left out.

    Args:
      shift: tensor, 0 by default.
      scale: tensor, 1 by default.
      validate_args: whether a zero scale is an error when it runs.
      name: name of the bijector.
    """

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_scalar"):
        with tf.name_scope(name):
            self._shift = None if shift is None else tf.convert_to_tensor(shift, name="shift")
            self._scale = None if scale is None else tf.convert_to_tensor(scale, name="scale")
            if validate_args and self._scale is not None:
                with tf.control_dependencies([tf.assert_none_equal(self._scale, tf.zeros([], self._scale.dtype))]):
                    self._scale = tf.identity(self._scale)
        super().__init__(validate_args, name, (self._shift, self._scale), constant=True)

    @property
    def shift(self):
        return self._shift

    @property
    def scale(self):
        return self._scale

    def _forward(self, x):
        y = tf.identity(x)
        if self.scale is not None:
            y *= self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y):
        x = tf.identity(y)
        if self.shift is not None:
            x -= self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x):
        if self.scale is None:
            return tf.constant(0.0, dtype=x.dtype.base_dtype)
        return tf.log(tf.abs(self.scale))


class PowerTransform(_Elementwise):
    """y = (1 + power x)^(1 / power), and exp(x) for power 0.

    Raises:
      ValueError: `power` is negative or no number.
    """

    def __init__(self, power=0.0, validate_args=False, name="power_transform"):
        value = tf.get_static_value(tf.convert_to_tensor(power, name="power"))
        if value is None or value < 0:
            raise ValueError(f"`power` must be a non-negative TF constant, got {power}")
        self._power = float(value)
        super().__init__(validate_args, name)

    @property
    def power(self):
        return self._power

    def _forward(self, x):
        if self.power == 0.0:
            return tf.exp(x)
        # By logarithms, for values near 0.
        return tf.exp(tf.log1p(x * self.power) / self.power)

    def _inverse(self, y):
        return tf.log(y) if self.power == 0.0 else tf.expm1(tf.log(y) * self.power) / self.power

    def _inverse_log_det_jacobian(self, y):
        return (self.power - 1.0) * tf.log(y)

    def _forward_log_det_jacobian(self, x):
        return x if self.power == 0.0 else (1.0 / self.power - 1.0) * tf.log1p(x * self.power)


class Exp(PowerTransform):
    """y = exp(x)."""

    def __init__(self, validate_args=False, name="exp"):
        super().__init__(validate_args=validate_args, name=name)


class Gumbel(_Elementwise):
    """y = exp(-exp(-(x - loc) / scale)), the distribution function of a Gumbel variable."""

    def __init__(self, loc=0.0, scale=1.0, validate_args=False, name="gumbel"):
        with tf.name_scope(name, values=[loc, scale]):
            self._loc = tf.convert_to_tensor(loc, name="loc")
            self._scale = tf.convert_to_tensor(scale, name="scale")
        super().__init__(validate_args, name, (self._loc, self._scale))

    @property
    def loc(self):
        return self._loc

    @property
    def scale(self):
        return self._scale

    def _forward(self, x):
        return tf.exp(-tf.exp(-(x - self.loc) / self.scale))

    def _inverse(self, y):
        return self.loc - self.scale * tf.log(-tf.log(y))

    def _inverse_log_det_jacobian(self, y):
        return tf.log(self.scale / (-tf.log(y) * y))

    def _forward_log_det_jacobian(self, x):
        z = (x - self.loc) / self.scale
        return -z - tf.exp(-z) - tf.log(self.scale)


class Kumaraswamy(_Elementwise):
    """y = (1 - (1 - x)^(1/b))^(1/a), on the unit interval; a and b are `concentration1` and `concentration0`."""

    def __init__(self, concentration1=None, concentration0=None, validate_args=False, name="kumaraswamy"):
        with tf.name_scope(name, values=[concentration1, concentration0]):
            self._concentration1 = tf.convert_to_tensor(concentration1, name="concentration1")
            self._concentration0 = tf.convert_to_tensor(concentration0, name="concentration0")
        super().__init__(validate_args, name, (self._concentration1, self._concentration0))

    @property
    def concentration1(self):
        return self._concentration1

    @property
    def concentration0(self):
        return self._concentration0

    def _forward(self, x):
        return tf.exp(tf.log1p(-tf.exp(tf.log1p(-x) / self.concentration0)) / self.concentration1)

    def _inverse(self, y):
        return -tf.expm1(self.concentration0 * tf.log1p(-(y**self.concentration1)))

    def _inverse_log_det_jacobian(self, y):
        a, b = self.concentration1, self.concentration0
        return tf.log(a) + tf.log(b) + (a - 1) * tf.log(y) + (b - 1) * tf.log1p(-(y**a))


class Sigmoid(_Elementwise):
    """y = 1 / (1 + exp(-x))."""

    def __init__(self, validate_args=False, name="sigmoid"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return tf.sigmoid(x)

    def _inverse(self, y):
        return tf.log(y) - tf.log1p(-y)

    def _inverse_log_det_jacobian(self, y):
        return -tf.log(y) - tf.log1p(-y)

    def _forward_log_det_jacobian(self, x):
        return -tf.nn.softplus(-x) - tf.nn.softplus(x)


class Softplus(_Elementwise):
    """y = h log(1 + exp(x / h)), h the `hinge_softness`, 1 by default."""

    def __init__(self, hinge_softness=None, validate_args=False, name="softplus"):
        with tf.name_scope(name, values=[hinge_softness]):
            self._hinge_softness = (
                None if hinge_softness is None else tf.convert_to_tensor(hinge_softness, name="hinge_softness")
            )
        super().__init__(validate_args, name, (self._hinge_softness,))

    @property
    def hinge_softness(self):
        return self._hinge_softness

    def _scaled(self, value):
        return value if self._hinge_softness is None else value / tf.cast(self._hinge_softness, value.dtype)

    def _unscaled(self, value):
        return value if self._hinge_softness is None else value * tf.cast(self._hinge_softness, value.dtype)

    def _forward(self, x):
        return self._unscaled(tf.nn.softplus(self._scaled(x)))

    def _inverse(self, y):
        return self._unscaled(util.softplus_inverse(self._scaled(y)))

    def _inverse_log_det_jacobian(self, y):
        return -tf.log(-tf.expm1(-self._scaled(y)))

    def _forward_log_det_jacobian(self, x):
        return -tf.nn.softplus(-self._scaled(x))


class Softsign(_Elementwise):
    """y = x / (1 + |x|)."""

    def __init__(self, validate_args=False, name="softsign"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return x / (1.0 + tf.abs(x))

    def _inverse(self, y):
        return y / (1.0 - tf.abs(y))

    def _forward_log_det_jacobian(self, x):
        return -2.0 * tf.log1p(tf.abs(x))

    def _inverse_log_det_jacobian(self, y):
        return -2.0 * tf.log1p(-tf.abs(y))


class Square(_Elementwise):
    """y = x^2, for x >= 0."""

    def __init__(self, validate_args=False, name="square"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return tf.square(x)

    def _inverse(self, y):
        return tf.sqrt(y)

    def _forward_log_det_jacobian(self, x):
        return math.log(2.0) + tf.log(x)


class SinhArcsinh(_Elementwise):
    """y = sinh((arcsinh(x) + skewness) tailweight) (Jones and Pewsey 2009)."""

    def __init__(self, skewness=None, tailweight=None, validate_args=False, name="SinhArcsinh"):
        with tf.name_scope(name, values=[skewness, tailweight]):
            self._tailweight = tf.convert_to_tensor(1.0 if tailweight is None else tailweight, name="tailweight")
            self._skewness = tf.convert_to_tensor(0.0 if skewness is None else skewness, dtype=self._tailweight.dtype)
        super().__init__(validate_args, name, (self._skewness, self._tailweight))

    @property
    def skewness(self):
        return self._skewness

    @property
    def tailweight(self):
        return self._tailweight

    def _forward(self, x):
        return tf.sinh((tf.asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y):
        return tf.sinh(tf.asinh(y) / self.tailweight - self.skewness)

    def _forward_log_det_jacobian(self, x):
        inner = tf.cosh((tf.asinh(x) + self.skewness) * self.tailweight)
        return tf.log(inner * self.tailweight) - 0.5 * tf.log1p(tf.square(x))

    def _inverse_log_det_jacobian(self, y):
        inner = tf.cosh(tf.asinh(y) / self.tailweight - self.skewness)
        return tf.log(inner / self.tailweight) - 0.5 * tf.log1p(tf.square(y))
