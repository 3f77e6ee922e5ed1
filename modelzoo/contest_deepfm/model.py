"""The DeepFM (Guo et al., 2017, arXiv:1703.04247) of the Tianchi contest, on Ele.me-like columns.

fm: first order: a weight for each value and number, where each category is an indicator column: a one-hot vector as wide as its
    hash buckets; second order: the dot products of all pairs of embeddings, summed, in each dimension
deep: [10 numbers, 27 embeddings] -> relu layers with batch normalization
logit: [fm first order, fm second order, deep] -> relu layers with batch normalization -> 1
"""

import tensorflow as tf

from common import eleme_columns, flags
from common.interactions import second_order
from common.model_flags import dense_scope, logit, mlp


def add_flags(group) -> None:
    group.add_argument("--hidden_units", type=flags.int_list, default=(512, 128, 32), metavar="N,N,...")
    group.add_argument(
        "--final_units", type=flags.int_list, default=(128, 64), metavar="N,N,...", help="behind both parts"
    )


def logits(features, args, embeddings, training) -> tf.Tensor:
    """float32 [B]; features: see eleme.FORMAT."""
    numbers, vectors = eleme_columns.numbers(features), eleme_columns.vectors(features, args, embeddings)
    with embeddings.variable_scope("first_order"):
        first = tf.layers.dense(tf.concat([numbers, one_hot(features, args)], 1), 1, name="weights")
    with dense_scope(args, "deep"):
        deep = mlp(tf.concat([numbers, *vectors], 1), args.hidden_units, "hidden", normalize=training)
    with dense_scope(args, "final"):
        net = tf.concat([first, second_order(vectors), deep], 1)
        return logit(mlp(net, args.final_units, "hidden", normalize=training))


def one_hot(features, args) -> tf.Tensor:
    """float32 [B, sum of the buckets]: the 18 categories."""
    taken = {name: features[name] for name in eleme_columns.CATEGORIES}
    return tf.feature_column.input_layer(
        taken, [tf.feature_column.indicator_column(category) for category in eleme_columns.hashed(args)]
    )
