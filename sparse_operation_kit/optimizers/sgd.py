"""`sok.SGD`."""

import tensorflow as tf

from sparse_operation_kit.dynamic_variable import DynamicVariable


class SGD:
    """Gradient descent on tables and other variables: `var -= lr * grad`.

    Args:
      lr: the learning rate, a number; `.lr` is the variable that holds it.
    """

    def __init__(self, lr):
        with tf.init_scope():
            self._lr = tf.Variable(float(lr), trainable=False, dtype=tf.float32, name="SGD/lr")

    @property
    def lr(self):
        """The variable that holds the learning rate; assigning a number sets it (eagerly)."""
        return self._lr

    @lr.setter
    def lr(self, value):
        self._lr.assign(value)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Applies gradients; those that are None are left out.

        Args:
          grads_and_vars: pairs of tensor or tf.IndexedSlices, and variable.
          global_step: variable to add 1 to, or None.
          name: name of the op.

        Returns:
          The op, or None eagerly.
        """
        done = []
        with tf.name_scope(name or "SGD"):
            for grad, var in grads_and_vars:
                if grad is not None:
                    done.append(self._apply(grad, var))
            with tf.control_dependencies([op for op in done if op is not None]):
                if global_step is not None:
                    return global_step.assign_add(tf.ones([], global_step.dtype), read_value=False)
                return tf.no_op()

    def _apply(self, grad, var):
        lr = tf.cast(tf.convert_to_tensor(self._lr), var.dtype.base_dtype)
        if isinstance(grad, tf.IndexedSlices):
            return var.scatter_sub(tf.IndexedSlices(lr * grad.values, grad.indices, grad.dense_shape))
        if isinstance(var, DynamicVariable):
            raise TypeError(f"the gradient of {var.name} must be tf.IndexedSlices, got {type(grad).__name__}")
        return var.assign_sub(lr * grad)
