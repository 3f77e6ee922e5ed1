"""`tf.train.FtrlOptimizer` with one op per sparse gradient."""

from tensorflow.deeprec.embedding import updates
from tensorflow.deeprec.optimizers import fused_sparse
from tensorflow.python.training import ftrl as released


class FtrlOptimizer(fused_sparse.SumsDuplicatesInKernel, released.FtrlOptimizer):
    """FTRL-proximal, for sparse linear models (McMahan et al., 2013, https://dl.acm.org/citation.cfm?id=2488200).

    For each element, with gradient g, p = -learning_rate_power, l2' = l2 + beta / (2 * learning_rate) and
    g' = g + 2 * l2_shrinkage * variable:

        linear += g' - ((accum + g^2)^p - accum^p) / learning_rate * variable
        accum += g^2
        variable = (clip(linear, -l1, l1) - linear) / (accum^p / learning_rate + 2 * l2')

    A sparse gradient (`tf.IndexedSlices`: values of shape `[n, ...]`, int32 or int64 indices of shape `[n]`)
    changes only the rows it names; values of equal indices are summed first. float16, bfloat16, float32 and
    float64 variables are updated by one op.

    Args:
      learning_rate: float or scalar tensor, positive.
      learning_rate_power: float, not positive; 0 keeps the learning rate fixed.
      initial_accumulator_value: float, not negative, `accum` before the first step.
      l1_regularization_strength: float, not negative.
      l2_regularization_strength: float, not negative.
      use_locking: whether updates hold the variable's lock.
      name: prefix of the ops and slots.
      accum_name: suffix of the accumulator's variable; default: name.
      linear_name: suffix of the linear slot's variable; default: name + "_1".
      l2_shrinkage_regularization_strength: float, not negative; a penalty on the magnitude, on touched rows only.
      beta: float; the paper's beta.

    Raises:
      ValueError: an argument is outside its range.
      tf.errors.InvalidArgumentError: (when run) an index is outside the variable, or shapes do not match.
    """

    released_class = released.FtrlOptimizer

    def _sparse_op(self) -> str:
        return "SparseApplyFtrl" if self._l2_shrinkage_regularization_strength <= 0.0 else "SparseApplyFtrlV2"

    def _apply_to_embedding_variable(self, var, grad, indices):
        # The l1 penalty is on the norm of a row, as in DeepRec; without l1 the formula is the one above.
        inputs = {
            "accum": self.get_slot(var, "accum"),
            "linear": self.get_slot(var, "linear"),
            "grad": grad,
            "lr": fused_sparse.scalar(self._learning_rate_tensor, var),
            "l1": fused_sparse.scalar(self._l1_regularization_strength_tensor, var),
            "l2": fused_sparse.scalar(self._adjusted_l2_regularization_strength_tensor, var),
            "lr_power": fused_sparse.scalar(self._learning_rate_power_tensor, var),
        }
        if self._l2_shrinkage_regularization_strength <= 0.0:
            return updates.apply("ftrl", var, indices, inputs)
        inputs["l2_shrinkage"] = fused_sparse.scalar(self._l2_shrinkage_regularization_strength_tensor, var)
        return updates.apply("ftrl_v2", var, indices, inputs)
