"""What DIN and DIEN share: attention of a candidate on a history, the activation Dice, and the layers behind."""

from typing import Sequence

import tensorflow as tf

from common.model_flags import dense, layer


def attention_scores(query: tf.Tensor, keys: tf.Tensor, mask: tf.Tensor, units: Sequence[int]) -> tf.Tensor:
    """float32 [B, L]: how much each event counts for the candidate; softmax over the events of the row.

    The local activation unit of Zhou et al., 2018, "Deep Interest Network for Click-Through Rate Prediction": sigmoid layers
    on [q, k, q - k, q * k].

    Args:
      query: float32 [B, width].
      keys: float32 [B, L, width].
      mask: bool [B, L], the events. A row without any has equal scores on nothing.
    """
    query = tf.expand_dims(query, 1) + tf.zeros_like(keys)
    net = tf.concat([query, keys, query - keys, query * keys], -1)
    for i, width in enumerate(units):
        net = dense(net, width, tf.nn.sigmoid, f"attention_{i}")
    scores = tf.squeeze(tf.layers.dense(tf.cast(net, tf.float32), 1, name="attention"), -1)
    # As far below any score as makes no weight of it.
    return tf.nn.softmax(tf.where(mask, scores, tf.fill(tf.shape(scores), -4e9)))


def dice(net: tf.Tensor, training: tf.Tensor, name: str) -> tf.Tensor:
    """x (p + (1 - p) alpha) with p = sigmoid of x normalized by the batch, in evaluation by moving averages (Zhou et al.,
    2018)."""
    with tf.variable_scope(name):
        alpha = tf.get_variable("alpha", [net.shape[-1]], initializer=tf.zeros_initializer())
        normal = tf.layers.batch_normalization(net, center=False, scale=False, training=training, name="bn")
        p = tf.sigmoid(normal)
        return net * (p + (1 - p) * alpha)


def click_logit(net: tf.Tensor, units: Sequence[int], training: tf.Tensor) -> tf.Tensor:
    """float32 [B]: batch normalization, layers with Dice, and two outputs of which the difference is the logit of a click: its
    sigmoid is the softmax of the two."""
    net = tf.layers.batch_normalization(net, training=training, name="bn")
    for i, width in enumerate(units):
        net = dice(layer(net, width, None, f"hidden_{i}"), training, f"dice_{i}")
    net = tf.layers.dense(net, 2, name="logits")
    return net[:, 1] - net[:, 0]
