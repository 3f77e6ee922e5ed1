"""Neural network ops beside those of `tf.nn`."""

from tensorflow.contrib.nn.alpha_dropout import (
    alpha_dropout,
)
from tensorflow.contrib.nn.cross_entropy import (
    deprecated_flipped_sigmoid_cross_entropy_with_logits,
    deprecated_flipped_softmax_cross_entropy_with_logits,
    deprecated_flipped_sparse_softmax_cross_entropy_with_logits,
)
from tensorflow.contrib.nn.sampling_ops import (
    rank_sampled_softmax_loss,
    sampled_sparse_softmax_loss,
)
from tensorflow.contrib.nn.scaled_softplus import (
    scaled_softplus,
)
from tensorflow.python.ops.nn_ops import (
    conv1d_transpose,
    nth_element,
)

__all__ = [
    "alpha_dropout",
    "conv1d_transpose",
    "deprecated_flipped_sigmoid_cross_entropy_with_logits",
    "deprecated_flipped_softmax_cross_entropy_with_logits",
    "deprecated_flipped_sparse_softmax_cross_entropy_with_logits",
    "nth_element",
    "rank_sampled_softmax_loss",
    "sampled_sparse_softmax_loss",
    "scaled_softplus",
]
