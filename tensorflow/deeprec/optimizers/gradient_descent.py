"""`tf.train.GradientDescentOptimizer` with one op per sparse gradient."""

from tensorflow.deeprec.embedding import updates
from tensorflow.deeprec import library
from tensorflow.deeprec.optimizers import fused_sparse
from tensorflow.python.ops import math_ops
from tensorflow.python.training import gradient_descent as released


class GradientDescentOptimizer(released.GradientDescentOptimizer):
    """Gradient descent: `variable -= learning_rate * gradient`.

    A sparse gradient (`tf.IndexedSlices`: values of shape `[n, ...]`, int32 or int64 indices of shape `[n]`)
    changes only the rows it names; values of equal indices are summed first. float16, bfloat16, float32 and
    float64 variables are updated by one op.

    Args:
      learning_rate: float, scalar tensor, or callable that returns one.
      use_locking: whether updates hold the variable's lock.
      name: prefix of the ops.

    Raises:
      tf.errors.InvalidArgumentError: (when run) an index is outside the variable, or shapes do not match.
    """

    released_class = released.GradientDescentOptimizer

    def _alpha(self, var):
        return math_ops.cast(self._learning_rate_tensor, var.dtype.base_dtype)

    def _apply_sparse_duplicate_indices(self, grad, var):
        if not fused_sparse.supported("SparseApplyGradientDescent", var):
            return super()._apply_sparse_duplicate_indices(grad, var)
        return (
            library.ops()
            .sparse_apply_gradient_descent(
                var, self._alpha(var), grad.values, grad.indices, use_locking=self._use_locking
            )
            .op
        )

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        if not fused_sparse.supported("ResourceSparseApplyGradientDescent", handle):
            return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices)
        return library.ops().resource_sparse_apply_gradient_descent(
            handle.handle, self._alpha(handle), grad, indices, use_locking=self._use_locking
        )

    def _apply_to_embedding_variable(self, var, grad, indices):
        return updates.apply(
            "gradient_descent",
            var,
            indices,
            {
                "alpha": fused_sparse.scalar(self._learning_rate_tensor, var),
                "grad": grad,
                "global_step": updates.global_step(self),
            },
        )
