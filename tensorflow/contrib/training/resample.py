"""Resampling of batches: every element appears a random number of times."""

from tensorflow.python.framework import ops
from tensorflow.python.ops import (
    array_ops,
    cond,
    math_ops,
    random_ops,
    tensor_array_ops,
    variable_scope,
    while_loop,
)
from tensorflow.python.training import moving_averages

__all__ = ["resample_at_rate", "weighted_resample"]


def resample_at_rate(inputs, rates, scope=None, seed=None, back_prop=False):
    """Repeats each element a Poisson-distributed number of times.

    By Knuth's method: uniform numbers are multiplied as long as the product is above exp(-rate). float32 rates must be below 87.

    Args:
      inputs: list of tensors `[batch, ...]`.
      rates: float tensor `[batch]`: mean number of times.
      scope: name of the ops.
      seed: of the random numbers.
      back_prop: whether gradients pass.

    Returns:
      List of tensors `[n, ...]` with some n.
    """
    with ops.name_scope(scope, default_name="resample_at_rate", values=inputs):
        floors = math_ops.exp(-rates)

        def body(chosen, products, index, count):
            products = products * random_ops.random_uniform(shape=array_ops.shape(products), seed=seed)
            positions = array_ops.reshape(array_ops.where(products > floors), [-1])
            chosen = [ta.write(index, array_ops.gather(x, positions)) for ta, x in zip(chosen, inputs)]
            return [chosen, products, index + 1, count + array_ops.shape(positions)[0]]

        start = [
            tensor_array_ops.TensorArray(dtype=x.dtype, size=0, dynamic_size=True, infer_shape=False) for x in inputs
        ]
        chosen, _, _, count = while_loop.while_loop(
            lambda chosen, products, index, count: math_ops.reduce_any(products > floors),
            body,
            loop_vars=[start, array_ops.ones_like(rates), 0, 0],
            back_prop=back_prop,
        )

    def no_rows(tensor):
        shape = array_ops.concat([[0], array_ops.shape(tensor)[1:]], 0)
        return array_ops.zeros(shape, dtype=tensor.dtype)

    # An array without elements cannot be concatenated.
    outputs = cond.cond(count > 0, lambda: [ta.concat() for ta in chosen], lambda: [no_rows(x) for x in inputs])
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    for output, x in zip(outputs, inputs):
        if x.get_shape().ndims is not None:
            output.set_shape([None] + x.get_shape().as_list()[1:])
    return list(outputs)


def weighted_resample(inputs, weights, overall_rate, scope=None, mean_decay=0.999, seed=None, warmup=10):
    """Repeats elements in proportion to their weights.

    Args:
      inputs: list of tensors `[batch, ...]`.
      weights: float tensor `[batch]`.
      overall_rate: mean number of times over all elements and calls.
      scope: name and variable scope of the ops.
      mean_decay: decay of the running mean of the weights.
      seed: of the random numbers.
      warmup: number of runs over which the mean is a plain one.

    Returns:
      `(list of tensors [n, ...], rates [n])`: the resampled elements, and the rate of each.
    """
    with ops.name_scope(scope, "weighted_resample", inputs) as opscope:
        with variable_scope.variable_scope(scope, "estimate_mean", inputs):
            runs = variable_scope.get_local_variable("resample_count", initializer=0)
            estimated_mean = variable_scope.get_local_variable("estimated_mean", initializer=0.0)
            count = runs.assign_add(1)
            decay = math_ops.minimum(
                math_ops.cast(math_ops.truediv(count - 1, math_ops.minimum(count, warmup)), "float32"), mean_decay
            )
            mean = moving_averages.assign_moving_average(
                estimated_mean, math_ops.reduce_mean(weights), decay, zero_debias=False
            )
        rates = weights * overall_rate / mean
        results = resample_at_rate([rates] + list(inputs), rates, scope=opscope, seed=seed, back_prop=False)
    return results[1:], results[0]
