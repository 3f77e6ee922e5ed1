"""Categorical columns that hash each value in several ways.

Their ids have one dimension more than the feature, the last: a value has one id for each hash. `linear_model` adds all of
them up; `multi_hash_embedding` makes embeddings.
"""

import collections

from tensorflow.deeprec.embedding import columns
from tensorflow.deeprec.feature_columns import bases, hashed
from tensorflow.deeprec.ops import string_ops
from tensorflow.python.feature_column import feature_column as fc_old
from tensorflow.python.feature_column import feature_column_v2 as fc
from tensorflow.python.feature_column import serialization
from tensorflow.python.framework import dtypes, sparse_tensor
from tensorflow.python.ops import array_ops, array_ops_stack, math_ops


def _along_hashes(tensor, values):
    """A SparseTensor with one dimension more than `tensor`; `values` `[entries, hashes]` are its values."""
    hashes = values.shape[1]
    places = array_ops.repeat(tensor.indices, hashes, axis=0)
    numbers = array_ops.tile(math_ops.range(hashes, dtype=dtypes.int64), [array_ops.shape(tensor.indices)[0]])
    return sparse_tensor.SparseTensor(
        array_ops.concat([places, array_ops.expand_dims(numbers, 1)], 1),
        array_ops.reshape(values, [-1]),
        array_ops.concat([tensor.dense_shape, [hashes]], 0),
    )


@serialization.register_feature_column
class MultiHashedCategoricalColumn(
    bases.OfOneFeature,
    bases.OfIds,
    fc.CategoricalColumn,
    fc_old._CategoricalColumn,
    collections.namedtuple("MultiHashedCategoricalColumn", ["key", "hash_bucket_size", "hash_types", "dtype"]),
):
    """See `categorical_column_with_multi_hash_bucket`."""

    # What `tables.has_several_ids` asks.
    makes_several_ids = True

    @property
    def num_buckets(self):
        return self.hash_bucket_size

    def _ids(self, tensor):
        tensor = fc._to_sparse_input_and_drop_ignore_values(tensor)
        texts = hashed.texts_of(self.key, self.dtype, tensor)
        ids = [
            string_ops.string_to_hash(texts, hash_type, num_buckets=self.hash_bucket_size, name="lookup")
            for hash_type in self.hash_types
        ]
        return _along_hashes(tensor, array_ops_stack.stack(ids, axis=1))


def categorical_column_with_multi_hash_bucket(key, hash_bucket_size, hash_types, dtype=dtypes.string):
    """A categorical column that hashes each value in several ways: two values seldom agree in all of their ids.

    Args:
      key: name of the feature; a SparseTensor, or a Tensor in which "" and -1 count as absent.
      hash_bucket_size: positive int: number of buckets, which all hashes share.
      hash_types: list or tuple of "farm" and "murmur".
      dtype: tf.string or an integer type, whose values are hashed as decimal text.

    Returns:
      A categorical column, for `multi_hash_embedding_column`, `weighted_categorical_column_with_multi_hash_bucket`,
      `cutoff_categorical_column` and `linear_model`.

    Raises:
      ValueError: an argument is out of range.
    """
    dtype = columns.checked_feature(key, dtype)
    if isinstance(hash_bucket_size, bool) or not isinstance(hash_bucket_size, int) or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be a positive integer, got {hash_bucket_size!r}")
    if not isinstance(hash_types, (list, tuple)) or not hash_types:
        raise ValueError(f"hash_types must be a list, not empty, of {hashed.HASH_TYPES}, got {hash_types!r}")
    types = tuple(hashed.checked_type("each of hash_types", hash_type) for hash_type in hash_types)
    return MultiHashedCategoricalColumn(key, hash_bucket_size, types, dtype)


@serialization.register_feature_column
class WeightedMultiHashedCategoricalColumn(fc.WeightedCategoricalColumn):
    """See `weighted_categorical_column_with_multi_hash_bucket`."""

    makes_several_ids = True

    def _transform_weight_tensor(self, weight_tensor):
        weights = super()._transform_weight_tensor(weight_tensor)
        hashes = len(self.categorical_column.hash_types)
        return _along_hashes(weights, array_ops.tile(array_ops.expand_dims(weights.values, 1), [1, hashes]))


def weighted_categorical_column_with_multi_hash_bucket(categorical_column, weight_feature_key, dtype=dtypes.float32):
    """Gives the values of a multi-hash column weights, the same for all ids of a value.

    Args:
      categorical_column: a `categorical_column_with_multi_hash_bucket`.
      weight_feature_key: name of the feature of the weights, at the same places as the values.
      dtype: of the weights: an integer or float type.

    Returns:
      A categorical column, for what the column without weights is for.

    Raises:
      ValueError: an argument is out of range.
    """
    if not isinstance(categorical_column, MultiHashedCategoricalColumn):
        raise ValueError(
            f"categorical_column must be a categorical_column_with_multi_hash_bucket, got {categorical_column!r}"
        )
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be an integer or float type, got {dtype!r}")
    return WeightedMultiHashedCategoricalColumn(categorical_column, weight_feature_key, dtype)
