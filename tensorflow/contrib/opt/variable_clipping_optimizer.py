"""VariableClipping: keeps the norms of variables below a limit."""

import contextlib

from tensorflow.python.framework import indexed_slices, ops, tensor
from tensorflow.python.ops import array_ops, clip_ops, control_flow_ops, state_ops
from tensorflow.python.platform import tf_logging as logging
from tensorflow.python.training import optimizer

__all__ = ["VariableClippingOptimizer"]


class VariableClippingOptimizer(optimizer.Optimizer):
    """Wraps an optimizer, and clips the norms of variables (not of gradients) after each update.

    Of a sparse gradient, the rows that it names are clipped, unless dimension 0 is among those of the norm.

    Args:
      opt: the optimizer.
      vars_to_clip_dims: dict: variable -> list of the dimensions over which its norm goes.
      max_norm: limit of all norms.
      use_locking: whether the clipping holds locks.
      colocate_clip_ops_with_vars: whether the clipping is computed where the variable is.
      name: prefix of the ops.
    """

    def __init__(
        self,
        opt,
        vars_to_clip_dims,
        max_norm,
        use_locking=False,
        colocate_clip_ops_with_vars=False,
        name="VariableClipping",
    ):
        super().__init__(use_locking, name)
        self._opt = opt
        self._vars_to_clip_dims = {var: dims[:] for var, dims in vars_to_clip_dims.items()}
        self._max_norm = max_norm
        self._colocate_clip_ops_with_vars = colocate_clip_ops_with_vars

    def compute_gradients(self, *args, **kwargs):
        """As for the wrapped optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args, **kwargs):
        """As for the wrapped optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """As for the wrapped optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Applies gradients, then clips."""
        grads_and_vars = list(grads_and_vars)
        with ops.name_scope(name, self._name) as name:
            update = self._opt.apply_gradients(grads_and_vars, global_step=global_step)
            clips = []
            with ops.control_dependencies([update]):
                for grad, var in grads_and_vars:
                    if grad is None or var not in self._vars_to_clip_dims:
                        continue
                    with ops.name_scope("clip_" + var.op.name):
                        dense = isinstance(grad, tensor.Tensor)
                        clips.append(self._clip_dense(var) if dense else self._clip_sparse(grad, var))
            return control_flow_ops.group(update, *clips, name=name)

    def _clip_dense(self, var):
        with self._maybe_colocate_with(var):
            value = var.read_value()
            delta = value - clip_ops.clip_by_norm(value, self._max_norm, self._vars_to_clip_dims[var])
        with ops.colocate_with(var):
            return var.assign_sub(delta, use_locking=self._use_locking)

    def _clip_sparse(self, grad, var):
        dims = self._vars_to_clip_dims[var]
        if 0 in dims:
            logging.warning("Clipping %s over dimensions %s reads all of it for each sparse update.", var.op.name, dims)
            return self._clip_dense(var)
        # A row that is named n times is moved n times by the same difference: 1.15's result.
        indices = grad.indices
        with ops.colocate_with(var):
            rows = array_ops.gather(var, indices)
        with self._maybe_colocate_with(var):
            delta = indexed_slices.IndexedSlices(
                rows - clip_ops.clip_by_norm(rows, self._max_norm, dims), indices, grad.dense_shape
            )
        with ops.colocate_with(var):
            return state_ops.scatter_sub(var, delta.indices, delta.values, use_locking=self._use_locking)

    @contextlib.contextmanager
    def _maybe_colocate_with(self, var):
        with ops.colocate_with(var) if self._colocate_clip_ops_with_vars else contextlib.nullcontext():
            yield
