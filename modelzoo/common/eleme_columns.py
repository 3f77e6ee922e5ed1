"""The contest's columns as the inputs of a network."""

from typing import Dict, List

import tensorflow as tf

from common import eleme, lists

# All of the row that are one category, but `times`, of which hours, time_type and weekdays tell the part that comes back.
CATEGORIES = tuple(
    name for name in (*eleme.USER, *eleme.ITEM, *eleme.CONTEXT) if name not in eleme.NUMBERS and name != "times"
)


def numbers(features: Dict[str, tf.Tensor]) -> tf.Tensor:
    """float32 [B, 10]: log(1 + x) of the numbers and of the means of the lists of numbers; 0 of what is negative or empty."""
    taken = {name: features[name] for name in eleme.NUMBERS}
    for name in eleme.NUMBER_LISTS:
        taken[name] = lists.means(features[name], eleme.SEPARATOR)
    return tf.feature_column.input_layer(
        taken, [tf.feature_column.numeric_column(name, normalizer_fn=_log) for name in taken]
    )


def vectors(features: Dict[str, tf.Tensor], args, embeddings) -> List[tf.Tensor]:
    """float32 [B, dim] of each of the 18 categories, and the mean over each of the 9 lists that share a category's table.

    Args:
      features: see eleme.FORMAT.
      args: with the flags of model_flags; --hash_buckets is of all but codes.
      embeddings: embeddings.Embeddings.
    """
    taken = {name: features[name] for name in CATEGORIES}
    for name in eleme.LIST_OF.values():
        taken[name] = lists.sparse(features[name], eleme.SEPARATOR)
    with embeddings.scope():
        columns = [column for name in CATEGORIES for column in _embedded(name, args, embeddings)]
    with embeddings.variable_scope("embeddings"):
        outputs = embeddings.look_up(taken, columns)
    return [outputs[column] for column in columns]


def hashed(args) -> list:
    """A categorical column of fixed size of each category, for one-hot vectors or linear weights."""
    return [
        _time_type(name)
        if name == eleme.TIME_TYPE
        else tf.feature_column.categorical_column_with_hash_bucket(name, buckets(args, name))
        for name in CATEGORIES
    ]


def buckets(args, name: str) -> int:
    """Hash buckets of a category."""
    return min(eleme.CODE_BUCKETS, args.hash_buckets) if name in eleme.CODES else args.hash_buckets


def _embedded(name: str, args, embeddings) -> list:
    names = [name, eleme.LIST_OF[name]] if name in eleme.LIST_OF else [name]
    if name == eleme.TIME_TYPE:
        return embeddings.shared_of([_time_type(each) for each in names])
    if len(names) > 1:
        return embeddings.shared(names, buckets(args, name))
    return [embeddings.column(name, buckets(args, name))]


def _time_type(name: str):
    return tf.feature_column.categorical_column_with_vocabulary_list(name, eleme.TIME_TYPES)


def _log(values: tf.Tensor) -> tf.Tensor:
    return tf.log1p(tf.maximum(values, 0))
