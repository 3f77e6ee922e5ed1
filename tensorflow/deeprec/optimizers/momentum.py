"""`tf.train.MomentumOptimizer` with one op per sparse gradient."""

from tensorflow.deeprec.embedding import updates
from tensorflow.deeprec.optimizers import fused_sparse
from tensorflow.python.training import momentum as released


class MomentumOptimizer(fused_sparse.SumsDuplicatesInKernel, released.MomentumOptimizer):
    """Gradient descent with momentum, optionally Nesterov's.

    For each element, with gradient g:

        momentum_slot = momentum * momentum_slot + g
        variable -= learning_rate * momentum_slot

    and with use_nesterov `variable -= learning_rate * (g + momentum * momentum_slot)` (Sutskever et al., 2013,
    http://proceedings.mlr.press/v28/sutskever13.html).

    A sparse gradient (`tf.IndexedSlices`: values of shape `[n, ...]`, int32 or int64 indices of shape `[n]`)
    changes variable and slot only in the rows it names; values of equal indices are summed first. float16,
    bfloat16, float32 and float64 variables are updated by one op.

    Args:
      learning_rate: float, scalar tensor, or callable that returns one.
      momentum: float, scalar tensor, or callable that returns one.
      use_locking: whether updates hold the variable's lock.
      name: prefix of the ops and slots, slot name `momentum`.
      use_nesterov: whether to use Nesterov momentum.

    Raises:
      tf.errors.InvalidArgumentError: (when run) an index is outside the variable, or shapes do not match.
    """

    released_class = released.MomentumOptimizer

    def _sparse_op(self) -> str:
        return "SparseApplyMomentum"

    def _apply_to_embedding_variable(self, var, grad, indices):
        return updates.apply(
            "momentum",
            var,
            indices,
            {
                "accum": self.get_slot(var, "momentum"),
                "lr": fused_sparse.scalar(self._learning_rate_tensor, var),
                "momentum": fused_sparse.scalar(self._momentum_tensor, var),
                "grad": grad,
                "global_step": updates.global_step(self),
            },
            use_nesterov=self._use_nesterov,
        )
