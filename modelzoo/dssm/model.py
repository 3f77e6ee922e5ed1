"""DSSM (Huang et al., 2013, "Learning Deep Structured Semantic Models for Web Search using Clickthrough Data", CIKM) as two towers
on Taobao columns.

user, item: the embeddings of each side -> relu layers with batch normalization, the last layer plain
logit of a click: |w| cos(user, item) + b
"""

from typing import Dict

import tensorflow as tf

from common import flags, taobao, taobao_columns
from common.model_flags import dense_scope, mlp

_FIRST_SCALE = 5.0  # a cosine itself reaches only from 0.27 to 0.73 through a sigmoid


def add_flags(group) -> None:
    for side in ("user", "item"):
        group.add_argument(f"--{side}_units", type=flags.int_list, default=(256, 128, 64, 32), metavar="N,N,...")


def logits(features, args, embeddings, training) -> Dict[str, tf.Tensor]:
    """float32 [B] of a click; features: see taobao.FORMAT."""
    sides = []
    for name, columns, units in (
        ("user", taobao_columns.USER, args.user_units),
        ("item", taobao_columns.ITEM, args.item_units),
    ):
        with dense_scope(args, name):
            net = taobao_columns.vectors(features, args, embeddings, columns)
            net = mlp(net, units, "hidden", normalize=training, last_activation=False)
            sides.append(tf.nn.l2_normalize(net, 1))
    cosine = tf.reduce_sum(sides[0] * sides[1], 1)
    scale = tf.get_variable("scale", [], initializer=tf.constant_initializer(_FIRST_SCALE))
    bias = tf.get_variable("bias", [], initializer=tf.zeros_initializer())
    return {taobao.CLICK: tf.abs(scale) * cosine + bias}
