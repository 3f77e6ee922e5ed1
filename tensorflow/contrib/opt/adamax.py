"""AdaMax: Adam with the infinity norm."""

from tensorflow.contrib.opt.touched_rows import TouchedRows
from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, control_flow_ops, gen_training_ops, math_ops
from tensorflow.python.training import adam


class AdaMaxOptimizer(TouchedRows, adam.AdamOptimizer):
    """AdaMax (Kingma and Ba, https://arxiv.org/abs/1412.6980, section 7.1).

        m = beta1 * m + (1 - beta1) * g
        v = max(beta2 * v, |g|)
        var -= learning_rate / (1 - beta1^t) * m / (v + epsilon)

    Of a sparse gradient, only the rows that it names change.

    Args:
      learning_rate, beta1, beta2, epsilon: floats or tensors.
      use_locking: whether updates hold locks.
      name: prefix of the ops and slots.
    """

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="AdaMax"):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self):
        graph = None if ops.executing_eagerly_outside_functions() else ops.get_default_graph()
        return self._get_non_slot_variable("beta1_power", graph=graph)

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(initial_value=self._beta1, name="beta1_power", colocate_with=first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _scalars(self, dtype):
        values = (self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        return [math_ops.cast(value, dtype) for value in values]

    def _apply_dense(self, grad, var):
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        scalars = self._scalars(var.dtype.base_dtype)
        return gen_training_ops.apply_ada_max(
            var._ref(), m._ref(), v._ref(), *scalars, grad, use_locking=self._use_locking
        ).op

    def _resource_apply_dense(self, grad, var):
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        scalars = self._scalars(grad.dtype.base_dtype)
        return gen_training_ops.resource_apply_ada_max(
            var.handle, m.handle, v.handle, *scalars, grad, use_locking=self._use_locking
        )

    def _apply_rows(self, grad, var, indices):
        power, lr, beta1, beta2, epsilon = self._scalars(var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = array_ops.gather(m, indices) * beta1 + grad * (1 - beta1)
        v_rows = math_ops.maximum(array_ops.gather(v, indices) * beta2, math_ops.abs(grad))
        return control_flow_ops.group(
            self._update_rows(m, indices, m_rows),
            self._update_rows(v, indices, v_rows),
            self._add_rows(var, indices, -lr / (1 - power) * (m_rows / (v_rows + epsilon))),
        )

    def _finish(self, update_ops, name_scope):
        power = self._get_beta_accumulators()
        with ops.control_dependencies(update_ops), ops.colocate_with(power):
            update = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return control_flow_ops.group(*update_ops, update, name=name_scope)
