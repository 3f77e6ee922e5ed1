"""Keras layers and regularizers that build the ops which 1.15's built: the op seeds count them (`op_seeds`).

Set on tf_keras' classes when their modules load. In eager mode the methods of tf_keras stay as they are.
"""

import functools

from tensorflow.api_v1 import import_hooks

_LAYERS = "tf_keras.src.layers"


def install() -> None:
    import_hooks.after_import(f"{_LAYERS}.reshaping.flatten", _flatten)
    import_hooks.after_import(f"{_LAYERS}.regularization.dropout", _dropout)
    import_hooks.after_import(f"{_LAYERS}.normalization.batch_normalization", _batch_normalization)
    import_hooks.after_import(f"{_LAYERS}.convolutional.conv2d_transpose", _conv2d_transpose)
    import_hooks.after_import("tf_keras.src.regularizers", _regularizers)


def _in_graphs(method):
    """Decorates a replacement of a layer's method that eager mode does not take."""

    def decorate(replacement):
        @functools.wraps(method)
        def call(self, *args, **kwargs):
            import tensorflow as tf

            chosen = method if tf.executing_eagerly() else replacement
            return chosen(self, *args, **kwargs)

        return call

    return decorate


def _flatten(module) -> None:
    @_in_graphs(module.Flatten.call)
    def call(self, inputs):
        """[batch, ...] to [batch, n], with the batch size taken from the tensor where it is not static."""
        import tensorflow as tf

        rank = inputs.shape.rank
        if self._channels_first and rank is not None and rank > 1:
            inputs = tf.transpose(inputs, perm=[0, *range(2, rank), 1])
        batch = tf.compat.dimension_value(inputs.shape[0]) if rank else None
        outputs = tf.reshape(inputs, (batch or tf.shape(inputs)[0], -1))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    module.Flatten.call = call


def _dropout(module) -> None:
    released = module.Dropout.call

    @_in_graphs(released)
    def call(self, inputs, training=None):
        import tensorflow as tf
        from tf_keras.src.utils import control_flow_util

        if self.rate == 0:
            # A rate of 0 builds an op at inference only.
            training = tf.keras.backend.learning_phase() if training is None else training
            return control_flow_util.smart_cond(training, lambda: inputs, lambda: tf.identity(inputs))
        return released(self, inputs, training)

    module.Dropout.call = call


def _batch_normalization(module) -> None:
    released = module.BatchNormalizationBase._fused_batch_norm

    @_in_graphs(released)
    def fused_batch_norm(self, inputs, mask, training):
        import tensorflow as tf
        from tf_keras.src.utils import control_flow_util

        output = released(self, inputs, mask, training)
        if control_flow_util.constant_value(training) is False:
            # 1.15 made the momentum a constant before it found that nothing is updated.
            tf.convert_to_tensor(self.momentum)
        return output

    module.BatchNormalizationBase._fused_batch_norm = fused_batch_norm


def _conv2d_transpose(module) -> None:
    released = module.Conv2DTranspose.call

    @_in_graphs(released)
    def call(self, inputs):
        import tensorflow as tf
        from tensorflow.api_v1.restored import op_counts

        # 1.15 computed the size of the output from the shape as a tensor: a slice (four ops) and the arithmetic, where the runtime
        # has a constant if the size is known.
        arithmetic = 10 if self.output_padding is not None else {"same": 2, "valid": 4}[self.padding]
        sizes = inputs.shape[2:4] if self.data_format == "channels_first" else inputs.shape[1:3]
        known = sum(size is not None for size in sizes.as_list())
        op_counts.add_missing(tf.get_default_graph(), known * (4 + arithmetic - 1))
        return released(self, inputs)

    module.Conv2DTranspose.call = call


def _regularizers(module) -> None:
    def penalty(l1, l2, x):
        """l1 * sum(|x|) + l2 * sum(x**2), summed as in 1.15: 0 + the first + the second."""
        import tensorflow as tf

        total = 0.0
        if l1:
            total += tf.reduce_sum(l1 * tf.abs(x))
        if l2:
            total += tf.reduce_sum(l2 * tf.square(x))
        return total if l1 or l2 else tf.constant(0, dtype=x.dtype)

    module.L1L2.__call__ = lambda self, x: penalty(self.l1, self.l2, x)
    module.L1.__call__ = lambda self, x: penalty(self.l1, 0, x)
    module.L2.__call__ = lambda self, x: penalty(0, self.l2, x)
