"""Rewrites a graph in place, for training or for evaluation with simulated quantization."""

import tensorflow as tf
from tensorflow.contrib.quantize import fold_batch_norms, quantize


def _rewrite(
    input_graph,
    is_training,
    weight_bits=8,
    activation_bits=8,
    symmetric=False,
    quant_delay=None,
    freeze=None,
    scope=None,
):
    for name, bits in (("weight_bits", weight_bits), ("activation_bits", activation_bits)):
        if not 2 <= bits <= 16:
            raise ValueError(f"{name}: expected 2 to 16, got {bits}")
    if input_graph is not None and not isinstance(input_graph, tf.Graph):
        raise ValueError(f"input_graph: expected a tf.Graph or None, got {input_graph!r}")
    graph = tf.get_default_graph() if input_graph is None else input_graph
    with graph.as_default():
        fold_batch_norms.FoldBatchNorms(graph, is_training, freeze_batch_norm_delay=freeze)
        quantize.Quantize(
            graph,
            is_training,
            weight_bits=weight_bits,
            activation_bits=activation_bits,
            symmetric=symmetric,
            quant_delay=quant_delay,
            scope=scope,
        )


def create_training_graph(input_graph=None, quant_delay=0):
    """Rewrites a training graph in place. To be called after the model and its loss, before the gradients.

    Weights are quantized over their own range, activations over a moving average of theirs, both to 8 bits; batch norms
    are folded, on the statistics of the batch.

    Args:
      input_graph: the graph, the default one by default.
      quant_delay: number of steps before anything is quantized; ranges are collected from the start.

    Raises:
      ValueError: `input_graph` is no graph.
    """
    _rewrite(input_graph, True, quant_delay=quant_delay)


def create_eval_graph(input_graph=None):
    """Rewrites an inference graph in place: as `create_training_graph`, with the ranges that training left in variables."""
    _rewrite(input_graph, False)


def experimental_create_training_graph(
    input_graph=None,
    weight_bits=8,
    activation_bits=8,
    symmetric=False,
    quant_delay=0,
    freeze_bn_delay=None,
    scope=None,
):
    """`create_training_graph` with more to choose.

    Args:
      input_graph: the graph, the default one by default.
      weight_bits: 2 to 16.
      activation_bits: 2 to 16.
      symmetric: whether ranges are symmetric around 0.
      quant_delay: number of steps before anything is quantized.
      freeze_bn_delay: number of steps after which batch norms use their moving averages, and these stay as they are.
      scope: what lies in this scope is quantized alone.

    Raises:
      ValueError: a number of bits is out of range, or `input_graph` is no graph.
    """
    _rewrite(input_graph, True, weight_bits, activation_bits, symmetric, quant_delay, freeze_bn_delay, scope)


def experimental_create_eval_graph(
    input_graph=None, weight_bits=8, activation_bits=8, symmetric=False, quant_delay=None, scope=None
):
    """`create_eval_graph` with more to choose; arguments as in `experimental_create_training_graph`."""
    _rewrite(input_graph, False, weight_bits, activation_bits, symmetric, quant_delay, None, scope)
