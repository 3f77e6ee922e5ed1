"""What scalar distributions with broadcast parameters share."""

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions import distribution

Distribution = distribution.Distribution
FULLY_REPARAMETERIZED = distribution.FULLY_REPARAMETERIZED
NOT_REPARAMETERIZED = distribution.NOT_REPARAMETERIZED


class BroadcastDistribution(Distribution):
    """A distribution whose batch shape is that of its parameters together. Subclasses call `_set_up` from `__init__`."""

    _SCALAR_EVENT = True

    def _set_up(self, name, validate_args, allow_nan_stats, reparameterization_type, arguments, **parameters):
        """Sets `_NAME` for each parameter, and what the base class needs."""
        tensors = {key: value for key, value in parameters.items() if value is not None}
        for key, value in parameters.items():
            setattr(self, f"_{key}", value)
        self._shaping = list(tensors.values())
        super().__init__(
            dtype=next(iter(tensors.values())).dtype.base_dtype,
            reparameterization_type=reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters={k: v for k, v in arguments.items() if k not in ("self", "__class__")},
            graph_parents=list(tensors.values()),
            name=name,
        )

    def _batch_shape_tensor(self):
        shape = tf.shape(self._shaping[0])
        for other in self._shaping[1:]:
            shape = tf.broadcast_dynamic_shape(shape, tf.shape(other))
        return shape

    def _batch_shape(self):
        shape = self._shaping[0].shape
        for other in self._shaping[1:]:
            shape = tf.broadcast_static_shape(shape, other.shape)
        return shape

    def _event_shape_tensor(self):
        return tf.constant([], dtype=tf.int32)

    def _event_shape(self):
        return tf.TensorShape([])

    def _filled(self, value):
        """`value` with the batch shape."""
        return value + tf.zeros(self.batch_shape_tensor(), self.dtype)

    def _open_uniform(self, n, seed):
        """[n] + batch shape, uniform on (0, 1): 0 itself, where logarithms end, does not come."""
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        tiny = np.finfo(self.dtype.as_numpy_dtype).tiny
        return tf.random_uniform(shape, minval=tiny, maxval=1.0, dtype=self.dtype, seed=seed)

    def _or_nan(self, defined, value, message):
        """`value` where `defined`, else NaN, or an error when it runs if `allow_nan_stats` is off."""
        if self.allow_nan_stats:
            nan = tf.fill(self.batch_shape_tensor(), np.array(np.nan, dtype=self.dtype.as_numpy_dtype))
            return tf.where(self._to_batch(defined), self._filled(value), nan)
        with tf.control_dependencies([tf.Assert(tf.reduce_all(defined), [message])]):
            return tf.identity(value)

    def _to_batch(self, condition):
        return tf.logical_and(condition, tf.ones(self.batch_shape_tensor(), tf.bool))


def positive(*names):
    """Checks that parameters are positive, for `validate_args`."""
    return [tf.assert_positive(value, message=f"{name} must be positive") for name, value in names]
