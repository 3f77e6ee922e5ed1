"""`tf.train.AdamOptimizer` with one op per sparse gradient, for all rows or for touched rows."""

from tensorflow.deeprec.embedding import updates
from tensorflow.deeprec import library
from tensorflow.deeprec import settings
from tensorflow.deeprec.optimizers import fused_sparse
from tensorflow.python.framework import indexed_slices
from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops
from tensorflow.python.ops import control_flow_ops
from tensorflow.python.ops import math_ops
from tensorflow.python.ops import state_ops
from tensorflow.python.training import adam as released


class AdamOptimizer(released.AdamOptimizer):
    """Adam (Kingma and Ba, 2015, https://arxiv.org/abs/1412.6980), in the form before section 2.1 of the paper.

    For each element, with gradient g at step t:

        alpha = learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t)
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g^2
        variable -= alpha * m / (sqrt(v) + epsilon)

    With a sparse gradient (`tf.IndexedSlices`: values of shape `[n, ...]`, int32 or int64 indices of shape `[n]`;
    values of equal indices are summed first) there are two forms:

    * lazy=False: as TensorFlow 1.15. Rows without gradient take the step with g = 0: their moments decay and the
      rows go on moving. Every step reads and writes the whole table, in one pass.
    * lazy=True: as DeepRec. Only the rows named change, so a step costs what the batch touches. Results differ
      from lazy=False unless every row has a gradient in every step.

    Both keep the same variables, so a checkpoint of one restores into the other. float16, bfloat16, float32 and
    float64 variables are updated by one op; 16-bit ones are computed in float32 and rounded once.

    Args:
      learning_rate: float, scalar tensor, or callable that returns one.
      beta1: float or scalar tensor, decay of the first moment.
      beta2: float or scalar tensor, decay of the second moment.
      epsilon: small float, keeps the denominator from zero (the paper's "epsilon hat").
      use_locking: whether updates hold the variable's lock.
      name: prefix of the ops and slots, slot names `m` and `v`.
      use_own_namescope_for_non_slot_vars: whether the beta powers get the root name scope of the optimizer.
      lazy: True, False, or None: True if the environment variable TF_DEEPREC_LAZY_ADAM was 1 when tensorflow was
        imported, else False.

    Raises:
      ValueError: lazy is none of these.
      tf.errors.InvalidArgumentError: (when run) an index is outside the variable, or shapes do not match.
    """

    released_class = released.AdamOptimizer

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        name="Adam",
        use_own_namescope_for_non_slot_vars=False,
        *,
        lazy=None,
    ):
        if lazy not in (None, True, False):
            raise ValueError(f"lazy must be True, False or None, got {lazy!r}")
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name, use_own_namescope_for_non_slot_vars)
        self._lazy = settings.LAZY_ADAM if lazy is None else bool(lazy)

    # Indices as the gradient has them. Subclasses that override the inner methods were written for unique indices,
    # so the released base class makes them unique for these.

    def _apply_sparse_duplicate_indices(self, grad, var):
        if self._is_fused("SparseApplyAdam", var, "_apply_sparse"):
            return self._apply_fused(grad.values, var, grad.indices)
        return super()._apply_sparse_duplicate_indices(grad, var)

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        if self._is_fused("ResourceSparseApplyAdam", handle, "_resource_apply_sparse"):
            return self._resource_apply_fused(grad, handle, indices)
        return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices)

    # Unique indices.

    def _apply_sparse(self, grad, var):
        if self._is_fused("SparseApplyAdam", var):
            return self._apply_fused(grad.values, var, grad.indices)
        if self._is_lazy():
            return self._apply_touched_rows(grad.values, var, grad.indices)
        return super()._apply_sparse(grad, var)

    def _resource_apply_sparse(self, grad, var, indices):
        if self._is_fused("ResourceSparseApplyAdam", var, "_resource_scatter_add"):
            return self._resource_apply_fused(grad, var, indices)
        if self._is_lazy():
            return self._apply_touched_rows(grad, var, indices)
        return super()._resource_apply_sparse(grad, var, indices)

    def _is_fused(self, op, var, *methods):
        # Eager steps keep the released composition; the lazy form has none to keep.
        return fused_sparse.supported(op, var, anywhere=self._lazy) and fused_sparse.keeps_methods(
            self, AdamOptimizer, "_apply_sparse_shared", *methods
        )

    def _is_lazy(self):
        # A subclass with its own formula gets that formula.
        return self._lazy and fused_sparse.keeps_methods(self, AdamOptimizer, "_apply_sparse_shared")

    def _tensors(self):
        """Returns beta1_power, beta2_power, learning rate, beta1, beta2 and epsilon."""
        return (*self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)

    def _scalars(self, var):
        """Returns these in the dtype of `var`."""
        return [math_ops.cast(t, var.dtype.base_dtype) for t in self._tensors()]

    def _apply_fused(self, values, var, indices):
        return (
            library.ops()
            .sparse_apply_adam(
                var,
                self.get_slot(var, "m"),
                self.get_slot(var, "v"),
                *self._scalars(var),
                values,
                indices,
                use_locking=self._use_locking,
                decay_all_rows=not self._lazy,
            )
            .op
        )

    def _resource_apply_fused(self, values, var, indices):
        return library.ops().resource_sparse_apply_adam(
            var.handle,
            self.get_slot(var, "m").handle,
            self.get_slot(var, "v").handle,
            *self._scalars(var),
            values,
            indices,
            use_locking=self._use_locking,
            decay_all_rows=not self._lazy,
        )

    def _apply_touched_rows(self, values, var, indices):
        """The lazy form out of stock ops, where our kernel is disabled. Requires unique indices."""
        beta1_power, beta2_power, lr, beta1, beta2, epsilon = self._scalars(var)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        alpha = lr * math_ops.sqrt(1 - beta2_power) / (1 - beta1_power)
        m_rows = array_ops.gather(m, indices) * beta1 + values * (1 - beta1)
        v_rows = array_ops.gather(v, indices) * beta2 + values * values * (1 - beta2)
        delta = alpha * m_rows / (math_ops.sqrt(v_rows) + epsilon)
        with ops.control_dependencies([m_rows, v_rows]):
            updates = [
                state_ops.scatter_update(m, indices, m_rows, use_locking=self._use_locking),
                state_ops.scatter_update(v, indices, v_rows, use_locking=self._use_locking),
            ]
        updates.append(var.scatter_sub(indexed_slices.IndexedSlices(delta, indices), use_locking=self._use_locking))
        return control_flow_ops.group(*updates)

    def _apply_to_embedding_variable(self, var, grad, indices, weight_decay=None):
        # Touched rows only, whatever `lazy` says: there is no table of all rows to decay.
        names = ("beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon")
        inputs = {
            "m": self.get_slot(var, "m"),
            "v": self.get_slot(var, "v"),
            **{name: fused_sparse.scalar(t, var) for name, t in zip(names, self._tensors())},
            "grad": grad,
            "global_step": updates.global_step(self),
        }
        if weight_decay is None:
            return updates.apply("adam", var, indices, inputs)
        return updates.apply("adam_w", var, indices, {**inputs, "weight_decay": weight_decay})
