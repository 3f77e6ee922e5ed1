"""Amazon Books' columns as the inputs of a network that looks at sequences."""

import os
from typing import Dict, NamedTuple, Optional

import tensorflow as tf

from common import amazon, ev_flags, lists


class Vectors(NamedTuple):
    """Embeddings: user float32 [B, dim]; item (and its category) [B, 2 dim]; history and negatives [B, L, 2 dim], 0 where there is
    no event. mask: bool [B, L], which are events. length: int32 [B], how many; they come first."""

    user: tf.Tensor
    item: tf.Tensor
    history: tf.Tensor
    negatives: Optional[tf.Tensor]
    mask: tf.Tensor
    length: tf.Tensor


def vectors(features: Dict[str, tf.Tensor], args, embeddings, negatives: bool = False) -> Vectors:
    """Embeddings of a batch; one table of items serves candidates, history and negatives, one of categories likewise.

    Args:
      features: see amazon.FORMAT, or amazon.FORMAT_WITH_NEGATIVES.
      args: with --vocabulary, --sequence_length and the flags of model_flags.
      embeddings: embeddings.Embeddings.
      negatives: whether they are wanted.
    """
    length, mask, tokens = args.sequence_length, None, {}
    sides = [amazon.HISTORY, amazon.NEGATIVE] if negatives else [amazon.HISTORY]
    for column in amazon.HISTORY:
        parts = [features[column][:, None]]
        for side in sides:
            items, there = lists.padded(features[side[column]], amazon.SEPARATOR, length, args.tf)
            parts.append(items)
            mask = there if mask is None else mask
        tokens[column] = tf.reshape(tf.concat(parts, 1), [-1])
    user = _embed({amazon.USER: features[amazon.USER]}, args, embeddings)
    rows = _embed(tokens, args, embeddings)
    width = 2 * args.embedding_dim
    rows = tf.reshape(rows, [-1, 1 + len(sides) * length, width])
    return Vectors(
        user=user,
        item=rows[:, 0],
        history=rows[:, 1 : 1 + length],
        negatives=rows[:, 1 + length :] if negatives else None,
        mask=mask,
        length=tf.reduce_sum(tf.cast(mask, tf.int32), 1),
    )


def _embed(features: Dict[str, tf.Tensor], args, embeddings) -> tf.Tensor:
    """string [n] of each feature -> float32 [n, features * dim]; 0 of an empty string."""
    with embeddings.scope():
        columns = [_column(name, args, embeddings) for name in features]
    with embeddings.variable_scope("embeddings"):
        outputs = embeddings.look_up(features, columns)
    return tf.concat([outputs[column] for column in columns], 1)


def _column(name: str, args, embeddings):
    if ev_flags.by_key(args):
        return embeddings.column(name)
    path = os.path.join(args.vocabulary, amazon.VOCABULARIES[name])
    category = tf.feature_column.categorical_column_with_vocabulary_file(name, path, default_value=0)
    return embeddings.of(category)
