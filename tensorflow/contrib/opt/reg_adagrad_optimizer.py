"""RegAdagrad: Adagrad for which some losses do not count in the accumulators."""

import contextlib

from tensorflow.python.ops import gen_training_ops, math_ops
from tensorflow.python.training import adagrad


class RegAdagradOptimizer(adagrad.AdagradOptimizer):
    """Adagrad whose accumulators a regularization loss may leave alone, so that it does not slow down learning.

        train = opt.minimize(loss)
        with opt.avoid_updating_slots():
            regularize = opt.minimize(regularization_loss)

    Args:
      learning_rate: float or tensor.
      initial_accumulator_value: above 0.
      use_locking: whether updates hold locks.
      name: prefix of the ops and slots.
    """

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="RegAdagrad"):
        super().__init__(
            learning_rate, initial_accumulator_value=initial_accumulator_value, use_locking=use_locking, name=name
        )
        self._should_update_slots = True

    @contextlib.contextmanager
    def avoid_updating_slots(self):
        """Context in which `minimize` and `apply_gradients` leave the accumulators alone."""
        before, self._should_update_slots = self._should_update_slots, False
        try:
            yield
        finally:
            self._should_update_slots = before

    def _settings(self, dtype):
        rate = math_ops.cast(self._learning_rate_tensor, dtype)
        return rate, dict(use_locking=self._use_locking, update_slots=self._should_update_slots)

    def _apply_dense(self, grad, var):
        rate, settings = self._settings(var.dtype.base_dtype)
        acc = self.get_slot(var, "accumulator")
        return gen_training_ops.apply_adagrad(var._ref(), acc._ref(), rate, grad, **settings)

    def _resource_apply_dense(self, grad, var, update_slots=True):
        rate, settings = self._settings(grad.dtype.base_dtype)
        acc = self.get_slot(var, "accumulator")
        return gen_training_ops.resource_apply_adagrad(var.handle, acc.handle, rate, grad, **settings)

    def _apply_sparse(self, grad, var, update_slots=True):
        rate, settings = self._settings(var.dtype.base_dtype)
        acc = self.get_slot(var, "accumulator")
        return gen_training_ops.sparse_apply_adagrad(
            var._ref(), acc._ref(), rate, grad.values, grad.indices, **settings
        )

    def _resource_apply_sparse(self, grad, var, indices, update_slots=True):
        rate, settings = self._settings(grad.dtype)
        acc = self.get_slot(var, "accumulator")
        return gen_training_ops.resource_sparse_apply_adagrad(var.handle, acc.handle, rate, grad, indices, **settings)
