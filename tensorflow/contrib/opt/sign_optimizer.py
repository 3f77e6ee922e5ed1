"""What AddSign and PowerSign have in common (Bello et al., "Neural Optimizer Search with Reinforcement Learning",
https://arxiv.org/abs/1709.07417)."""

from tensorflow.contrib.opt.touched_rows import TouchedRows
from tensorflow.python.framework import indexed_slices, ops
from tensorflow.python.ops import array_ops, control_flow_ops, math_ops, state_ops
from tensorflow.python.training import optimizer


class SignOptimizer(TouchedRows, optimizer.Optimizer):
    """Scales the gradient by how its sign agrees with that of its running mean m.

    Subclasses write `_scalars(dtype)`, the arguments of the fused op between the slots and the gradient, and
    `_multiplier(agreement, dtype)`.
    """

    def __init__(self, learning_rate, beta, sign_decay_fn, use_locking, name):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta = beta
        self._sign_decay_fn = sign_decay_fn
        self._lr_t = self._beta_t = self._sign_decay_t = None

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        if self._sign_decay_fn is not None:
            self._sign_decay_t = ops.convert_to_tensor(self._sign_decay_fn(global_step), name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "m", self._name)

    def _prepare(self):
        self._lr_t = ops.convert_to_tensor(self._lr, name="learning_rate")
        self._beta_t = ops.convert_to_tensor(self._beta, name="beta")
        if self._sign_decay_fn is None:
            self._sign_decay_t = ops.convert_to_tensor(1.0, name="sign_decay")

    def _apply_rows(self, grad, var, indices):
        dtype = var.dtype.base_dtype
        lr, beta = math_ops.cast(self._lr_t, dtype), math_ops.cast(self._beta_t, dtype)
        m = self.get_slot(var, "m")
        # m decays in all rows, as the dense form's does.
        dense = indexed_slices.IndexedSlices(grad, indices, array_ops.shape(var, out_type=indices.dtype))
        new_m = state_ops.assign(m, m * beta + ops.convert_to_tensor(dense) * (1 - beta), use_locking=self._use_locking)
        agreement = math_ops.sign(self._rows_after(new_m, m, indices)) * math_ops.sign(grad)
        update = self._add_rows(var, indices, -lr * self._multiplier(agreement, dtype) * grad)
        return control_flow_ops.group(update, new_m)
