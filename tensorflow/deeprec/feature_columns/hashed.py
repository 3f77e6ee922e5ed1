"""A categorical column whose ids are hashes, and what hashing columns have in common."""

import collections

from tensorflow.deeprec.embedding import columns, getter, tables
from tensorflow.deeprec.ops import string_ops
from tensorflow.python.feature_column import serialization
from tensorflow.python.framework import dtypes
from tensorflow.python.ops import string_ops as released_string_ops

HASH_TYPES = ("farm", "murmur")


def checked_type(argument: str, hash_type) -> str:
    if hash_type not in HASH_TYPES:
        raise ValueError(f"{argument} must be one of {HASH_TYPES}, got {hash_type!r}")
    return hash_type


def texts_of(key, dtype, tensor):
    """The values of a sparse feature as text.

    Raises:
      ValueError: the feature is not of the kind of `dtype`.
    """
    columns.checked_values(key, dtype, tensor)
    return released_string_ops.as_string(tensor.values) if dtype.is_integer else tensor.values


@serialization.register_feature_column
class HashOnlyCategoricalColumn(
    columns.TableCategoricalColumn,
    collections.namedtuple("HashOnlyCategoricalColumn", ["key", "hash_type", "allow_neg", "dtype"]),
):
    """See `categorical_column_with_hash`."""

    def _hashed(self, tensor):
        return string_ops.string_to_hash(
            texts_of(self.key, self.dtype, tensor), self.hash_type, allow_neg=self.allow_neg, name="lookup"
        )

    def table(self, name, dimension, initializer, trainable, collections):
        table = getter.get_embedding_variable(
            name,
            dimension,
            key_dtype=dtypes.int64,
            initializer=initializer,
            trainable=trainable,
            collections=collections,
        )
        for part in tables.parts_of(table):
            part.takes_negative_keys = self.allow_neg
        return table


def categorical_column_with_hash(key, hash_type="farm", allow_neg=True, dtype=dtypes.string):
    """A categorical column whose ids are 64-bit hashes, without a number of buckets.

    Its embeddings are an EmbeddingVariable, found by hash.

    Args:
      key: name of the feature; a SparseTensor, or a Tensor in which "" and -1 count as absent.
      hash_type: "farm" or "murmur", see `string_ops.string_to_hash`.
      allow_neg: whether the sign bit is part of a hash: ids are any int64. Otherwise they are in [0, 2^63).
      dtype: tf.string or an integer type, whose values are hashed as decimal text.

    Returns:
      A categorical column, for `tf.feature_column.embedding_column`, `shared_embedding_columns`,
      `weighted_categorical_column` and `linear_model`.

    Raises:
      ValueError: an argument is out of range.
    """
    dtype = columns.checked_feature(key, dtype)
    return HashOnlyCategoricalColumn(key, checked_type("hash_type", hash_type), bool(allow_neg), dtype)
