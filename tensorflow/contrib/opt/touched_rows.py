"""Updates of the rows that a sparse gradient names, for reference and resource variables alike."""

from tensorflow.api_v1.restored import op_counts
from tensorflow.python.eager import context
from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, control_flow_ops, math_ops, resource_variable_ops, state_ops


class TouchedRows:
    """Mixin for optimizers that write `_apply_rows(grad, var, indices)` once for both kinds of variables."""

    def _apply_sparse(self, grad, var):
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._apply_rows(grad, var, indices)

    def _update_rows(self, var, indices, rows):
        return state_ops.scatter_update(var, indices, rows, use_locking=self._use_locking)

    def _add_rows(self, var, indices, rows):
        return state_ops.scatter_add(var, indices, rows, use_locking=self._use_locking)

    @staticmethod
    def _rows_after(update, var, indices):
        """Rows of a variable after an update."""
        # Not of what the update returns: reading rows of that does not wait for a resource variable's update.
        with ops.control_dependencies([update]):
            return array_ops.gather(var, indices)


def adam_scalars(optimizer, dtype):
    """(step size, beta1, beta2, epsilon) of an Adam optimizer at its current step."""
    powers = [math_ops.cast(power, dtype) for power in optimizer._get_beta_accumulators()]
    lr, beta1, beta2, epsilon = (
        math_ops.cast(t, dtype) for t in (optimizer._lr_t, optimizer._beta1_t, optimizer._beta2_t, optimizer._epsilon_t)
    )
    return lr * math_ops.sqrt(1 - powers[1]) / (1 - powers[0]), beta1, beta2, epsilon


class LazyAdamRows(TouchedRows):
    """Adam whose moments decay in the touched rows alone."""

    def _apply_rows(self, grad, var, indices):
        lr, beta1, beta2, epsilon = adam_scalars(self, var.dtype.base_dtype)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * array_ops.gather(m, indices) + (1 - beta1) * grad
        v_rows = beta2 * array_ops.gather(v, indices) + (1 - beta2) * math_ops.square(grad)
        step = -lr * m_rows / (math_ops.sqrt(v_rows) + epsilon)
        # 1.15 read the moments again after their updates, and subtracted; here a resource is read after each update.
        if not context.executing_eagerly():
            op_counts.add_missing(ops.get_default_graph(), -4 if resource_variable_ops.is_resource_variable(var) else 3)
        return control_flow_ops.group(
            self._update_rows(m, indices, m_rows),
            self._update_rows(v, indices, v_rows),
            self._add_rows(var, indices, step),
        )
