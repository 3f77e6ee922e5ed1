"""Multitask: gradients that are zero everywhere mean that a task was absent, not that its gradient is zero."""

import types

from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, clip_ops, cond, control_flow_ops, math_ops
from tensorflow.python.training import optimizer

__all__ = ["MultitaskOptimizerWrapper", "clip_gradients_by_global_norm"]


def _values(grad):
    return grad.values if hasattr(grad, "indices") else grad


def _is_all_zeros(grad):
    return math_ops.equal(math_ops.count_nonzero(_values(grad)), 0)


def _skipping_zeros(method):
    def wrapper(self, grad, *args, **kwargs):
        def apply():
            with ops.control_dependencies([method(grad, *args, **kwargs)]):
                return control_flow_ops.no_op()

        return cond.cond(_is_all_zeros(grad), control_flow_ops.no_op, apply)

    return wrapper


class MultitaskOptimizerWrapper:
    """Wraps an optimizer so that a gradient of zeros leaves the variable and its slots alone.

    Clip by `clip_gradients_by_global_norm`, whose norm leaves such gradients out.

    Args:
      opt: a `tf.train.Optimizer`, which is changed.

    Raises:
      TypeError: if it is something else.
    """

    def __init__(self, opt):
        if not isinstance(opt, optimizer.Optimizer):
            raise TypeError(f"opt must be a tf.train.Optimizer, got {type(opt)}")
        self._opt = opt
        for name in ("_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse"):
            setattr(opt, name, types.MethodType(_skipping_zeros(getattr(opt, name)), opt))

    def __getattr__(self, name):
        return getattr(self._opt, name)


def clip_gradients_by_global_norm(gradients_variables, clip_norm=20.0):
    """Clips gradients by the norm of all.

    Args:
      gradients_variables: list of (gradient, variable).
      clip_norm: limit of the norm.

    Returns:
      `(list of (gradient, variable), global norm)`.
    """
    gradients, variables = zip(*gradients_variables)

    def or_scalar_zero(grad):
        if grad is None:
            return None
        value = _values(grad)
        return cond.cond(_is_all_zeros(grad), lambda: array_ops.zeros([], dtype=value.dtype), lambda: value)

    norm = clip_ops.global_norm([or_scalar_zero(g) for g in gradients])
    clipped, _ = clip_ops.clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    return list(zip(clipped, variables)), norm
