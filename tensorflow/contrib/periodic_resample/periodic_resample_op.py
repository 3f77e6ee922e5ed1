"""The periodic shuffle of Shi et al., "Is the deconvolution layer the same as a convolutional layer?", for any factors."""

import tensorflow as tf


def periodic_resample(values, shape, name=None):
    """Resamples `values` to `shape`, of which one dimension q is -1 and takes what is left.

    With g_i = ceil(shape_i / size_i) and G_j the product of the g_i before j, without q, the result has at s the value at h:
    h_i = floor(s_i / g_i), and h_q = s_q + shape_q * sum over j != q of G_j * (s_j mod g_j). shape_q is the number of values
    divided by the product of the other dimensions, rounded down. Gradients pass through.

    Args:
      values: a tensor of any type and known rank.
      shape: as many ints, one of them -1, the others positive.
      name: of the scope.

    Returns:
      A tensor of `shape`.

    Raises:
      ValueError: `shape` does not fit the rank, or has not exactly one -1.
      InvalidArgumentError: the other dimensions need more values than dimension q has.
    """
    with tf.name_scope(name, "PeriodicResample", [values]):
        values = tf.convert_to_tensor(values)
        wanted = [int(size) for size in shape]
        rank = values.shape.ndims
        if rank is None or rank != len(wanted):
            raise ValueError(f"shape: expected as many dimensions as values of shape {values.shape}, got {wanted}")
        if sum(size == -1 for size in wanted) != 1 or any(size < 1 and size != -1 for size in wanted):
            raise ValueError(f"shape: expected one -1 and else positive sizes, got {wanted}")
        q = wanted.index(-1)
        sizes = tf.unstack(tf.shape(values))
        others = 1
        for size in wanted:
            others *= size if size != -1 else 1
        left = tf.size(values) // others
        target = [left if i == q else tf.constant(size) for i, size in enumerate(wanted)]
        places = tf.meshgrid(*(tf.range(size) for size in target), indexing="ij")
        sources = list(places)
        stride = 1
        for i in range(rank):
            if i != q:
                factor = (wanted[i] + sizes[i] - 1) // sizes[i]
                sources[i] = places[i] // factor
                sources[q] += left * stride * (places[i] % factor)
                stride *= factor
        result = tf.gather_nd(values, tf.stack(sources, -1))
        if values.shape.is_fully_defined():
            wanted[q] = values.shape.num_elements() // others
        result.set_shape([None if size == -1 else size for size in wanted])
        return result
