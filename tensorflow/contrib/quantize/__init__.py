"""`tf.contrib.quantize`: rewrites a float graph so that it trains and runs as if it were quantized.

Batch norms are folded into the convolutions and matrix products before them, and fake quantization is put on weights and
activations (Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference").
"""

from tensorflow.contrib.quantize.quantize_graph import (
    create_eval_graph,
    create_training_graph,
    experimental_create_eval_graph,
    experimental_create_training_graph,
)

__all__ = [
    "create_eval_graph",
    "create_training_graph",
    "experimental_create_eval_graph",
    "experimental_create_training_graph",
]
