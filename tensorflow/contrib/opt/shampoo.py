"""Shampoo: one preconditioner for each dimension of a variable."""

from tensorflow.contrib.opt import matrix_functions
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, cond, linalg_ops, math_ops, state_ops
from tensorflow.python.platform import tf_logging
from tensorflow.python.training import optimizer


def GetParam(var, timestep):
    """A constant, or a function's value at a step."""
    return var(timestep) if callable(var) else var


class ShampooOptimizer(optimizer.Optimizer):
    """Shampoo (Gupta, Koren and Singer, https://arxiv.org/abs/1802.09568), with running means.

    For a variable of n dimensions:

        gbar = gbar_decay * gbar + gbar_weight * g
        G_j = mat_gbar_decay * G_j + mat_gbar_weight * (g times g over all dimensions but j)
        var -= learning_rate * (gbar times (G_j / d_j)^(-alpha / n) along each dimension j)

    A dimension above `max_matrix_size` has a diagonal G_j. Most arguments may be functions of the step.

    Args:
      global_step: variable or tensor, the step.
      max_matrix_size: largest dimension with a whole matrix.
      gbar_decay, gbar_weight, mat_gbar_decay, mat_gbar_weight, learning_rate: see above.
      svd_interval: steps between computations of the roots.
      precond_update_interval: steps between updates of G_j.
      epsilon: added to the diagonals.
      alpha: see above.
      use_iterative_root: roots by iteration instead of SVD.
      use_locking: whether updates hold locks.
      name: prefix of the ops and slots.
    """

    def __init__(
        self,
        global_step=0,
        max_matrix_size=768,
        gbar_decay=0.0,
        gbar_weight=1.0,
        mat_gbar_decay=1.0,
        mat_gbar_weight=1.0,
        learning_rate=1.0,
        svd_interval=1,
        precond_update_interval=1,
        epsilon=1e-4,
        alpha=0.5,
        use_iterative_root=False,
        use_locking=False,
        name="Shampoo",
    ):
        super().__init__(use_locking, name)
        self._global_step = math_ops.cast(global_step, dtypes.float32)
        self._max_matrix_size = max_matrix_size
        self._gbar_decay = gbar_decay
        self._gbar_weight = gbar_weight
        self._mat_gbar_decay = mat_gbar_decay
        self._mat_gbar_weight = mat_gbar_weight
        self._learning_rate = learning_rate
        self._svd_interval = svd_interval
        self._precond_update_interval = precond_update_interval
        self._epsilon = epsilon
        self._alpha = alpha
        self._use_iterative_root = use_iterative_root

    def _keeps_roots(self):
        return callable(self._svd_interval) or self._svd_interval > 1

    def _create_slots(self, var_list):
        for v in var_list:
            with ops.colocate_with(v):
                self._zeros_slot(v, "gbar", self._name)
                for i, size in enumerate(v.get_shape().as_list()):
                    if size <= self._max_matrix_size:
                        start = array_ops.zeros([size, size])
                        if self._keeps_roots():
                            self._get_or_make_slot(v, linalg_ops.eye(size), f"H_{i}", self._name)
                    else:
                        start = array_ops.zeros([size])
                    self._get_or_make_slot(v, start, f"Gbar_{i}", self._name)

    def _apply_dense(self, grad, var):
        return self._apply_gradient(grad, var)

    def _resource_apply_dense(self, grad, var):
        return self._apply_gradient(grad, var)

    def _apply_sparse(self, grad, var):
        return self._apply_rows(grad.values, grad.indices, var)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._apply_rows(grad, indices, var)

    def _apply_rows(self, values, indices, var):
        if var.get_shape()[0].value <= self._max_matrix_size or self._gbar_decay != 0.0:
            dense = array_ops.scatter_nd(
                array_ops.expand_dims(indices, axis=1), values, array_ops.shape(var, out_type=indices.dtype)
            )
            return self._apply_gradient(dense, var)
        return self._apply_gradient(values, var, indices)

    def _weighted_average(self, var, weight, weight_t, rest):
        """`var = weight_t * var + rest`, with shortcuts for constant weights of 0 and 1."""
        if not callable(weight) and weight == 0.0:
            return rest
        if not callable(weight) and weight == 1.0:
            return state_ops.assign_add(var, rest)
        return state_ops.assign_add(var, (weight_t - 1) * var + rest)

    def _power(self, matrix, size, exponent):
        """matrix^exponent of a symmetric positive semidefinite matrix."""
        with ops.name_scope("matrix_iterative_power"):
            if self._use_iterative_root:
                root = matrix_functions.matrix_square_root(matrix, size, 100, self._epsilon)
                return matrix_functions.matrix_inverse_pth_root(root, size, 2 * exponent, 100, ridge_epsilon=0.0)
            if size == 1:
                return math_ops.pow(matrix + self._epsilon, exponent)
            damped = matrix + self._epsilon * linalg_ops.eye(size)
            values, u, v = linalg_ops.svd(damped, full_matrices=True)
            values = math_ops.pow(math_ops.maximum(values, self._epsilon), exponent)
            return math_ops.matmul(v * values, array_ops.transpose(u))

    def _matrix_root(self, var, grad, i, step, exponent):
        """(G_i / d_i)^exponent after the update of G_i, a matrix."""
        shape = var.get_shape().as_list()
        others = [j for j in range(len(shape)) if j != i]
        statistics = self.get_slot(var, f"Gbar_{i}")
        interval = GetParam(self._precond_update_interval, step)
        decay = GetParam(self._mat_gbar_decay, step)
        weight = GetParam(self._mat_gbar_weight, step) * interval

        def update():
            outer = math_ops.tensordot(grad, grad, axes=(others, others), name=f"grad_outer_{i}")
            return self._weighted_average(statistics, self._mat_gbar_decay, decay, weight * outer)

        updated = cond.cond(
            math_ops.mod(step, interval) < 1,
            lambda: array_ops.identity(update()),
            lambda: array_ops.identity(statistics),
        )
        updated = updated / float(shape[i])
        if not self._keeps_roots():
            return self._power(updated, shape[i], exponent)
        kept = self.get_slot(var, f"H_{i}")
        return cond.cond(
            math_ops.mod(step, GetParam(self._svd_interval, step)) < 1,
            lambda: array_ops.identity(state_ops.assign(kept, self._power(updated, shape[i], exponent))),
            lambda: array_ops.identity(kept),
        )

    def _diagonal_root(self, var, grad, i, step, exponent, indices):
        """G_i^exponent after the update of a diagonal G_i; of the touched rows if `indices` is given and i 0."""
        shape = var.get_shape().as_list()
        others = [j for j in range(len(shape)) if j != i]
        statistics = self.get_slot(var, f"Gbar_{i}")
        decay, weight = GetParam(self._mat_gbar_decay, step), GetParam(self._mat_gbar_weight, step)
        squares = grad * grad
        if others:
            # Vectors are not normalized.
            squares = math_ops.reduce_sum(squares, axis=others) / (1.0 if indices is not None else float(shape[i]))
        if i == 0 and indices is not None:
            if self._mat_gbar_decay != 1.0:
                raise ValueError("mat_gbar_decay must be 1 for sparse gradients of large variables")
            update = state_ops.scatter_add(statistics, indices, weight * squares)
            with ops.control_dependencies([update]):
                updated = array_ops.gather(statistics, indices)
        else:
            updated = self._weighted_average(statistics, self._mat_gbar_decay, decay, weight * squares)
        positive = math_ops.greater(updated, 0)
        return array_ops.where(positive, math_ops.pow(updated, exponent), array_ops.zeros_like(updated))

    def _apply_gradient(self, grad, var, indices=None):
        step = self._global_step + 1
        rank = var.get_shape().ndims
        if indices is not None:
            if self._gbar_decay != 0.0:
                tf_logging.warning("Not applying momentum for variable: %s", var.name)
            result = grad
        else:
            decay, weight = GetParam(self._gbar_decay, step), GetParam(self._gbar_weight, step)
            result = self._weighted_average(self.get_slot(var, "gbar"), self._gbar_decay, decay, weight * grad)
        exponent = -GetParam(self._alpha, step) / rank
        for i, size in enumerate(var.get_shape().as_list()):
            # Each round moves the first dimension to the end, so that after the last all are in place again.
            if size <= self._max_matrix_size:
                root = self._matrix_root(var, grad, i, step, exponent)
                result = math_ops.tensordot(result, root, axes=([0], [0]), name=f"precond_{i}")
            else:
                root = self._diagonal_root(var, grad, i, step, exponent, indices)
                result = array_ops.transpose(result, perm=list(range(1, rank)) + [0]) * root
        delta = GetParam(self._learning_rate, step) * result
        if indices is not None:
            return state_ops.scatter_add(var, indices, -delta, use_locking=self._use_locking)
        return state_ops.assign_sub(var, delta, use_locking=self._use_locking)
