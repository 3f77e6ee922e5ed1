"""Taobao's columns as the inputs of a network."""

from typing import Dict, Sequence

import tensorflow as tf

from common import lists, taobao

ALL = (*taobao.ITEM, taobao.PRICE, *taobao.USER, *taobao.TAGS)
ITEM = (*taobao.ITEM, taobao.PRICE)
USER = (*taobao.USER, *taobao.TAGS)
PROFILE = taobao.USER


def vectors(features: Dict[str, tf.Tensor], args, embeddings, names: Sequence[str] = ALL) -> tf.Tensor:
    """float32 [B, len(names) * dim]: the embedding of each column, in the order of the names; of a list the mean.

    Args:
      features: see taobao.FORMAT.
      args: with the flags of model_flags; --hash_buckets is the most that a column has.
      embeddings: embeddings.Embeddings.
    """
    taken = {name: features[name] for name in names}
    for name in taobao.TAGS:
        if name in taken:
            taken[name] = lists.sparse(taken[name], taobao.TAG_SEPARATOR)
    if taobao.PRICE in taken:
        # Clipped before the cast: int64 does not hold every float.
        level = tf.clip_by_value(tf.floor(taken[taobao.PRICE]), 0.0, taobao.PRICE_LEVELS - 1.0)
        taken[taobao.PRICE] = tf.cast(level, tf.int64)
    with embeddings.scope():
        columns = [
            embeddings.levels(name, taobao.PRICE_LEVELS)
            if name == taobao.PRICE
            else embeddings.column(name, buckets(args, name), several=name in taobao.TAGS)
            for name in names
        ]
    with embeddings.variable_scope("embeddings"):
        outputs = embeddings.look_up(taken, columns)
    return tf.concat([outputs[column] for column in columns], 1)


def buckets(args, name: str) -> int:
    """Hash buckets of a column."""
    return min(taobao.BUCKETS[name], args.hash_buckets)
