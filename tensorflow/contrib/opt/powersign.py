"""PowerSign."""

import math

from tensorflow.contrib.opt.sign_optimizer import SignOptimizer
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_training_ops, math_ops


class PowerSignOptimizer(SignOptimizer):
    """PowerSign (Bello et al., https://arxiv.org/abs/1709.07417).

        m = beta * m + (1 - beta) * g
        var -= learning_rate * base^(sign_decay * sign(g) * sign(m)) * g

    Args:
      learning_rate: float or tensor.
      base: above 0, e by default.
      beta: decay of m.
      sign_decay_fn: function of the global step, such as those of `sign_decay`; None: 1.
      use_locking: whether updates hold locks.
      name: prefix of the ops and slots.
    """

    def __init__(
        self,
        learning_rate=0.1,
        base=math.e,
        beta=0.9,
        sign_decay_fn=None,
        use_locking=False,
        name="PowerSignOptimizer",
    ):
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._base = base
        self._logbase_t = None

    def _prepare(self):
        super()._prepare()
        self._logbase_t = ops.convert_to_tensor(math.log(self._base), name="log_base")

    def _scalars(self, dtype):
        return [math_ops.cast(t, dtype) for t in (self._lr_t, self._logbase_t, self._sign_decay_t, self._beta_t)]

    def _apply_dense(self, grad, var):
        m = self.get_slot(var, "m")
        scalars = self._scalars(var.dtype.base_dtype)
        return gen_training_ops.apply_power_sign(var._ref(), m._ref(), *scalars, grad, use_locking=self._use_locking).op

    def _resource_apply_dense(self, grad, var):
        m = self.get_slot(var, "m")
        scalars = self._scalars(var.dtype.base_dtype)
        return gen_training_ops.resource_apply_power_sign(
            var.handle, m.handle, *scalars, grad, use_locking=self._use_locking
        )

    def _multiplier(self, agreement, dtype):
        exponent = math_ops.cast(self._sign_decay_t, dtype) * agreement
        return math_ops.pow(math_ops.exp(math_ops.cast(self._logbase_t, dtype)), exponent)
