"""DLRM (Naumov et al., 2019, arXiv:1906.00091) on Criteo columns.

bottom: 13 scaled numbers -> relu layers, the last as wide as an embedding
interaction: of the bottom's output and the 26 embeddings: their dot products in pairs, or side by side ("cat")
top: [bottom, interaction] -> relu layers -> 1
"""

import tensorflow as tf

from common import criteo_columns, flags
from common.interactions import side_by_side_or_dots
from common.model_flags import dense_scope, logit, mlp


def add_flags(group) -> None:
    group.add_argument(
        "--interaction_op", choices=("dot", "cat"), default="cat", help="how embeddings meet the numbers"
    )
    group.add_argument("--bottom_units", type=flags.int_list, default=(512, 256, 64), metavar="N,N,...")
    group.add_argument("--top_units", type=flags.int_list, default=(512, 256), metavar="N,N,...")


def logits(features, args, embeddings, training) -> tf.Tensor:
    """float32 [B] of a batch of Criteo features (see text_reader.Batch)."""
    del training  # the network is the same
    vectors = criteo_columns.vectors(features, embeddings)
    with dense_scope(args, "bottom"):
        bottom = mlp(criteo_columns.numbers(features), (*args.bottom_units, args.embedding_dim), "hidden")
    with dense_scope(args, "top"):
        net = tf.concat([bottom, side_by_side_or_dots([bottom, *vectors], args.interaction_op)], 1)
        net = mlp(net, args.top_units, "hidden")
        return logit(net)
