"""`tf.variable_scope(...).keep_weights(dtype)`: layers that compute in a narrow dtype and train wide variables."""

import copy
import functools

from tensorflow.python.framework import dtypes
from tensorflow.python.ops import math_ops, variable_scope


def keep_weights(self, dtype=dtypes.float32):
    """A scope like this one whose variables of narrower floating dtypes are kept in `dtype`.

    A variable that is asked for in a narrower type, as the layers do whose input is bfloat16, is made in `dtype`, and what asks for it
    gets a copy in its own type. So the forward and the backward pass are narrow, while the optimizer and the checkpoint have wide weights.

        with tf.variable_scope("dnn").keep_weights(dtype=tf.float32):
            net = tf.layers.dense(tf.cast(net, tf.bfloat16), 256)
        logits = tf.cast(net, tf.float32)

    Args:
      dtype: a floating dtype, that of the variables.

    Returns:
      A `tf.variable_scope`, for one `with` statement.

    Raises:
      TypeError: dtype is not floating.
    """
    kept = dtypes.as_dtype(dtype)
    if not kept.is_floating:
        raise TypeError(f"dtype of keep_weights must be floating, got {kept.name}")
    scope = copy.copy(self)
    scope._custom_getter = functools.partial(_get_kept, kept, self._custom_getter)
    return scope


def _get_kept(kept, inner, getter, *args, **kwargs):
    """inner: the custom getter of the scope itself, or None; it sees the dtype of the variable."""
    if inner is not None:
        getter = functools.partial(inner, getter)
    asked = dtypes.as_dtype(kwargs["dtype"]) if kwargs.get("dtype") is not None else dtypes.float32
    if not asked.is_floating or asked.size >= kept.size:
        return getter(*args, **kwargs)
    return math_ops.cast(getter(*args, **{**kwargs, "dtype": kept}), asked, name="kept")


def install() -> None:
    variable_scope.variable_scope.keep_weights = keep_weights
