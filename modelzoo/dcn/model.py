"""DCN (Wang et al., 2017, arXiv:1708.05123) and DCNv2 (2020, arXiv:2008.13535) on Criteo columns.

x0: [13 scaled numbers, 26 embeddings]
cross: x_{l+1} = x0 * (x_l . w) + b + x_l, or, v2, x0 * (W x_l + b) + x_l, W whole or of a low rank U V
deep: x0 -> relu layers
logit: [cross, deep] -> 1
"""

import tensorflow as tf

from common import criteo_columns, flags
from common.model_flags import dense_scope, layer, logit, mlp


def add_flags(group) -> None:
    group.add_argument("--cross", choices=("v1", "v2"), default="v2", help="with a vector, or a matrix, in each layer")
    group.add_argument("--cross_layers", type=flags.positive_int, default=2, metavar="N")
    group.add_argument(
        "--cross_rank", type=flags.non_negative_int, default=0, metavar="N", help="of v2's matrices; 0: whole"
    )
    group.add_argument("--hidden_units", type=flags.int_list, default=(1024, 512, 256), metavar="N,N,...")


def logits(features, args, embeddings, training) -> tf.Tensor:
    """float32 [B] of a batch of Criteo features (see text_reader.Batch)."""
    del training  # the network is the same
    x0 = tf.concat([criteo_columns.numbers(features), *criteo_columns.vectors(features, embeddings)], 1)
    with dense_scope(args, "cross"):
        crossed = x0
        for layer in range(args.cross_layers):
            crossed = cross(x0, crossed, args.cross, args.cross_rank, f"layer_{layer}")
    with dense_scope(args, "deep"):
        deep = mlp(x0, args.hidden_units, "hidden")
    with dense_scope(args, "final"):
        return logit(tf.concat([crossed, deep], 1))


def cross(x0, x, version: str, rank: int, name: str) -> tf.Tensor:
    """One cross layer: [B, n] of x0 and x [B, n]."""
    width = int(x0.shape[-1])
    if version == "v1":
        bias = tf.get_variable(f"{name}_bias", [width], initializer=tf.zeros_initializer())
        return x0 * layer(x, 1, use_bias=False, name=name) + bias + x
    if rank:
        x_low = layer(x, rank, use_bias=False, name=f"{name}_v")
        return x0 * layer(x_low, width, name=f"{name}_u") + x
    return x0 * layer(x, width, name=name) + x
