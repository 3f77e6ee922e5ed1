"""Alpha dropout."""

import numbers

from tensorflow.python.framework import ops, tensor_shape, tensor_util
from tensorflow.python.ops import array_ops, gen_math_ops, math_ops, random_ops

# Where an SELU unit saturates: -scale * alpha.
_SATURATION = -1.7580993408473766


def alpha_dropout(x, keep_prob, noise_shape=None, seed=None, name=None):
    """Dropout that keeps mean 0 and variance 1 (Klambauer et al., "Self-Normalizing Neural Networks", https://arxiv.org/abs/1706.02515).

    Args:
      x: float tensor.
      keep_prob: float or scalar tensor: probability with which an element is kept.
      noise_shape: int32 1-D tensor: shape of the random mask, that of `x` by default.
      seed: of the random numbers.
      name: name of the ops.

    Returns:
      A tensor like `x`.

    Raises:
      ValueError: if `keep_prob` is not in (0, 1].
    """
    with ops.name_scope(name, "alpha_dropout", [x]):
        x = ops.convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < keep_prob <= 1.0:
            raise ValueError(f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob:g}")
        keep_prob = ops.convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep_prob.get_shape().assert_is_compatible_with(tensor_shape.TensorShape([]))
        if tensor_util.constant_value(keep_prob) == 1:
            return x
        noise_shape = array_ops.shape(x) if noise_shape is None else noise_shape
        uniform = random_ops.random_uniform(noise_shape, seed=seed, dtype=x.dtype)
        kept = math_ops.cast(gen_math_ops.greater_equal(uniform, 1 - keep_prob), x.dtype)
        x = x * kept + _SATURATION * (1 - kept)
        a = (keep_prob + keep_prob * (1 - keep_prob) * _SATURATION**2) ** -0.5
        b = -a * _SATURATION * (1 - keep_prob)
        return a * x + b
