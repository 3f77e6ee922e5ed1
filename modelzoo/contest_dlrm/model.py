"""The DLRM (Naumov et al., 2019, arXiv:1906.00091) of the Tianchi contest, on Ele.me-like columns.

bottom: 10 numbers -> relu layers with batch normalization, the last as wide as an embedding
interaction: of the bottom's output and the 27 embeddings, side by side ("cat") or their dot products in pairs
top: [bottom, interaction] -> relu layers, each on the one before it -> 1
"""

import tensorflow as tf

from common import eleme_columns, flags
from common.interactions import side_by_side_or_dots
from common.model_flags import dense_scope, logit, mlp


def add_flags(group) -> None:
    group.add_argument(
        "--interaction_op", choices=("dot", "cat"), default="cat", help="how embeddings meet the numbers"
    )
    group.add_argument(
        "--bottom_units",
        type=flags.int_list,
        default=(512, 256, 64),
        metavar="N,N,...",
        help="before a layer as wide as an embedding",
    )
    group.add_argument("--top_units", type=flags.int_list, default=(512, 256), metavar="N,N,...")


def logits(features, args, embeddings, training) -> tf.Tensor:
    """float32 [B]; features: see eleme.FORMAT."""
    vectors = eleme_columns.vectors(features, args, embeddings)
    with dense_scope(args, "bottom"):
        units = (*args.bottom_units, args.embedding_dim)
        bottom = mlp(eleme_columns.numbers(features), units, "hidden", normalize=training)
    with dense_scope(args, "top"):
        net = tf.concat([bottom, side_by_side_or_dots([bottom, *vectors], args.interaction_op)], 1)
        return logit(mlp(net, args.top_units, "hidden"))
