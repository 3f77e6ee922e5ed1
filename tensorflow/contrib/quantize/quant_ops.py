"""Fake quantization whose range follows what goes through it."""

import tensorflow as tf
from tensorflow.contrib.framework import add_arg_scope
from tensorflow.python.training import moving_averages


@add_arg_scope
def FixedQuantize(inputs, init_min=-6.0, init_max=6.0, scope=None):
    """Fake quantization of 8 bits over the fixed range from `init_min` to `init_max`."""
    with tf.name_scope(scope, "FixedQuantize", values=[inputs]):
        return tf.quantization.fake_quant_with_min_max_args(inputs, min=init_min, max=init_max)


@add_arg_scope
def LastValueQuantize(
    inputs,
    per_channel=False,
    init_min=-6.0,
    init_max=6.0,
    vars_collection=tf.GraphKeys.MOVING_AVERAGE_VARIABLES,
    name_prefix="LastValueQuantize",
    reuse=None,
    is_training=True,
    num_bits=8,
    narrow_range=False,
    symmetric=False,
):
    """Fake quantization over the range of the last `inputs` of training, kept in the variables "min" and "max".

    Args:
      inputs: a float32 tensor; for `per_channel` of 1, 2 or 4 dimensions.
      per_channel: one range per entry of the last dimension instead of one for all.
      init_min, init_max: the range before any training.
      vars_collection: where the two variables go besides the global and the model variables.
      name_prefix: the variable scope.
      reuse: as in `tf.variable_scope`.
      is_training: whether the range is taken from `inputs`, or as the variables have it.
      num_bits: 2 to 16.
      narrow_range: leaves the lowest quantum out, as weights have it.
      symmetric: widens the range so that it is symmetric around 0.

    Returns:
      A tensor like `inputs`.

    Raises:
      ValueError: `per_channel` with another number of dimensions; `num_bits` out of range.
    """

    def store(variable, value, kind):
        return tf.assign(variable, value, name=f"Assign{kind}Last")

    return _quantize(
        inputs, per_channel, init_min, init_max, vars_collection, name_prefix, reuse, is_training, num_bits, narrow_range,
        symmetric, store,
    )  # fmt: skip


@add_arg_scope
def MovingAvgQuantize(
    inputs,
    per_channel=False,
    init_min=-6.0,
    init_max=6.0,
    ema_decay=0.999,
    vars_collection=tf.GraphKeys.MOVING_AVERAGE_VARIABLES,
    name_prefix="MovingAvgQuantize",
    reuse=None,
    is_training=True,
    num_bits=8,
    narrow_range=False,
    symmetric=False,
):
    """Fake quantization over the exponential moving average of the ranges seen in training.

    The averages are debiased: after the first step they are the range of that step. `ema_decay` is their decay; the rest is
    as in `LastValueQuantize`.
    """

    def store(variable, value, kind):
        return moving_averages.assign_moving_average(variable, value, ema_decay, name=f"Assign{kind}Ema")

    return _quantize(
        inputs, per_channel, init_min, init_max, vars_collection, name_prefix, reuse, is_training, num_bits, narrow_range,
        symmetric, store,
    )  # fmt: skip


def _quantize(
    inputs, per_channel, init_min, init_max, vars_collection, name_prefix, reuse, is_training, num_bits, narrow_range,
    symmetric, store,
):  # fmt: skip
    rank = inputs.shape.ndims
    if per_channel and rank not in (1, 2, 4):
        raise ValueError(f"inputs: expected 1, 2 or 4 dimensions for per_channel, got {inputs.shape} at {name_prefix}")
    if not 2 <= num_bits <= 16:
        raise ValueError(f"num_bits: expected 2 to 16, got {num_bits}")
    with tf.variable_scope(None, default_name=name_prefix, values=[inputs], reuse=reuse):
        shape = [inputs.shape.dims[-1].value] if per_channel else []
        low = _range_variable("min", shape, init_min, vars_collection)
        high = _range_variable("max", shape, init_max, vars_collection)
        if is_training:
            least, most = inputs, inputs
            if not per_channel or rank > 1:
                axes = list(range(rank - 1)) if per_channel else None
                least = tf.reduce_min(inputs, axes, name="BatchMin")
                most = tf.reduce_max(inputs, axes, name="BatchMax")
            # 0 must lie in the range: it has to be exact, for padding and for relu.
            if symmetric:
                # Two's complement has one more value below 0 than above, unless the range is narrow.
                ratio = 1.0 if narrow_range else ((1 << num_bits) - 2) / (1 << num_bits)
                least, most = tf.minimum(least, -most / ratio), tf.maximum(most, -least * ratio)
            else:
                least, most = tf.minimum(least, 0.0), tf.maximum(most, 0.0)
            low = tf.convert_to_tensor(store(low, least, "Min"))
            high = tf.convert_to_tensor(store(high, most, "Max"))
        fake_quant = tf.quantization.fake_quant_with_min_max_vars
        if per_channel:
            fake_quant = tf.quantization.fake_quant_with_min_max_vars_per_channel
        return fake_quant(inputs, low, high, num_bits=num_bits, narrow_range=narrow_range)


def _range_variable(name, shape, value, collection):
    collections = [collection, tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES]
    return tf.get_variable(
        name, shape=shape, initializer=tf.constant_initializer(value), collections=collections, trainable=False
    )
