"""AddSign."""

from tensorflow.contrib.opt.sign_optimizer import SignOptimizer
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_training_ops, math_ops


class AddSignOptimizer(SignOptimizer):
    """AddSign (Bello et al., https://arxiv.org/abs/1709.07417).

        m = beta * m + (1 - beta) * g
        var -= learning_rate * (alpha + sign_decay * sign(g) * sign(m)) * g

    Args:
      learning_rate: float or tensor.
      alpha: float or tensor.
      beta: decay of m.
      sign_decay_fn: function of the global step, such as those of `sign_decay`; None: 1.
      use_locking: whether updates hold locks.
      name: prefix of the ops and slots.
    """

    def __init__(
        self,
        learning_rate=0.1,
        alpha=1.0,
        beta=0.9,
        sign_decay_fn=None,
        use_locking=False,
        name="AddSignOptimizer",
    ):
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha
        self._alpha_t = None

    def _prepare(self):
        super()._prepare()
        self._alpha_t = ops.convert_to_tensor(self._alpha, name="alpha")

    def _scalars(self, dtype):
        return [math_ops.cast(t, dtype) for t in (self._lr_t, self._alpha_t, self._sign_decay_t, self._beta_t)]

    def _apply_dense(self, grad, var):
        m = self.get_slot(var, "m")
        scalars = self._scalars(var.dtype.base_dtype)
        return gen_training_ops.apply_add_sign(var._ref(), m._ref(), *scalars, grad, use_locking=self._use_locking).op

    def _resource_apply_dense(self, grad, var):
        m = self.get_slot(var, "m")
        scalars = self._scalars(var.dtype.base_dtype)
        return gen_training_ops.resource_apply_add_sign(
            var.handle, m.handle, *scalars, grad, use_locking=self._use_locking
        )

    def _multiplier(self, agreement, dtype):
        return math_ops.cast(self._alpha_t, dtype) + math_ops.cast(self._sign_decay_t, dtype) * agreement
