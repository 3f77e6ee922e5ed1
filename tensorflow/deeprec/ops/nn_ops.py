"""Layers in one op: one pass over memory, where the composed ops make several."""

from tensorflow.deeprec import library
from tensorflow.python.framework import ops


def gelu(features, approximate=False, name=None):
    """The Gaussian error linear unit, x Phi(x) with Phi the normal distribution function.

    Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.

    Args:
      features: floats (16, 32 or 64 bits) of any shape.
      approximate: whether Phi(x) is (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, and not from erf.
      name: name of the op.

    Returns:
      As `features`.
    """
    return library.ops().gelu(features, approximate=approximate, name=name)


def fused_l2_normalize(x, axis=1, epsilon=1e-12, name=None):
    """`tf.nn.l2_normalize` along one axis in one op: x / sqrt(max(sum(x^2), epsilon)).

    Args:
      x: float32 or float64, of rank above `axis`.
      axis: int; negative ones count from the last.
      epsilon: lower bound of the sum, positive.
      name: name of the op.

    Returns:
      As `x`.

    Raises:
      tf.errors.InvalidArgumentError: there is no such axis, or epsilon is not positive.
    """
    return library.ops().fused_l2_normalize(x, axis=axis, epsilon=epsilon, name=name)


def fused_layer_normalize(x, gamma, beta, epsilon=1e-12, name=None):
    """Layer normalization over the last dimension in one op: (x - mean) / sqrt(variance + epsilon) * gamma + beta.

    Ba, Kiros and Hinton, "Layer Normalization", 2016.

    Args:
      x: `[..., size]`, float32 or float64.
      gamma: `[size]` factors.
      beta: `[size]` summands.
      epsilon: added to the variance, not negative.
      name: name of the op.

    Returns:
      As `x`. x, gamma and beta have gradients.

    Raises:
      ValueError: gamma or beta do not fit to x.
    """
    return library.ops().fused_layer_norm(x, gamma, beta, epsilon=epsilon, name=name).y


def dice(x, mean, rvar, gamma, name=None):
    """The activation Dice in one op: x (p + (1 - p) gamma) with p = sigmoid((x - mean) rvar).

    Zhou et al., "Deep Interest Network for Click-Through Rate Prediction", 2018.

    Args:
      x: `[..., size]`, float32 or float64.
      mean: `[size]`.
      rvar: `[size]`: 1 / standard deviation.
      gamma: `[size]`: the slope where p is 0.
      name: name of the op.

    Returns:
      As `x`. All inputs have gradients.

    Raises:
      ValueError: mean, rvar or gamma do not fit to x.
    """
    return library.ops().dice(x, mean, rvar, gamma, name=name)


def logical_sum(q_input, k_input, dtype="float32", name=None):
    """Minus the number of places in which two vectors have unequal signs.

    Args:
      q_input: `[batch, length, dim]` float32.
      k_input: the same; either length may be 1.
      dtype: of the result: int16, int32 or float32.
      name: name of the op.

    Returns:
      `[batch, length]` of `dtype`. There is no gradient.

    Raises:
      ValueError: the shapes do not fit.
    """
    return library.ops().logical_sum(q_input, k_input, T=dtype, name=name)


def dynamic_stitch_fast(indices, data, name=None):
    """`tf.dynamic_stitch` with rows copied by several threads.

    Args:
      indices: list of int32 tensors.
      data: list of as many tensors; the shape of each begins with that of its indices, the rest is that of a row.
      name: name of the op.

    Returns:
      `[1 + the greatest index, ...]`. Of several rows for one index the last counts; a row that no index names is 0 or "".

    Raises:
      ValueError: shapes do not fit.
      tf.errors.InvalidArgumentError: an index is negative.
    """
    return library.ops().dynamic_stitch_fast([ops.convert_to_tensor(i, "int32") for i in indices], data, name=name)
