"""Folds batch norms into the convolution or matrix product before them.

With s = sqrt(variance + epsilon), `gamma * (conv(x, w) - mean) / s + beta` is `conv(x, w * gamma / s) + beta - gamma * mean / s`.
In training the folded weights have the moving variance, which changes slowly, so that their quantization is calm; what
comes out is then scaled by (moving s / batch s) so that the layer still normalizes by its batch.
"""

import dataclasses
from typing import Any, Optional

import tensorflow as tf
from tensorflow.contrib import graph_editor
from tensorflow.contrib.quantize import common

_FUSED_TYPES = frozenset(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"))
# What may stand between the statistics of a batch and their use.
_PASSING_TYPES = frozenset(("Identity", "Reshape", "Squeeze", "StopGradient"))


@dataclasses.dataclass
class _BatchNorm:
    """A batch norm and the layer before it; tensors but for the ops."""

    layer: Any
    output: Any
    gamma: Any
    beta: Any
    # Statistics as the layer has them: of the batch, or the moving ones.
    mean: Any
    variance: Any
    epsilon: Any
    moving_mean: Optional["_MovingAverage"] = None
    moving_variance: Optional["_MovingAverage"] = None


@dataclasses.dataclass
class _MovingAverage:
    value: Any
    # The product (value - new) * decay, and the place of decay in it.
    step: Any
    decay: Any


def FoldBatchNorms(graph, is_training, freeze_batch_norm_delay=None):
    """Folds every batch norm of `graph` that follows a Conv2D, DepthwiseConv2dNative or MatMul, in NHWC.

    Args:
      graph: changed in place.
      is_training: whether batch norms on the statistics of their batch are corrected by the moving ones.
      freeze_batch_norm_delay: number of quantization steps after which they use the moving ones alone; None for never.

    Raises:
      ValueError: a batch norm of a training graph has no moving averages.
    """
    for op in graph.get_operations():
        match = _match_fused(op) if op.type in _FUSED_TYPES else _match_unfused(op)
        if match is not None and match.output.consumers():
            _fold(graph, match, is_training, freeze_batch_norm_delay)


def _match_fused(op) -> Optional[_BatchNorm]:
    if op.get_attr("data_format") != b"NHWC":
        return None
    source, gamma, beta, mean, variance = op.inputs
    output = op.outputs[0]
    if source.op.type == "Reshape" and source.op.inputs[0].op.type == "MatMul":
        # FusedBatchNorm takes 4 dimensions: matrices are reshaped, there and back.
        source = source.op.inputs[0]
        back = [user for user in output.consumers() if user.type == "Reshape"]
        if len(back) != 1:
            return None
        output = back[0].outputs[0]
    if source.op.type not in common.LAYER_TYPES:
        return None
    match = _BatchNorm(source.op, output, gamma, beta, mean, variance, op.get_attr("epsilon"))
    if op.get_attr("is_training"):
        match.moving_mean = _moving_average(op.outputs[1])
        match.moving_variance = _moving_average(op.outputs[2])
        scope = common.context_of(op.name)
        with op.graph.name_scope(f"{scope}/" if scope else None):
            # The op has no gradients for its statistics, and its variance is that of the population.
            axes = list(range(source.shape.ndims - 1))
            match.mean, match.variance = tf.nn.moments(source, axes, name="fold_moments")
    return match


def _match_unfused(op) -> Optional[_BatchNorm]:
    """Matches the ops of `tf.nn.batch_normalization`: (x * scale) + (beta - mean * scale), scale = rsqrt(var + eps) * gamma."""
    if op.type not in common.ADD_TYPES:
        return None
    product, shift = (tensor.op for tensor in op.inputs)
    if product.type != "Mul" or shift.type != "Sub" or shift.inputs[1].op.type != "Mul":
        return None
    layer, scale = product.inputs
    mean, other_scale = shift.inputs[1].op.inputs
    if layer.op.type not in common.LAYER_TYPES or scale is not other_scale:
        return None
    gamma = None
    inverse = scale.op
    if inverse.type == "Mul":
        inverse, gamma = inverse.inputs[0].op, inverse.inputs[1]
    if inverse.type != "Rsqrt" or inverse.inputs[0].op.type not in common.ADD_TYPES:
        return None
    variance, epsilon = inverse.inputs[0].op.inputs
    if gamma is None:
        gamma = tf.ones_like(variance)
    match = _BatchNorm(layer.op, op.outputs[0], gamma, shift.inputs[0], mean, variance, epsilon)
    if _origin(mean).op.type == "Mean":
        match.moving_mean = _moving_average(_origin(mean))
        match.moving_variance = _moving_average(_origin(variance))
    return match


def _origin(tensor):
    while tensor.op.type in _PASSING_TYPES:
        tensor = tensor.op.inputs[0]
    return tensor


def _moving_average(new) -> _MovingAverage:
    """The moving average that follows `new`: its value is in `(value - new) * decay`."""
    pending = [new]
    while pending:
        tensor = pending.pop()
        for user in tensor.consumers():
            if user.type in _PASSING_TYPES:
                pending += user.outputs
            elif user.type == "Sub" and user.inputs[1] is tensor and common.is_weight_read(user.inputs[0]):
                for step in user.outputs[0].consumers():
                    if step.type == "Mul":
                        decay = step.inputs[1] if step.inputs[0] is user.outputs[0] else step.inputs[0]
                        return _MovingAverage(user.inputs[0], step, decay)
    raise ValueError(f"graph: expected a moving average of {new.name}, found none; is the batch norm in training mode?")


def _fold(graph, match, is_training, freeze_delay):
    layer = match.layer
    scope = common.context_of(layer.name)
    # With "/" at its end a name scope is entered again instead of made anew.
    prefix = f"{scope}/" if scope else ""
    depthwise = layer.type == "DepthwiseConv2dNative"
    corrected = is_training and match.moving_mean is not None
    weights = layer.inputs[1]
    with graph.name_scope(prefix or None):
        with graph.name_scope(f"{prefix}BatchNorm_Fold/"):
            multiplier = match.gamma * tf.rsqrt(match.variance + match.epsilon)
            bias = tf.subtract(match.beta, match.mean * multiplier, name="bias")
            if corrected:
                scale, recip, offset = _corrections(match, freeze_delay)
            if depthwise:
                channels = weights.shape.as_list()[2:]
                multiplier = tf.reshape(multiplier, channels, name="scale_reshape")
                if corrected:
                    scale = tf.reshape(scale, channels, name="correction_reshape")
        if corrected:
            weights = tf.multiply(scale, weights, name="correction_mult")
        folded = _with_weights(layer, tf.multiply(weights, multiplier, name="mul_fold"))
        if corrected:
            folded = tf.multiply(recip, folded, name="post_conv_mul")
            folded = tf.add(folded, offset, name="correction_add")
        folded = tf.add(folded, bias, name="add_fold")
    graph_editor.reroute_ts([folded], [match.output])


def _with_weights(layer, weights):
    """The layer's op once more, on other weights."""
    name = layer.name.rpartition("/")[2] + "_Fold"
    inputs = layer.inputs[0]
    if layer.type == "MatMul":
        return tf.matmul(inputs, weights, layer.get_attr("transpose_a"), layer.get_attr("transpose_b"), name=name)
    attributes = ("strides", "padding", "explicit_paddings", "data_format", "dilations")
    arguments = {key: layer.get_attr(key) for key in attributes if key in layer.node_def.attr}
    if layer.type == "Conv2D":
        return tf.raw_ops.Conv2D(input=inputs, filter=weights, name=name, **arguments)
    return tf.raw_ops.DepthwiseConv2dNative(input=inputs, filter=weights, name=name, **arguments)


def _corrections(match, freeze_delay):
    """(scale of the weights, what undoes it on the output, offset of the output); the last two change with the freeze."""
    with tf.name_scope("batch_norm_correction"):
        mean, variance = match.moving_mean, match.moving_variance
        moving = tf.rsqrt(variance.value + match.epsilon)
        batch = tf.rsqrt(match.variance + match.epsilon)
        scale = tf.identity(tf.divide(moving, batch, name="scale_compute"), name="correction_scale")
        recip = tf.reciprocal(scale, name="reciprocal_compute")
        if freeze_delay is None:
            return scale, recip, tf.zeros_like(scale, name="correction_offset")
        offset = tf.multiply(match.gamma, match.mean * batch - mean.value * moving, name="offset_compute")
        frozen = tf.greater_equal(common.CreateOrGetQuantizationStep(), freeze_delay, name="use_moving_average")
        for average, name in ((mean, "freeze_moving_mean"), (variance, "freeze_moving_var")):
            decay = tf.cond(frozen, lambda a=average: tf.zeros_like(a.decay), lambda a=average: a.decay, name=name)
            graph_editor.reroute_ts([decay], [average.decay], can_modify=[average.step])
        recip = tf.cond(frozen, lambda: tf.ones_like(scale), lambda: recip, name="correction_recip")
        offset = tf.cond(frozen, lambda: offset, lambda: tf.zeros_like(offset), name="correction_offset")
        return scale, recip, offset
