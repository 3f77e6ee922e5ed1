"""Normalizing flows: autoregressive, coupling layers, batch normalization."""

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.distributions.bijector import Bijector

from tensorflow.contrib.distributions.bijectors.structural import ConditionalBijector


class MaskedAutoregressiveFlow(ConditionalBijector):
    """y[i] = x[i] exp(log_scale_i) + shift_i, both functions of y[:i] (Papamakarios et al. 2017, arXiv:1705.07057).

    Args:
      shift_and_log_scale_fn: y -> (shift, log scale or None); entry i must depend on y[:i] only. See
        `masked_autoregressive_default_template`.
      is_constant_jacobian: whether the log scale is None or constant.
      validate_args: see `Bijector`.
      unroll_loop: whether the forward pass, one step an entry, is unrolled in the graph (n must be known).
      name: name of the bijector.
    """

    def __init__(
        self, shift_and_log_scale_fn, is_constant_jacobian=False, validate_args=False, unroll_loop=False, name=None
    ):
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "masked_autoregressive_flow",
        )

    def _step(self, x, y, kwargs):
        shift, log_scale = self._shift_and_log_scale_fn(y, **kwargs)
        y = x
        if log_scale is not None:
            y *= tf.exp(log_scale)
        return y if shift is None else y + shift

    def _forward(self, x, **kwargs):
        if self._unroll_loop:
            size = x.shape.with_rank_at_least(1).dims[-1].value
            if size is None:
                raise ValueError("The final dimension of `x` must be known at graph construction time.")
            y = tf.zeros_like(x)
            for _ in range(size):
                y = self._step(x, y, kwargs)
            return y
        # Variables of the function are made before the loop: in it they could not be initialized.
        first = self._step(x, tf.zeros_like(x), kwargs)
        _, y = tf.while_loop(
            lambda index, _: index < tf.shape(x)[-1],
            lambda index, y: (index + 1, self._step(x, y, kwargs)),
            (1, first),
        )
        return y

    def _inverse(self, y, **kwargs):
        shift, log_scale = self._shift_and_log_scale_fn(y, **kwargs)
        x = y
        if shift is not None:
            x -= shift
        return x if log_scale is None else x * tf.exp(-log_scale)

    def _inverse_log_det_jacobian(self, y, **kwargs):
        _, log_scale = self._shift_and_log_scale_fn(y, **kwargs)
        if log_scale is None:
            return tf.constant(0.0, dtype=y.dtype.base_dtype)
        return -tf.reduce_sum(log_scale, axis=-1)


def _mask(num_blocks, n_in, n_out, exclusive):
    """[n_in, n_out], 1 where output block j may see input block i: i < j, or i <= j unless `exclusive`."""
    mask = np.zeros([n_out, n_in])
    rows, columns = n_out // num_blocks, n_in // num_blocks
    for block in range(num_blocks):
        first = block * rows + (rows if exclusive else 0)
        mask[first:, block * columns : (block + 1) * columns] = 1
    return mask.T


def masked_dense(
    inputs, units, num_blocks=None, exclusive=False, kernel_initializer=None, reuse=None, name=None, *args, **kwargs
):
    """A dense layer whose blocks of outputs see earlier blocks of inputs only (MADE: Germain et al., arXiv:1502.03509).

    Args:
      inputs: [..., n].
      units: number of outputs.
      num_blocks: number of blocks.
      exclusive: whether a block does not see its own inputs.
      kernel_initializer: of the kernel, glorot normal by default; masked.
      reuse: as in `tf.variable_scope`.
      name: name of the layer.
      *args: of `tf.layers.Dense`.
      **kwargs: of `tf.layers.Dense`.

    Raises:
      NotImplementedError: the size of the inputs is unknown.
    """
    depth = inputs.shape.with_rank_at_least(1).dims[-1].value
    if depth is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    mask = _mask(num_blocks, depth, units, exclusive)
    kernel_initializer = kernel_initializer or tf.glorot_normal_initializer()

    def masked_initializer(shape, dtype=None, partition_info=None):
        return tf.constant(mask, dtype) * kernel_initializer(shape, dtype, partition_info)

    with tf.name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        layer = tf.layers.Dense(
            units,
            kernel_initializer=masked_initializer,
            # Gradients must not fill what is masked.
            kernel_constraint=lambda x: tf.constant(mask, x.dtype.base_dtype) * x,
            name=name,
            _scope=name,
            _reuse=reuse,
            *args,
            **kwargs,
        )
        return layer.apply(inputs)


def masked_autoregressive_default_template(
    hidden_layers,
    shift_only=False,
    activation=tf.nn.relu,
    log_scale_min_clip=-5.0,
    log_scale_max_clip=3.0,
    log_scale_clip_gradient=False,
    name=None,
    *args,
    **kwargs,
):
    """A function y -> (shift, log scale) of masked dense layers, for `MaskedAutoregressiveFlow`.

    Args:
      hidden_layers: sizes of the hidden layers.
      shift_only: whether there is no log scale (it is None then).
      activation: of the hidden layers.
      log_scale_min_clip: least log scale.
      log_scale_max_clip: greatest log scale.
      log_scale_clip_gradient: whether gradients pass where it is clipped.
      name: name of the template.
      *args: of `masked_dense`.
      **kwargs: of `masked_dense`.
    """
    name = name or "masked_autoregressive_default_template"
    with tf.name_scope(name, values=[log_scale_min_clip, log_scale_max_clip]):

        def function(x):
            depth = x.shape.with_rank_at_least(1).dims[-1].value
            if depth is None:
                raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
            shape = tf.shape(x)
            y = x[tf.newaxis] if x.shape.ndims == 1 else x
            for index, units in enumerate(hidden_layers):
                y = masked_dense(
                    y, units, num_blocks=depth, exclusive=index == 0, activation=activation, *args, **kwargs
                )
            y = masked_dense(y, (1 if shift_only else 2) * depth, num_blocks=depth, activation=None, *args, **kwargs)
            if shift_only:
                return tf.reshape(y, shape), None
            y = tf.reshape(y, tf.concat([shape, [2]], 0))
            shift, log_scale = tf.unstack(y, num=2, axis=-1)
            return shift, _clipped(log_scale, log_scale_min_clip, log_scale_max_clip, log_scale_clip_gradient)

        return tf.make_template(name, function)


def _clipped(value, low, high, block_gradient):
    clipped = tf.clip_by_value(value, low, high)
    return clipped if block_gradient else value + tf.stop_gradient(clipped - value)


class RealNVP(ConditionalBijector):
    """Leaves the first entries and moves the others by functions of them (Dinh et al. 2017, arXiv:1605.08803).

    Args:
      num_masked: number of entries that stay.
      shift_and_log_scale_fn: (x[:num_masked], number of others) -> (shift, log scale or None).
      is_constant_jacobian: whether the log scale is None or constant.
      validate_args: see `Bijector`.
      name: name of the bijector.

    Raises:
      ValueError: `num_masked` is not positive.
    """

    def __init__(self, num_masked, shift_and_log_scale_fn, is_constant_jacobian=False, validate_args=False, name=None):
        if num_masked <= 0:
            raise ValueError(f"num_masked must be a positive integer, got {num_masked}.")
        self._num_masked = num_masked
        self._input_depth = None
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "real_nvp",
        )

    def _parts(self, x, kwargs):
        depth = x.shape.with_rank_at_least(1).dims[-1].value
        if depth is None:
            raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
        if self._num_masked >= depth:
            raise ValueError(
                f"Number of masked units must be smaller than the event size, got {self._num_masked} of {depth}"
            )
        kept, moved = x[..., : self._num_masked], x[..., self._num_masked :]
        shift, log_scale = self._shift_and_log_scale_fn(kept, depth - self._num_masked, **kwargs)
        return kept, moved, shift, log_scale

    def _forward(self, x, **kwargs):
        kept, moved, shift, log_scale = self._parts(x, kwargs)
        if log_scale is not None:
            moved *= tf.exp(log_scale)
        if shift is not None:
            moved += shift
        return tf.concat([kept, moved], axis=-1)

    def _inverse(self, y, **kwargs):
        kept, moved, shift, log_scale = self._parts(y, kwargs)
        if shift is not None:
            moved -= shift
        if log_scale is not None:
            moved *= tf.exp(-log_scale)
        return tf.concat([kept, moved], axis=-1)

    def _inverse_log_det_jacobian(self, y, **kwargs):
        log_scale = self._parts(y, kwargs)[3]
        return tf.constant(0.0, dtype=y.dtype.base_dtype) if log_scale is None else -tf.reduce_sum(log_scale, axis=-1)

    def _forward_log_det_jacobian(self, x, **kwargs):
        log_scale = self._parts(x, kwargs)[3]
        return tf.constant(0.0, dtype=x.dtype.base_dtype) if log_scale is None else tf.reduce_sum(log_scale, axis=-1)


def real_nvp_default_template(hidden_layers, shift_only=False, activation=tf.nn.relu, name=None, *args, **kwargs):
    """A function (x, number of outputs) -> (shift, log scale) of dense layers, for `RealNVP`.

    Args:
      hidden_layers: sizes of the hidden layers.
      shift_only: whether there is no log scale (it is None then).
      activation: of the hidden layers.
      name: name of the template.
      *args: of `tf.layers.dense`.
      **kwargs: of `tf.layers.dense`.
    """

    def function(x, output_units):
        if x.shape.ndims == 1:
            x = x[tf.newaxis]
            squeeze = lambda t: t[0]  # noqa: E731
        else:
            squeeze = lambda t: t  # noqa: E731
        for units in hidden_layers:
            x = tf.layers.dense(x, units, activation=activation, *args, **kwargs)
        x = squeeze(tf.layers.dense(x, (1 if shift_only else 2) * output_units, activation=None, *args, **kwargs))
        if shift_only:
            return x, None
        shift, log_scale = tf.split(x, 2, axis=-1)
        return shift, log_scale

    return tf.make_template(name or "real_nvp_default_template", function)


class BatchNormalization(Bijector):
    """De-normalizes: x -> x * deviation + mean; the inverse normalizes a batch (Dinh et al., arXiv:1605.08803).

    Args:
      batchnorm_layer: a `tf.layers.BatchNormalization`; one with a positive gamma by default.
      training: whether the inverse uses the batch's own moments (and updates the moving ones).
      validate_args: see `Bijector`.
      name: name of the bijector.

    Raises:
      ValueError: the layer is of another type, uses renorm or virtual batches.
    """

    def __init__(self, batchnorm_layer=None, training=True, validate_args=False, name="batch_normalization"):
        self.batchnorm = batchnorm_layer or tf.layers.BatchNormalization(
            gamma_constraint=lambda x: tf.nn.relu(x) + 1e-6
        )
        if not isinstance(self.batchnorm, (tf.layers.BatchNormalization, tf.keras.layers.BatchNormalization)):
            raise ValueError(
                f"batchnorm_layer must be an instance of BatchNormalization layer, got {type(batchnorm_layer)}"
            )
        if getattr(self.batchnorm, "renorm", False) or getattr(self.batchnorm, "virtual_batch_size", None):
            raise ValueError("batchnorm_layer must not use renorm or virtual batches")
        self._training = training
        super().__init__(forward_min_event_ndims=1, inverse_min_event_ndims=1, validate_args=validate_args, name=name)

    def _build(self, x):
        if not self.batchnorm.built:
            self.batchnorm.build(x.shape)

    def _axes(self, x):
        kept = {axis % x.shape.ndims for axis in tf.nest.flatten(self.batchnorm.axis)}
        return [axis for axis in range(x.shape.ndims) if axis not in kept]

    def _moments(self, y):
        if self._training:
            return tf.nn.moments(y, axes=self._axes(y), keep_dims=False)
        return self.batchnorm.moving_mean, self.batchnorm.moving_variance

    def _forward(self, x):
        self._build(x)
        layer = self.batchnorm
        y = x
        if layer.beta is not None:
            y -= layer.beta
        if layer.gamma is not None:
            y /= layer.gamma
        mean, variance = (layer.moving_mean, layer.moving_variance)
        if self._training:
            mean, variance = tf.nn.moments(x, axes=self._axes(x), keep_dims=False)
        return y * tf.sqrt(variance + layer.epsilon) + mean

    def _inverse(self, y):
        self._build(y)
        return self.batchnorm.apply(y, training=self._training)

    def _inverse_log_det_jacobian(self, y):
        self._build(y)
        _, variance = self._moments(y)
        log_gamma = 0.0 if self.batchnorm.gamma is None else tf.log(self.batchnorm.gamma)
        return tf.reduce_sum(log_gamma - 0.5 * tf.log(variance + self.batchnorm.epsilon))

    def _forward_log_det_jacobian(self, x):
        return -self._inverse_log_det_jacobian(x)
