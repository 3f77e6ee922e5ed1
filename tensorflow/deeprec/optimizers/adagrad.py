"""`tf.train.AdagradOptimizer` with one op per sparse gradient."""

from tensorflow.deeprec.embedding import updates
from tensorflow.deeprec.optimizers import fused_sparse
from tensorflow.python.training import adagrad as released


class AdagradOptimizer(fused_sparse.SumsDuplicatesInKernel, released.AdagradOptimizer):
    """Adagrad: a learning rate per element that falls with the gradients seen so far.

    For each element, with gradient g (Duchi et al., 2011, http://jmlr.org/papers/v12/duchi11a.html):

        accumulator += g^2
        variable -= learning_rate * g / sqrt(accumulator)

    A sparse gradient (`tf.IndexedSlices`: values of shape `[n, ...]`, int32 or int64 indices of shape `[n]`)
    changes only the rows it names; values of equal indices are summed first. float16, bfloat16, float32 and
    float64 variables are updated by one op; 16-bit ones are computed in float32 and rounded once.

    Args:
      learning_rate: float or scalar tensor.
      initial_accumulator_value: positive float, the accumulator before the first step.
      use_locking: whether updates hold the variable's lock.
      name: prefix of the ops and slots, slot name `accumulator`.

    Raises:
      ValueError: initial_accumulator_value is not positive.
      tf.errors.InvalidArgumentError: (when run) an index is outside the variable, or shapes do not match.
    """

    released_class = released.AdagradOptimizer

    def _sparse_op(self) -> str:
        return "SparseApplyAdagrad"

    def _apply_to_embedding_variable(self, var, grad, indices):
        return updates.apply(
            "adagrad",
            var,
            indices,
            {
                "accum": self.get_slot(var, "accumulator"),
                "lr": fused_sparse.scalar(self._learning_rate_tensor, var),
                "grad": grad,
                "global_step": updates.global_step(self),
            },
        )
