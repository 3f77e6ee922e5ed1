"""AdamGS: Adam that takes its step from the global step."""

from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, control_flow_ops, gen_training_ops, math_ops, state_ops
from tensorflow.contrib.opt.touched_rows import TouchedRows, adam_scalars
from tensorflow.python.training import optimizer


class AdamGSOptimizer(TouchedRows, optimizer.Optimizer):
    """Adam (Kingma and Ba, https://arxiv.org/abs/1412.6980) without variables for the powers of the betas.

    They follow from the global step, so that workers do not contend for them.

    Args:
      global_step: variable or tensor, the step.
      learning_rate, beta1, beta2, epsilon: floats, tensors or functions, as for `tf.train.AdamOptimizer`.
      use_locking: whether updates hold locks.
      name: prefix of the ops and slots.
    """

    def __init__(
        self,
        global_step=0,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        name="Adam",
    ):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon
        self._global_step = global_step
        self._global_step_on_worker = None
        self._lr_t = self._beta1_t = self._beta2_t = self._epsilon_t = None

    def _get_beta_accumulators(self):
        return (
            math_ops.pow(self._beta1_t, self._global_step_on_worker),
            math_ops.pow(self._beta2_t, self._global_step_on_worker),
        )

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self):
        def as_tensor(value, name):
            return ops.convert_to_tensor(self._call_if_callable(value), name=name)

        self._lr_t = as_tensor(self._lr, "learning_rate")
        self._beta1_t = as_tensor(self._beta1, "beta1")
        self._beta2_t = as_tensor(self._beta2, "beta2")
        self._epsilon_t = as_tensor(self._epsilon, "epsilon")
        # One read per worker, not one per variable.
        self._global_step_on_worker = math_ops.cast(array_ops.identity(self._global_step) + 1, dtypes.float32)

    def _scalars(self, dtype):
        return [
            math_ops.cast(value, dtype)
            for value in (*self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        ]

    def _apply_dense(self, grad, var):
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        scalars = self._scalars(var.dtype.base_dtype)
        return gen_training_ops.apply_adam(
            var._ref(), m._ref(), v._ref(), *scalars, grad, use_locking=self._use_locking
        ).op

    def _resource_apply_dense(self, grad, var):
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        scalars = self._scalars(grad.dtype.base_dtype)
        return gen_training_ops.resource_apply_adam(
            var.handle, m.handle, v.handle, *scalars, grad, use_locking=self._use_locking
        )

    def _decay_and_add(self, slot, decay, indices, rows):
        """The whole slot after `slot = decay * slot`, and the rows added."""
        decayed = state_ops.assign(slot, slot * decay, use_locking=self._use_locking)
        with ops.control_dependencies([decayed]):
            return self._add_rows(slot, indices, rows)

    def _apply_rows(self, grad, var, indices):
        lr, beta1, beta2, epsilon = adam_scalars(self, var.dtype.base_dtype)
        m = self._decay_and_add(self.get_slot(var, "m"), beta1, indices, grad * (1 - beta1))
        v = self._decay_and_add(self.get_slot(var, "v"), beta2, indices, grad * grad * (1 - beta2))
        update = state_ops.assign_sub(var, lr * m / (math_ops.sqrt(v) + epsilon), use_locking=self._use_locking)
        return control_flow_ops.group(update, m, v)
