"""`tf.train.RMSPropOptimizer` with one op per sparse gradient."""

from tensorflow.deeprec.embedding import updates
from tensorflow.deeprec.optimizers import fused_sparse
from tensorflow.python.training import rmsprop as released


class RMSPropOptimizer(fused_sparse.SumsDuplicatesInKernel, released.RMSPropOptimizer):
    """RMSProp: gradients divided by the root of their running mean square (Tieleman and Hinton, 2012).

    For each element, with gradient g:

        rms = decay * rms + (1 - decay) * g^2
        momentum_slot = momentum * momentum_slot + learning_rate * g / sqrt(rms + epsilon)
        variable -= momentum_slot

    centered keeps `mg = decay * mg + (1 - decay) * g` too and divides by `sqrt(rms - mg^2 + epsilon)`.

    A sparse gradient (`tf.IndexedSlices`: values of shape `[n, ...]`, int32 or int64 indices of shape `[n]`)
    changes variable and slots only in the rows it names (other rows do not decay); values of equal indices are
    summed first. float16, bfloat16, float32 and float64 variables are updated by one op.

    Args:
      learning_rate: float or scalar tensor.
      decay: float or scalar tensor, weight of the history.
      momentum: float or scalar tensor.
      epsilon: small float, keeps the denominator from zero.
      use_locking: whether updates hold the variable's lock.
      centered: whether to divide by the estimated standard deviation instead.
      name: prefix of the ops and slots, slot names `rms`, `momentum`, and `mg` if centered.

    Raises:
      tf.errors.InvalidArgumentError: (when run) an index is outside the variable, or shapes do not match.
    """

    released_class = released.RMSPropOptimizer

    def _sparse_op(self) -> str:
        return "SparseApplyCenteredRMSProp" if self._centered else "SparseApplyRMSProp"

    def _apply_to_embedding_variable(self, var, grad, indices):
        if self._centered:
            raise NotImplementedError(f"Centered RMSProp does not train EmbeddingVariables (here: {var.name}).")

        return updates.apply(
            "rms_prop",
            var,
            indices,
            {
                "ms": self.get_slot(var, "rms"),
                "mom": self.get_slot(var, "momentum"),
                "lr": fused_sparse.scalar(self._learning_rate_tensor, var),
                "rho": fused_sparse.scalar(self._decay_tensor, var),
                "momentum": fused_sparse.scalar(self._momentum_tensor, var),
                "epsilon": fused_sparse.scalar(self._epsilon_tensor, var),
                "grad": grad,
                "global_step": updates.global_step(self),
            },
        )
