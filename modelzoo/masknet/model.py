"""MaskNet (Wang et al., 2021, arXiv:2102.07619), its parallel form, on Criteo columns.

x: [13 numbers through a layer as wide as an embedding, 26 embeddings], the embeddings layer-normalized
mask block: relu(layer_norm((mask * x) W)), where mask is made of x by two layers, the first `reduction` times as wide
logit: all blocks side by side -> relu layers -> 1
"""

import tensorflow as tf

from common import criteo_columns, flags
from common.model_flags import dense_scope, layer, logit, mlp


def add_flags(group) -> None:
    group.add_argument("--mask_blocks", type=flags.positive_int, default=5, metavar="N")
    group.add_argument("--block_units", type=flags.positive_int, default=64, metavar="N", help="of a block's output")
    group.add_argument(
        "--reduction",
        type=flags.positive_float,
        default=1.0,
        metavar="R",
        help="width of a mask's first layer, in inputs",
    )
    group.add_argument("--hidden_units", type=flags.int_list, default=(64, 16), metavar="N,N,...")


def logits(features, args, embeddings, training) -> tf.Tensor:
    """float32 [B] of a batch of Criteo features (see text_reader.Batch)."""
    del training  # the network is the same
    vectors = criteo_columns.vectors(features, embeddings)
    with dense_scope(args, "input"):
        vectors.append(tf.layers.dense(criteo_columns.numbers(features), args.embedding_dim, name="numbers"))
        raw = tf.concat(vectors, 1)
        normalized = tf.concat([layer_norm(v, f"vector_{i}") for i, v in enumerate(vectors)], 1)
    blocks = []
    for i in range(args.mask_blocks):
        with dense_scope(args, f"block_{i}"):
            blocks.append(mask_block(normalized, raw, args.block_units, args.reduction))
    with dense_scope(args, "final"):
        net = mlp(tf.concat(blocks, 1), args.hidden_units, "hidden")
        return logit(net)


def mask_block(x, source, units: int, reduction: float) -> tf.Tensor:
    """[B, units] of x [B, n], masked by what two layers make of `source` [B, n]."""
    width = int(source.shape[-1])
    mask = layer(source, max(1, int(reduction * width)), activation=tf.nn.relu, name="mask_aggregation")
    mask = layer(mask, int(x.shape[-1]), name="mask_projection")
    return tf.nn.relu(layer_norm(layer(mask * x, units, use_bias=False, name="hidden"), "normalized"))


def layer_norm(x, name: str) -> tf.Tensor:
    return tf.contrib.layers.layer_norm(x, scope=name)
