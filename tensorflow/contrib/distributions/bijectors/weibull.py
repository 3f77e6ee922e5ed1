"""The Weibull bijector, which 1.15 had at this path alone."""

import tensorflow as tf

from tensorflow.contrib.distributions.bijectors.elementwise import _Elementwise


class Weibull(_Elementwise):
    """y = 1 - exp(-(x / scale)^concentration) for x >= 0, the distribution function of a Weibull variable.

    Args:
      scale: positive tensor.
      concentration: positive tensor of the type of `scale`.
      validate_args: whether values out of range are errors when it runs: of the arguments, of x and of y in [0, 1].
      name: name of the bijector.
    """

    def __init__(self, scale=1.0, concentration=1.0, validate_args=False, name="weibull"):
        with tf.name_scope(name, values=[scale, concentration]):
            self._scale = tf.convert_to_tensor(scale, name="scale")
            self._concentration = tf.convert_to_tensor(concentration, dtype=self._scale.dtype, name="concentration")
            if validate_args:
                self._scale = _checked(self._scale, tf.assert_positive, "scale must be positive")
                self._concentration = _checked(
                    self._concentration, tf.assert_positive, "concentration must be positive"
                )
        super().__init__(validate_args, name, (self._scale, self._concentration))

    @property
    def scale(self):
        return self._scale

    @property
    def concentration(self):
        return self._concentration

    def _forward(self, x):
        x = self._valid(x, tf.assert_non_negative, "x must not be negative")
        return -tf.expm1(-((x / self.scale) ** self.concentration))

    def _inverse(self, y):
        y = self._valid(y, _assert_in_unit_interval, "y must be in [0, 1]")
        return self.scale * (-tf.log1p(-y)) ** (1 / self.concentration)

    def _inverse_log_det_jacobian(self, y):
        y = self._valid(y, _assert_in_unit_interval, "y must be in [0, 1]")
        hazard = -tf.log1p(-y)
        return hazard + (1 / self.concentration - 1) * tf.log(hazard) + tf.log(self.scale / self.concentration)

    def _forward_log_det_jacobian(self, x):
        x = self._valid(x, tf.assert_non_negative, "x must not be negative")
        z = x / self.scale
        return -(z**self.concentration) + (self.concentration - 1) * tf.log(z) + tf.log(self.concentration / self.scale)

    def _valid(self, value, check, message):
        return _checked(value, check, message) if self.validate_args else value


def _assert_in_unit_interval(value, message):
    return tf.group(
        tf.assert_non_negative(value, message=message),
        tf.assert_less_equal(value, tf.ones_like(value), message=message),
    )


def _checked(value, check, message):
    with tf.control_dependencies([check(value, message=message)]):
        return tf.identity(value)
