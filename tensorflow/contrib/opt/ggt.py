"""GGT: full-matrix adaptive regularization from a window of past gradients."""

import math

from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, cond, control_flow_ops, linalg_ops, math_ops, state_ops
from tensorflow.python.training import optimizer


class GGTOptimizer(optimizer.Optimizer):
    """GGT (Agarwal et al., https://arxiv.org/abs/1806.02958).

    All variables make one vector, and so do their gradients g. With M the last `window` first moments as columns, scaled:

        m_t = beta1 * m_{t-1} + (1 - beta1) * g
        M = buffer^T / sqrt(min(t, window))
        U, sigma = SVD(M^T M + svd_eps I)
        step = M U diag((sqrt(sigma) + sigma_eps)^-3) U^T M^T m_t
               + (m_t - M U diag(1 / sigma) U^T M^T m_t) / min(sqrt(sigma))    if min(sqrt(sigma)) > eps
        vars -= learning_rate * step

    Sparse gradients are not supported.

    Args:
      learning_rate, beta1, eps, svd_eps, sigma_eps: floats or tensors.
      use_locking: whether updates hold locks.
      name: prefix of the ops.
      window: number of moments that are kept.
    """

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        use_locking=False,
        name="GGT",
        window=10,
        eps=1e-4,
        svd_eps=1e-6,
        sigma_eps=1e-2,
    ):
        super().__init__(use_locking, name)
        self._hyper = dict(lr=learning_rate, beta1=beta1, eps=eps, svd_eps=svd_eps, sigma_eps=sigma_eps)
        self._window = window
        # Variable's name -> place in the vector.
        self._places = {}

    def _create_slots(self, var_list):
        total = 0
        for v in sorted(var_list, key=lambda v: v.name):
            size = math.prod(v.get_shape().as_list())
            self._places[v.name] = (total, total + size)
            total += size
        first = min(var_list, key=lambda v: v.name)
        dtype = var_list[0].dtype.base_dtype
        for name, value in (
            ("global_step", math_ops.cast(0.0, dtype=dtype)),
            ("grad_buffer", array_ops.zeros([self._window, total], dtype=dtype)),
            ("moment1", array_ops.zeros((total,), dtype=dtype)),
            ("flat_grad", array_ops.zeros((total,), dtype=dtype)),
        ):
            self._create_non_slot_variable(initial_value=value, name=name, colocate_with=first)

    def _non_slot(self, name):
        graph = None if ops.executing_eagerly_outside_functions() else ops.get_default_graph()
        return self._get_non_slot_variable(name, graph=graph)

    def _prepare(self):
        self._applied = []

    def _apply_dense(self, grad, var):
        self._applied.append(var)
        start, end = self._places[var.name]
        return state_ops.scatter_update(
            self._non_slot("flat_grad"), math_ops.range(start, end), array_ops.reshape(grad, [-1])
        )

    def _resource_apply_dense(self, grad, var):
        return self._apply_dense(grad, var)

    def _apply_sparse(self, grad, var):
        raise NotImplementedError("Sparse gradient updates are not supported by GGTOptimizer.")

    def _resource_apply_sparse(self, grad, var, indices):
        raise NotImplementedError("Sparse gradient updates are not supported by GGTOptimizer.")

    def _finish(self, update_ops, name_scope):
        with ops.control_dependencies(update_ops):
            updates = self._update_variables()
        return control_flow_ops.group(*update_ops, *updates, name=name_scope)

    def _update_variables(self):
        dtype = self._applied[0].dtype.base_dtype
        beta1, eps, svd_eps, sigma_eps, lr = (
            ops.convert_to_tensor(self._call_if_callable(self._hyper[name]), dtype=dtype)
            for name in ("beta1", "eps", "svd_eps", "sigma_eps", "lr")
        )
        step = state_ops.assign_add(self._non_slot("global_step"), 1.0)
        moment, flat_grad = self._non_slot("moment1"), self._non_slot("flat_grad")
        moment = state_ops.assign(moment, beta1 * moment + (1.0 - beta1) * flat_grad.read_value())
        row = math_ops.floormod(math_ops.cast(step - 1.0, "int32"), self._window)
        buffer = state_ops.scatter_update(self._non_slot("grad_buffer"), row, moment)

        count = math_ops.minimum(ops.convert_to_tensor(step), math_ops.cast(self._window, dtype))
        m = array_ops.transpose(math_ops.divide(buffer, math_ops.sqrt(count)))
        damping = linalg_ops.eye(self._window, dtype=dtype) * svd_eps
        sigma, u, _ = linalg_ops.svd(math_ops.matmul(m, m, transpose_a=True) + damping)
        root = math_ops.sqrt(sigma)
        smallest = math_ops.reduce_min(root)
        column = array_ops.expand_dims(moment, -1)
        projected = math_ops.matmul(u, math_ops.matmul(m, column, transpose_a=True), transpose_a=True)

        def through(weights):
            """M U diag(weights) U^T M^T m_t"""
            return math_ops.matmul(m, math_ops.matmul(u, array_ops.expand_dims(weights, -1) * projected))

        head = through(1.0 / math_ops.pow(root + sigma_eps, 3))
        # The part outside the window's span, by Woodbury's identity.
        tail = (column - through(1.0 / sigma)) / smallest
        new_step = cond.cond(smallest > eps, lambda: head + tail, lambda: array_ops.identity(head))
        updates = []
        for var in self._applied:
            start, end = self._places[var.name]
            delta = lr * array_ops.reshape(new_step[start:end], var.get_shape())
            updates.append(state_ops.assign_sub(var, delta, use_locking=self._use_locking))
        return updates
