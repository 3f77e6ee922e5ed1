"""An optimizer whose loss is scaled."""

import tensorflow as tf


class LossScaleOptimizer(tf.train.Optimizer):
    """Scales the loss, unscales the gradients, and skips steps whose gradients are not finite.

    Args:
      opt: the optimizer that applies gradients.
      loss_scale_manager: a `LossScaleManager`.

    Raises:
      ValueError: `opt` is no optimizer.
    """

    def __init__(self, opt, loss_scale_manager):
        if not isinstance(opt, tf.train.Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager
        super().__init__(use_locking=False, name=f"LossScaleOptimizer{type(opt).__name__}")

    def compute_gradients(
        self,
        loss,
        var_list=None,
        gate_gradients=tf.train.Optimizer.GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        grad_loss=None,
    ):
        scale = self._loss_scale_manager.get_loss_scale()
        if callable(loss):
            scaled = lambda: loss() * tf.cast(scale, loss().dtype.base_dtype)  # noqa: E731
        else:
            scaled = loss * tf.cast(scale, loss.dtype.base_dtype)
        pairs = self._opt.compute_gradients(
            scaled,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        factor = 1 / scale
        return [(None if grad is None else _times(grad, factor), variable) for grad, variable in pairs]

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        grads_and_vars = tuple(grads_and_vars)
        finite = [
            tf.reduce_all(tf.is_finite(grad.values if isinstance(grad, tf.IndexedSlices) else grad))
            for grad, _ in grads_and_vars
            if grad is not None
        ]
        all_finite = tf.reduce_all(finite)

        def apply():
            with tf.control_dependencies([tf.group(self._opt.apply_gradients(grads_and_vars, global_step, name))]):
                return tf.no_op()

        applied = tf.cond(all_finite, apply, tf.no_op)
        return tf.group(applied, self._loss_scale_manager.update_loss_scale(all_finite))


def _times(grad, factor):
    if isinstance(grad, tf.IndexedSlices):
        return tf.IndexedSlices(grad.values * tf.cast(factor, grad.dtype.base_dtype), grad.indices, grad.dense_shape)
    return grad * tf.cast(factor, grad.dtype.base_dtype)
