"""DropStaleGradient: drops gradients that were computed too many steps ago."""

from tensorflow.python.framework import dtypes, ops, tensor
from tensorflow.python.ops import array_ops, cond, init_ops, math_ops, variable_scope
from tensorflow.python.summary import summary
from tensorflow.python.training import optimizer, training_util


class DropStaleGradientOptimizer(optimizer.Optimizer):
    """Wraps an optimizer, and drops gradients if the global step moved by more than `staleness` since they were begun.

    Args:
      opt: the optimizer.
      staleness: number of steps.
      use_locking: whether updates hold locks.
      name: prefix of the ops.
    """

    def __init__(self, opt, staleness, use_locking=False, name="DropStaleGradient"):
        super().__init__(use_locking, name)
        self._opt = opt
        self._staleness = staleness

    def compute_gradients(self, loss, *args, **kwargs):
        """As for the wrapped optimizer; notes the global step first."""
        with ops.colocate_with(loss):
            self._local_step = training_util.get_global_step().read_value() + 0
        with ops.control_dependencies([self._local_step]):
            loss = array_ops.identity(loss)
            return self._opt.compute_gradients(loss, *args, **kwargs)

    def get_slot(self, *args, **kwargs):
        """As for the wrapped optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """As for the wrapped optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Applies gradients or drops them; `global_step` is required.

        Returns:
          The number of dropped steps so far, a float.
        """
        grads_and_vars = list(grads_and_vars)
        if global_step is None:
            raise ValueError("global_step is required: staleness is counted in its steps")
        with ops.colocate_with(global_step):
            dropped = variable_scope.get_variable(
                "stale_counter", [], initializer=init_ops.zeros_initializer(), trainable=False
            )

        def accept():
            update = self._opt.apply_gradients(grads_and_vars, global_step=global_step, name=name)
            with ops.control_dependencies([update]):
                return array_ops.identity(0.0)

        ready = [g if isinstance(g, tensor.Tensor) else g.op for g, _ in grads_and_vars if g is not None]
        with ops.control_dependencies(ready), ops.colocate_with(global_step):
            staleness = array_ops.reshape(global_step.read_value() - self._local_step, shape=())
        result = dropped.assign_add(
            cond.cond(math_ops.less_equal(staleness, self._staleness), accept, lambda: array_ops.identity(1.0))
        )
        steps = math_ops.cast(global_step.read_value() + 1, dtypes.float32)
        summary.scalar("Gradient staleness percentage", dropped / steps)
        return result
