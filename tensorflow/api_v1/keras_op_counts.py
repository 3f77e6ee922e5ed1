"""Keras layers and regularizers that build the ops which 1.15's built: the op seeds count them (`op_seeds`).

Set on tf_keras' classes when their modules load. In eager mode the methods of tf_keras stay as they are.
"""

import functools
import types

from tensorflow.api_v1 import import_hooks
from tensorflow.api_v1.restored import op_counts

_LAYERS = "tf_keras.src.layers"


def install() -> None:
    for name, hook in (
        (f"{_LAYERS}.reshaping.flatten", _flatten),
        (f"{_LAYERS}.regularization.dropout", _dropout),
        (f"{_LAYERS}.normalization.batch_normalization", _batch_normalization),
        (f"{_LAYERS}.normalization.layer_normalization", _layer_normalization),
        (f"{_LAYERS}.convolutional.conv2d_transpose", _conv2d_transpose),
        (f"{_LAYERS}.rnn.time_distributed", _time_distributed),
        ("tf_keras.src.feature_column.dense_features", _dense_features),
        (f"{_LAYERS}.attention.base_dense_attention", _attention),
        ("tf_keras.src.regularizers", _regularizers),
        ("tf_keras.src.backend", _backend),
        ("tf_keras.src.activations", _activations),
        ("tf_keras.src.optimizers.legacy.optimizer_v2", _optimizers),
    ):
        import_hooks.after_import(name, hook)


def counting(method, count: int):
    """The method, which counts `count` ops more in graphs."""

    @functools.wraps(method)
    def counted(*args, **kwargs):
        import tensorflow as tf

        if not tf.executing_eagerly():
            op_counts.add_missing(tf.get_default_graph(), count)
        return method(*args, **kwargs)

    return counted


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
            total += l1 * tf.reduce_sum(tf.abs(x))
        if l2:
            total += l2 * tf.reduce_sum(tf.square(x))
        return total if l1 or l2 else tf.constant(0, dtype=x.dtype)

    module.L1L2.__call__ = lambda self, x: penalty(self.l1, self.l2, x)
    module.L1.__call__ = lambda self, x: penalty(self.l1, 0, x)
    module.L2.__call__ = lambda self, x: penalty(0, self.l2, x)


def _layer_normalization(module) -> None:
    @_in_graphs(module.LayerNormalization.call)
    def call(self, inputs):
        """Moments over `axis` and the formula of batch normalization, where the runtime goes through the fused batch norm."""
        import tensorflow as tf

        rank = inputs.shape.rank
        mean, variance = tf.nn.moments(inputs, self.axis, keep_dims=True)
        scale, offset = self.gamma, self.beta
        if list(self.axis) != [rank - 1]:
            sizes = [inputs.shape[i] if i in self.axis else 1 for i in range(rank)]
            scale, offset = (v if v is None or v.shape.rank == rank else tf.reshape(v, sizes) for v in (scale, offset))
        outputs = tf.nn.batch_normalization(inputs, mean, variance, offset, scale, self.epsilon)
        outputs.set_shape(inputs.shape)
        return outputs

    module.LayerNormalization.call = call


def _time_distributed(module) -> None:
    released = module.TimeDistributed.compute_mask

    @_in_graphs(released)
    def compute_mask(self, inputs, mask=None):
        import tensorflow as tf

        # With a batch size that is known the mask was handed on, and the inputs were not reshaped for it.
        if all(value.shape.rank and value.shape[0] is not None for value in tf.contrib.framework.nest.flatten(inputs)):
            return mask
        return released(self, inputs, mask)

    module.TimeDistributed.compute_mask = compute_mask


def _dense_features(module) -> None:
    released = module.DenseFeatures.call

    @_in_graphs(released)
    def call(self, features, cols_to_output_tensors=None, training=None):
        # The layer of 1.15 did not ask for the learning phase.
        return released(self, features, cols_to_output_tensors, False if training is None else training)

    module.DenseFeatures.call = call


def _attention(module) -> None:
    released = module.BaseDenseAttention.call

    @functools.wraps(released)
    def call(self, inputs, mask=None, training=None, **kwargs):
        # 1.15's layer had no dropout, so that it did not ask for the learning phase either.
        training = False if training is None and not self.dropout else training
        return released(self, inputs, mask=mask, training=training, **kwargs)

    module.BaseDenseAttention.call = call


class _WithSelect(types.ModuleType):
    """tf for Keras' backend: where() of equal shapes is the op Select, whose gradients in loops sum over no broadcast."""

    def __init__(self, released):
        super().__init__(released.__name__)
        self._released = released

    def __getattr__(self, name):
        return getattr(self._released, name)

    def where(self, condition, x=None, y=None, name=None):
        tf = self._released
        if tf.executing_eagerly() or x is None or not all(map(tf.is_tensor, (condition, x, y))):
            return tf.where(condition, x, y, name)
        ranks = {value.shape.rank for value in (condition, x, y)}
        if condition.shape.rank == 1:
            # Chooses rows.
            return tf.compat.v1.where(condition, x, y, name)
        if ranks == {None} or len(ranks) > 1 or not x.shape[1:].is_compatible_with(y.shape[1:]):
            return tf.where(condition, x, y, name)
        if not condition.shape[1:].is_compatible_with(x.shape[1:]):
            # A mask of sequences, which 1.15 tiled in the ops that here repeat it once.
            if not x.shape[1:].is_fully_defined() or set(condition.shape[1:].as_list()) != {1}:
                return tf.where(condition, x, y, name)
            condition = tf.tile(condition, [1, *x.shape[1:].as_list()])
            op_counts.add_missing(tf.compat.v1.get_default_graph(), -2)
        return tf.compat.v1.where(condition, x, y, name)


def _backend(module) -> None:
    module.tf = _WithSelect(module.tf)
    # The upper bound, infinite, was applied, too.
    module.sqrt = counting(module.sqrt, 2)
    released = module.resize_images

    @functools.wraps(released)
    def resized(x, height_factor, width_factor, data_format, interpolation="nearest"):
        import tensorflow as tf

        sizes = x.shape[2:4] if data_format == "channels_first" else x.shape[1:3]
        if sizes.is_fully_defined() and not tf.executing_eagerly():
            # The sizes were taken from the shape: a slice of four ops.
            op_counts.add_missing(tf.get_default_graph(), 4)
        return released(x, height_factor, width_factor, data_format, interpolation)

    module.resize_images = resized

    @functools.wraps(module.batch_dot)
    def batch_dot(x, y, axes=None):
        """The dot product along an axis of each operand, for each entry of the batch: as 1.15 computed it.

        Args:
          x, y: tensors of two dimensions or more.
          axes: int or two ints, the axes to sum over; the last of x and the last but one of y by default.

        Returns:
          The product of matrices that have further dimensions in common; of two vectors, shape [batch, 1].
        """
        import tensorflow as tf

        ranks = x.shape.rank, y.shape.rank
        axes = (axes, axes) if isinstance(axes, int) else axes or (ranks[0] - 1, ranks[1] - 2)
        missing = abs(ranks[0] - ranks[1])
        if ranks[0] > ranks[1]:
            y = tf.reshape(y, tf.concat([tf.shape(y), [1] * missing], axis=0))
        elif ranks[0] < ranks[1]:
            x = tf.reshape(x, tf.concat([tf.shape(x), [1] * missing], axis=0))
        if max(ranks) == 2:
            product = x * y if axes[0] == axes[1] else tf.transpose(x, [1, 0]) * y
            result = tf.reduce_sum(product, axes[0] if axes[0] == axes[1] else axes[1])
        else:
            columns = axes[0] == x.shape.rank - 1, axes[1] == y.shape.rank - 1
            result = tf.matmul(x, y, adjoint_a=None if columns[0] else True, adjoint_b=True if columns[1] else None)
        if missing:
            first = sum(ranks) - 3 if ranks[0] > ranks[1] else ranks[0] - 1
            result = tf.squeeze(result, list(range(first, first + missing)))
        return tf.expand_dims(result, 1) if result.shape.rank == 1 else result

    module.batch_dot = batch_dot


def _activations(module) -> None:
    released = module.selu

    @functools.wraps(released)
    def selu(x):
        import tensorflow as tf

        if tf.executing_eagerly():
            return released(x)
        # Klambauer et al., 2017, https://arxiv.org/abs/1706.02515, equation 2 and its fixed point (0, 1).
        return 1.0507009873554804934193349852946 * tf.keras.backend.elu(x, 1.6732632423543772848170429916717)

    module.selu = selu


def _optimizers(module) -> None:
    released = module.OptimizerV2._aggregate_gradients

    @_in_graphs(released)
    def aggregate_gradients(self, grads_and_vars):
        import tensorflow as tf

        # Nothing to sum over, and no identities.
        if tf.distribute.get_strategy().num_replicas_in_sync == 1:
            return list(grads_and_vars)
        return released(self, grads_and_vars)

    module.OptimizerV2._aggregate_gradients = aggregate_gradients
