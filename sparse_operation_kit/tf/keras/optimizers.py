"""Adam of Keras and of TF1."""

import tensorflow as tf
from tensorflow.python.training import adam
from tf_keras.src.optimizers.legacy.adam import Adam

__all__ = ["Adam", "LazyAdamOptimizer"]


class LazyAdamOptimizer(adam.AdamOptimizer):
    """`tf.train.AdamOptimizer` whose sparse steps leave rows without a gradient, and their moments, as they are."""

    def _resource_apply_sparse(self, grad, var, indices):
        # pylint: disable=protected-access
        beta1_power, beta2_power = (tf.cast(power, var.dtype.base_dtype) for power in self._get_beta_accumulators())
        rate, beta1, beta2, epsilon = (
            tf.cast(value, var.dtype.base_dtype)
            for value in (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        )
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m = beta1 * m.sparse_read(indices) + (1 - beta1) * grad
        new_v = beta2 * v.sparse_read(indices) + (1 - beta2) * tf.square(grad)
        step = rate * tf.sqrt(1 - beta2_power) / (1 - beta1_power) * new_m / (tf.sqrt(new_v) + epsilon)
        return tf.group(
            self._resource_scatter(m, indices, new_m),
            self._resource_scatter(v, indices, new_v),
            self._resource_scatter_add(var, indices, -step),
        )

    @staticmethod
    def _resource_scatter(variable, indices, rows):
        return variable.scatter_update(tf.IndexedSlices(rows, indices))
