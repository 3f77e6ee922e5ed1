"""Variables that cells take from the variable scope while they run: split by rows, and layer normalization's."""

import tensorflow as tf


def row_shards(name, shape, dtype, num_shards):
    """Variables NAME_0, NAME_1, ... that hold the rows of one matrix; the first ones get the rows left over.

    Raises:
      ValueError: there are more shards than rows.
    """
    rows, remaining = divmod(shape[0], num_shards)
    if rows == 0:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={num_shards}")
    return [
        tf.get_variable(f"{name}_{shard}", [rows + (shard < remaining)] + list(shape[1:]), dtype=dtype)
        for shard in range(num_shards)
    ]


def concat_variable(name, shape, dtype, num_shards):
    """The matrix whose rows lie in `row_shards`; joined once for each graph and scope."""
    shards = row_shards(name, shape, dtype, num_shards)
    if len(shards) == 1:
        return shards[0]
    joined_name = f"{tf.get_variable_scope().name}/{name}/concat:0"
    for tensor in tf.get_collection(tf.GraphKeys.CONCATENATED_VARIABLES):
        if tensor.name == joined_name:
            return tensor
    joined = tf.concat(shards, 0, name=f"{name}/concat")
    tf.add_to_collection(tf.GraphKeys.CONCATENATED_VARIABLES, joined)
    return joined


def normalized(inputs, scope, gain, shift, dtype=tf.float32):
    """Layer normalization (arXiv:1607.06450) with "gamma" and "beta" of the scope SCOPE, initially `gain`, `shift`."""
    from tf_slim.layers import layers

    width = inputs.shape[-1:]
    with tf.variable_scope(scope):
        # Made here for their initial values; the layer finds them.
        tf.get_variable("gamma", shape=width, initializer=tf.constant_initializer(gain), dtype=dtype)
        tf.get_variable("beta", shape=width, initializer=tf.constant_initializer(shift), dtype=dtype)
    return layers.layer_norm(inputs, reuse=True, scope=scope)


def clip(tensor, bound):
    """`tensor` held to -bound..bound, or as it is without a bound."""
    return tensor if bound is None else tf.clip_by_value(tensor, -bound, bound)


def static_batch(inputs):
    """The batch size as a number where it is known, else as a tensor."""
    return inputs.shape.dims[0].value or tf.shape(inputs)[0]
