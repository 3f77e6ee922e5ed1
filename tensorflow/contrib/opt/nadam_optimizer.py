"""Nadam: Adam with Nesterov momentum."""

from tensorflow.contrib.opt.touched_rows import TouchedRows, adam_scalars
from tensorflow.python.framework import ops
from tensorflow.python.ops import control_flow_ops, gen_training_ops, math_ops, state_ops
from tensorflow.python.training import adam


class NadamOptimizer(TouchedRows, adam.AdamOptimizer):
    """Nadam (Dozat, http://cs229.stanford.edu/proj2015/054_report.pdf). Arguments as for `tf.train.AdamOptimizer`.

    Of a sparse gradient, moments decay in all rows, and the rows that it names change.
    """

    def _nesterov_scalars(self, dtype):
        values = (*self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        return [math_ops.cast(value, dtype) for value in values]

    def _apply_dense(self, grad, var):
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        scalars = self._nesterov_scalars(var.dtype.base_dtype)
        return gen_training_ops.apply_adam(
            var._ref(), m._ref(), v._ref(), *scalars, grad, use_locking=self._use_locking, use_nesterov=True
        ).op

    def _resource_apply_dense(self, grad, var):
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        scalars = self._nesterov_scalars(grad.dtype.base_dtype)
        return gen_training_ops.resource_apply_adam(
            var.handle, m.handle, v.handle, *scalars, grad, use_locking=self._use_locking, use_nesterov=True
        )

    def _apply_rows(self, grad, var, indices):
        lr, beta1, beta2, epsilon = adam_scalars(self, var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        scaled = grad * (1 - beta1)
        decayed = state_ops.assign(m, m * beta1, use_locking=self._use_locking)
        with ops.control_dependencies([decayed]):
            new_m = self._add_rows(m, indices, scaled)
        nesterov = scaled + beta1 * self._rows_after(new_m, m, indices)
        decayed = state_ops.assign(v, v * beta2, use_locking=self._use_locking)
        with ops.control_dependencies([decayed]):
            new_v = self._add_rows(v, indices, grad * grad * (1 - beta2))
        root = math_ops.sqrt(self._rows_after(new_v, v, indices))
        return control_flow_ops.group(self._add_rows(var, indices, -lr * nesterov / (root + epsilon)), new_m, new_v)
