"""Random ops that build the ops which 1.15 built, in its order.

With a graph seed and no op seed, the seed of a random op is the number of ops before it (`op_seeds`). A shortcut that leaves
out a constant changes every later random number; and 1.15's names (`random_uniform:0`, `dropout/mul_1:0`) are fed and fetched.
"""

import numbers

import numpy as np
from tensorflow.python.framework import dtypes, ops, random_seed, tensor_util
from tensorflow.python.ops import array_ops, gen_random_ops, math_ops, nn_ops, random_ops, shape_util

_UNIFORM_TYPES = (
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.float64,
    dtypes.int32,
    dtypes.int64,
)


def random_uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    """Uniform values in [minval, maxval): always scaled and shifted, as in 1.15.

    Args:
      shape: 1-D integer Tensor or Python array.
      minval, maxval: of type `dtype`, scalar or broadcastable to `shape`. maxval is 1 where `dtype` is floating.
      dtype: float16, bfloat16, float32, float64, int32 or int64.
      seed: Python integer, see `tf.set_random_seed`.

    Raises:
      ValueError: another dtype, or an integer dtype without `maxval`.
    """
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _UNIFORM_TYPES:
        raise ValueError(f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are {_UNIFORM_TYPES}.")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with ops.name_scope(name, "random_uniform", [shape, minval, maxval]) as name:
        shape = shape_util.shape_tensor(shape)
        minval = ops.convert_to_tensor(minval, dtype=dtype, name="min")
        maxval = ops.convert_to_tensor(maxval, dtype=dtype, name="max")
        seed1, seed2 = random_seed.get_seed(seed)
        if dtype.is_integer:
            result = gen_random_ops.random_uniform_int(shape, minval, maxval, seed=seed1, seed2=seed2, name=name)
        else:
            unit = gen_random_ops.random_uniform(shape, dtype, seed=seed1, seed2=seed2)
            result = math_ops.add(unit * (maxval - minval), minval, name=name)
        shape_util.maybe_set_static_shape(result, shape)
        return result


def random_gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    """`shape` draws from each Gamma(alpha, rate beta): `alpha` is broadcast by adding zeros of beta's shape, as in 1.15.

    Args:
      shape: 1-D integer Tensor or Python array.
      alpha, beta: shape and inverse scale, broadcastable with each other; beta is 1 by default.
      dtype: float16, float32 or float64.
      seed: Python integer, see `tf.set_random_seed`.

    Returns:
      Tensor of shape `shape + (alpha + beta).shape`.
    """
    with ops.name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = ops.convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        alpha = ops.convert_to_tensor(alpha, name="alpha", dtype=dtype)
        beta = ops.convert_to_tensor(1 if beta is None else beta, name="beta", dtype=dtype)
        alpha_broadcast = alpha + array_ops.zeros_like(beta)
        seed1, seed2 = random_seed.get_seed(seed)
        draws = gen_random_ops.random_gamma(shape, alpha_broadcast, seed=seed1, seed2=seed2)
        result = math_ops.maximum(np.finfo(alpha.dtype.as_numpy_dtype).tiny, draws / beta)
        static = tensor_util.constant_value_as_shape(shape)
        result.set_shape(static.concatenate(alpha_broadcast.shape))
        return result


def dropout(x, rate, noise_shape, uniform_sampler, dummy_rng_step, name, default_name):
    """What `tf.nn.dropout` and its kin have in common, in place of `nn_ops._dropout`.

    Elements are kept where a uniform number is at least `rate`, and scaled by 1 / (1 - rate). `x`: floating Tensor; `rate`: number or
    scalar Tensor in [0, 1).

    Raises:
      ValueError: `x` is not floating, or `rate` is no scalar in [0, 1).
    """
    with ops.name_scope(name, default_name, [x]):
        x = ops.convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(
                f"x has to be a floating point tensor since it's going to be scaled. Got a {x.dtype} tensor."
            )
        if isinstance(rate, numbers.Real):
            if not 0 <= rate < 1:
                raise ValueError(f"rate must be a scalar tensor or a float in the range [0, 1), got {rate}")
            if rate == 0:
                dummy_rng_step()
                return x
        elif not tensor_util.is_tf_type(rate):
            raise ValueError(f"rate must be a scalar tensor or a float in the range [0, 1), got {rate!r}")
        rate = ops.convert_to_tensor(rate, dtype=x.dtype, name="rate")
        rate.get_shape().assert_has_rank(0)
        if tensor_util.constant_value(rate) == 0:
            return x
        # A private helper of the runtime, so that noise shapes with None go on working as they do there.
        noise_shape = nn_ops._get_noise_shape(x, noise_shape)
        random_tensor = uniform_sampler(shape=noise_shape, dtype=x.dtype)
        keep_prob = 1 - rate
        scale = 1 / keep_prob
        result = x * scale * math_ops.cast(random_tensor >= rate, x.dtype)
        result.set_shape(x.get_shape())
        return result


# Released function -> what takes its place, by module and name.
REPLACEMENTS = {
    (random_ops, "random_uniform"): random_uniform,
    (random_ops, "random_gamma"): random_gamma,
    (nn_ops, "_dropout"): dropout,
}
