"""Puts fake quantization on the weights and activations of a graph's layers."""

import tensorflow as tf
from tensorflow.contrib import graph_editor
from tensorflow.contrib.quantize import common, quant_ops

_ACTIVATION_TYPES = frozenset(("Relu", "Relu6"))
_FAKE_QUANT_TYPES = frozenset(
    ("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVarsPerChannel")
)


def Quantize(
    graph,
    is_training,
    weight_bits=8,
    activation_bits=8,
    symmetric=False,
    ema_decay=0.999,
    quant_delay=None,
    vars_collection=tf.GraphKeys.MOVING_AVERAGE_VARIABLES,
    scope=None,
):
    """Quantizes what Conv2D, DepthwiseConv2dNative and MatMul with a bias take as weights and what comes out of them.

    What comes out is taken after relu or relu6, and after an addition to another branch; such an addition has a range
    of its own, and so has each of what it adds. Fake quantization that is there already stays as it is.

    Args:
      graph: changed in place.
      is_training: whether ranges follow the data, or are as their variables have them.
      weight_bits, activation_bits: 2 to 16.
      symmetric: whether ranges are symmetric around 0.
      ema_decay: decay of the activations' ranges.
      quant_delay: number of quantization steps before values are changed.
      vars_collection: where the ranges' variables go besides global and model variables.
      scope: what lies in this scope is quantized alone.
    """
    inside = f"{scope.rstrip('/')}/" if scope else ""

    def insert(context, name, op, weights=False, init_min=-6.0):
        if not op.name.startswith(inside) and not weights:
            return
        _insert(
            f"{context}/{name}" if context else name,
            op.outputs[0],
            weights,
            quant_delay,
            init_min=init_min,
            is_training=is_training,
            num_bits=weight_bits if weights else activation_bits,
            symmetric=symmetric,
            vars_collection=vars_collection,
            **({"narrow_range": True} if weights else {"ema_decay": ema_decay}),
        )

    def insert_after(context, name, op):
        """An addition is quantized unless an activation follows, with which it is one op at inference."""
        if not _users(op, _ACTIVATION_TYPES):
            insert(context, name, op)

    # Additions after activations, for when those that end a layer have their ranges.
    later = []

    def insert_activation(context, op):
        later.extend(_users(op, common.ADD_TYPES))
        insert(context, "act_quant", op, init_min=0.0)

    for layer in [op for op in graph.get_operations() if op.type in common.LAYER_TYPES]:
        biased = _biased(layer)
        if biased is None or not _has_weights(layer):
            continue
        context = common.context_of(layer.name)
        if layer.name.startswith(inside):
            insert(context, "weights_quant", layer.inputs[1].op, weights=True)
        bypass = next(iter(_users(biased, common.ADD_TYPES)), None)
        if bypass is not None:
            above = common.context_of(context)
            activation = next(iter(_users(bypass, _ACTIVATION_TYPES)), None)
            insert(context, "conv_quant", biased)
            insert_after(above, "add_quant", bypass)
        else:
            above = context
            activation = next(iter(_users(biased, _ACTIVATION_TYPES)), None)
        if activation is not None:
            insert_activation(above, activation)
        elif bypass is None:
            insert(context, "act_quant", biased, init_min=0.0)
    for op in graph.get_operations():
        # Activations of what is no layer: of branches that meet, or of batch norms that could not be folded.
        if op.type in _ACTIVATION_TYPES and op.inputs[0].op.type in common.ADD_TYPES | {"Mul"}:
            insert_activation(common.context_of(op.name), op)
    for bypass in later:
        insert_after(common.context_of(bypass.name), "post_activation_bypass_quant", bypass)


def _users(op, types):
    return [user for user in op.outputs[0].consumers() if user.type in types]


def _has_weights(layer) -> bool:
    weights = layer.inputs[1]
    return weights.op.type == "Mul" or common.is_weight_read(weights)


def _biased(layer):
    """The op that adds the bias to the layer's product; None if there is none."""
    for user in _users(layer, frozenset(("BiasAdd", "Mul")) | common.ADD_TYPES):
        if user.type != "Mul":
            return user
        # A folded batch norm in training: scaled, shifted, and then the bias.
        for shifted in _users(user, common.ADD_TYPES):
            for biased in _users(shifted, common.ADD_TYPES):
                return biased
    return None


def _is_quantized(tensor) -> bool:
    pending = list(tensor.consumers())
    while pending:
        user = pending.pop()
        if user.type in _FAKE_QUANT_TYPES:
            return True
        if user.type in ("Identity", "Reshape"):
            pending += user.outputs[0].consumers()
    return False


def _insert(prefix, tensor, last, delay, **arguments):
    """Puts fake quantization between `tensor` and all who take it."""
    users = tensor.consumers()
    if _is_quantized(tensor):
        return
    quantize = quant_ops.LastValueQuantize if last else quant_ops.MovingAvgQuantize
    quantized = quantize(tensor, name_prefix=prefix, **arguments)
    if delay and delay > 0:
        step = common.CreateOrGetQuantizationStep()
        active = tf.greater_equal(step, delay, name=f"{prefix}/activate_quant")
        quantized = tf.cond(active, lambda: quantized, lambda: tensor, name=f"{prefix}/delayed_quant")
    if users:
        graph_editor.reroute_ts([quantized], [tensor], can_modify=users)
