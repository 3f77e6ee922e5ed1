"""DeepFM (Guo et al., 2017, arXiv:1703.04247) on Criteo columns.

fm: first order: a weight for each value and number; second order: sum of the dot products of all pairs of embeddings, as
    ((sum v)^2 - sum v^2) / 2 in each dimension
deep: [13 scaled numbers, 26 embeddings] -> relu layers with batch normalization
logit: [fm first order, fm second order, deep] -> relu layers -> 1
"""

import tensorflow as tf

from common import criteo, criteo_columns, flags
from common.interactions import second_order
from common.model_flags import dense_scope, logit, mlp


def add_flags(group) -> None:
    group.add_argument("--hidden_units", type=flags.int_list, default=(1024, 256, 32), metavar="N,N,...")
    group.add_argument(
        "--final_units", type=flags.int_list, default=(128, 64), metavar="N,N,...", help="behind both parts"
    )


def logits(features, args, embeddings, training) -> tf.Tensor:
    """float32 [B] of a batch of Criteo features (see text_reader.Batch)."""
    numbers, vectors = criteo_columns.numbers(features), criteo_columns.vectors(features, embeddings)
    with embeddings.variable_scope("first_order"):
        first = tf.feature_column.linear_model(features, [embeddings.category(name) for name in criteo.CATEGORICAL])
        first += tf.layers.dense(numbers, 1, use_bias=False, name="numbers")
    with dense_scope(args, "deep"):
        deep = mlp(tf.concat([numbers, *vectors], 1), args.hidden_units, "hidden", normalize=training)
    with dense_scope(args, "final"):
        net = mlp(tf.concat([first, second_order(vectors), deep], 1), args.final_units, "hidden")
        return logit(net)
