"""BST (Chen et al., 2019, "Behavior Sequence Transformer for E-commerce Recommendation in Alibaba", arXiv:1905.06874) on Taobao
columns.

sequence: the category and brand of the last events and, behind them, of the ad: [L + 1, 2 dim], plus an embedding of the place
transformer: s = layer_norm(x + attention(x)), layer_norm(s + leaky_relu(s W) V), with attention of several heads, in which
    places without an event get no weight
logit of a click: [all places but the empty ones' zeros, ad's and user's embeddings] -> leaky relu layers -> 1
"""

from typing import Dict

import tensorflow as tf

from common import flags, lists, taobao, taobao_columns
from common.model_flags import dense_scope, layer, logit, mlp

_PAIRS = (("cate_id", "tag_category_list"), ("brand", "tag_brand_list"))


def add_flags(group) -> None:
    group.add_argument("--sequence_length", type=flags.positive_int, default=50, metavar="N", help="events of a user")
    group.add_argument("--heads", type=flags.positive_int, default=4, metavar="N")
    group.add_argument("--blocks", type=flags.positive_int, default=1, metavar="N", help="of the transformer")
    group.add_argument("--hidden_units", type=flags.int_list, default=(512, 256, 64), metavar="N,N,...")


def check(parser, args) -> None:
    if len(_PAIRS) * args.embedding_dim % args.heads:
        parser.error(
            f"--heads is {args.heads}, which does not divide {len(_PAIRS)} times --embedding_dim {args.embedding_dim}"
        )


def logits(features, args, embeddings, training) -> Dict[str, tf.Tensor]:
    """float32 [B] of a click; features: see taobao.FORMAT."""
    del training  # the network is the same
    with dense_scope(args, "sequence"):
        net, mask = sequence(features, args, embeddings)
        for i in range(args.blocks):
            net = block(net, mask, args.heads, f"block_{i}")
        net *= mask[:, :, None]
        net = tf.reshape(net, [-1, int(net.shape[1]) * int(net.shape[2])])
    with dense_scope(args, "final"):
        others = taobao_columns.vectors(features, args, embeddings, (*taobao_columns.ITEM, *taobao_columns.PROFILE))
        net = mlp(tf.concat([net, others], 1), args.hidden_units, "hidden", activation=tf.nn.leaky_relu)
        return {taobao.CLICK: logit(net)}


def sequence(features, args, embeddings):
    """Events and the ad: float32 [B, L + 1, 2 dim]; which are there: float32 [B, L + 1]."""
    length, parts, masks = args.sequence_length, {}, []
    for item, events in _PAIRS:
        tokens, is_event = lists.padded(features[events], taobao.TAG_SEPARATOR, length, args.tf)
        parts[item] = tf.reshape(tf.concat([tokens, features[item][:, None]], 1), [-1])
        masks.append(is_event)
    with embeddings.scope():
        columns = [embeddings.column(item, taobao_columns.buckets(args, item)) for item, _ in _PAIRS]
    with embeddings.variable_scope("embeddings"):
        outputs = embeddings.look_up(parts, columns)
    net = tf.concat([outputs[column] for column in sorted(columns, key=lambda column: column.name)], 1)
    net = tf.reshape(net, [-1, length + 1, int(net.shape[-1])])
    places = tf.get_variable(
        "places", [length + 1, int(net.shape[-1])], initializer=tf.random_normal_initializer(0, 0.1)
    )
    is_event = tf.cast(tf.logical_or(*masks), tf.float32)
    return net + places, tf.concat([is_event, tf.ones_like(is_event[:, :1])], 1)


def block(net: tf.Tensor, mask: tf.Tensor, heads: int, name: str) -> tf.Tensor:
    """A block of the transformer on net [B, L, width], mask [B, L]."""
    with tf.variable_scope(name):
        width = int(net.shape[-1])
        net = layer_norm(net + attention(net, mask, heads), "attention_norm")
        hidden = layer(net, 4 * width, activation=tf.nn.leaky_relu, name="hidden")
        return layer_norm(net + layer(hidden, width, name="output"), "output_norm")


def attention(net: tf.Tensor, mask: tf.Tensor, heads: int) -> tf.Tensor:
    """Attention of several heads of all places on those with mask 1: softmax(Q K^T / sqrt(depth)) V, [B, L, width]."""
    length, width = int(net.shape[1]), int(net.shape[2])

    def split(name):
        projected = tf.reshape(layer(net, width, name=name), [-1, length, heads, width // heads])
        return tf.transpose(projected, [0, 2, 1, 3])

    scores = tf.matmul(split("query"), split("key"), transpose_b=True) * (width // heads) ** -0.5
    weights = tf.nn.softmax(scores + (mask[:, None, None, :] - 1) * 1e9)
    mixed = tf.transpose(tf.matmul(weights, split("value")), [0, 2, 1, 3])
    return layer(tf.reshape(mixed, [-1, length, width]), width, name="mixed")


def layer_norm(net: tf.Tensor, name: str) -> tf.Tensor:
    return tf.contrib.layers.layer_norm(net, begin_norm_axis=-1, scope=name)
