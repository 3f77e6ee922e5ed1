"""LARS: a learning rate for each layer."""

from tensorflow.api_v1.restored import op_counts
from tensorflow.python.eager import context
from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, gen_training_ops, linalg_ops, math_ops
from tensorflow.python.training import optimizer


class LARSOptimizer(optimizer.Optimizer):
    """Layer-wise adaptive rate scaling (You et al., https://arxiv.org/abs/1708.03888): momentum with the rate

        learning_rate * eeta * |var| / (|g| + weight_decay * |var| + epsilon)

    and the gradient g + weight_decay * var. Sparse gradients get plain momentum.

    Args:
      learning_rate: float, tensor, or (for sparse gradients) function.
      momentum: 0 or above.
      weight_decay: 0 or above.
      eeta: LARS coefficient.
      epsilon: for tiny gradients.
      name: prefix of the ops and slots.
      skip_list: list of texts; variables with one of them in their name get plain momentum.
      use_nesterov: whether momentum is Nesterov's.

    Raises:
      ValueError: if `momentum` or `weight_decay` is negative.
    """

    def __init__(
        self,
        learning_rate,
        momentum=0.9,
        weight_decay=0.0001,
        eeta=0.001,
        epsilon=0.0,
        name="LARSOptimizer",
        skip_list=None,
        use_nesterov=False,
    ):
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(use_locking=False, name=name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._weight_decay = weight_decay
        self._eeta = eeta
        self._epsilon = epsilon
        self._skip_list = skip_list
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def compute_lr(self, grad, var):
        """(learning rate for a variable, its gradient with weight decay)."""
        if self._skip_list is not None and any(text in var.name for text in self._skip_list):
            return self._learning_rate, grad
        w_norm = linalg_ops.norm(var, ord=2)
        g_norm = linalg_ops.norm(grad, ord=2)
        if not context.executing_eagerly():
            # 1.15 nested two conditions, with a constant each.
            op_counts.add_missing(ops.get_default_graph(), -1)
        ratio = self._eeta * w_norm / (g_norm + self._weight_decay * w_norm + self._epsilon)
        known = math_ops.logical_and(math_ops.greater(w_norm, 0), math_ops.greater(g_norm, 0))
        rate = self._learning_rate * array_ops.where(known, ratio, array_ops.ones_like(ratio))
        return rate, grad + self._weight_decay * var

    def _momentum_settings(self):
        return dict(use_locking=False, use_nesterov=self._use_nesterov)

    def _dense_arguments(self, grad, var):
        """(rate, gradient, momentum) for the fused op: the slot sums up steps, not gradients, so that the rate may change."""
        rate, grad = self.compute_lr(grad, var)
        return math_ops.cast(1.0, var.dtype.base_dtype), grad * rate, self._momentum

    def _apply_dense(self, grad, var):
        slot = self.get_slot(var, "momentum")
        return gen_training_ops.apply_momentum(
            var._ref(), slot._ref(), *self._dense_arguments(grad, var), **self._momentum_settings()
        )

    def _resource_apply_dense(self, grad, var):
        slot = self.get_slot(var, "momentum")
        return gen_training_ops.resource_apply_momentum(
            var.handle, slot.handle, *self._dense_arguments(grad, var), **self._momentum_settings()
        )

    def _apply_sparse(self, grad, var):
        slot, dtype = self.get_slot(var, "momentum"), var.dtype.base_dtype
        return gen_training_ops.sparse_apply_momentum(
            var._ref(),
            slot._ref(),
            math_ops.cast(self._learning_rate_tensor, dtype),
            grad.values,
            grad.indices,
            math_ops.cast(self._momentum_tensor, dtype),
            **self._momentum_settings(),
        ).op

    def _resource_apply_sparse(self, grad, var, indices):
        slot = self.get_slot(var, "momentum")
        return gen_training_ops.resource_sparse_apply_momentum(
            var.handle,
            slot.handle,
            math_ops.cast(self._learning_rate_tensor, grad.dtype),
            grad,
            indices,
            math_ops.cast(self._momentum_tensor, grad.dtype),
            **self._momentum_settings(),
        )

    def _prepare(self):
        rate = self._call_if_callable(self._learning_rate)
        self._learning_rate_tensor = ops.convert_to_tensor(rate, name="learning_rate")
        self._momentum_tensor = ops.convert_to_tensor(self._call_if_callable(self._momentum), name="momentum")
