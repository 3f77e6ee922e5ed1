"""DIN (Zhou et al., 2018, "Deep Interest Network for Click-Through Rate Prediction", arXiv:1706.06978) on Amazon Books columns.

q: the candidate, k: the events of the history, each an item and its category
interest: the sum of the k, weighted by softmax(sigmoid layers on [q, k, q - k, q * k])
logit: batch normalization of [user, q, sum of the k, q * sum of the k, interest] -> layers with Dice -> 2
"""

import tensorflow as tf

from common import amazon, amazon_columns, flags
from common.interest import attention_scores, click_logit
from common.model_flags import dense_scope


def add_flags(group) -> None:
    group.add_argument(
        "--sequence_length", type=flags.positive_int, default=amazon.LENGTH, metavar="N", help="events of a history"
    )
    group.add_argument("--attention_units", type=flags.int_list, default=(80, 40), metavar="N,N,...")
    group.add_argument("--hidden_units", type=flags.int_list, default=(200, 80), metavar="N,N,...")


def logits(features, args, embeddings, training) -> tf.Tensor:
    """float32 [B] of a batch of Amazon Books features (see amazon.FORMAT)."""
    vectors = amazon_columns.vectors(features, args, embeddings)
    with dense_scope(args, "interest"):
        scores = attention_scores(vectors.item, vectors.history, vectors.mask, args.attention_units)
        interest = tf.reduce_sum(scores[:, :, None] * vectors.history, 1)
    with dense_scope(args, "final"):
        total = tf.reduce_sum(vectors.history, 1)
        net = tf.concat([vectors.user, vectors.item, total, vectors.item * total, interest], 1)
        return click_logit(net, args.hidden_units, training)
