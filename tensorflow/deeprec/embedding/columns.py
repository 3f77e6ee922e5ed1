"""Categorical feature columns whose embeddings are tables found by key: no vocabulary, no number of buckets.

`embedding_columns` holds the dense columns over them. What those need of a categorical column is `table(...)`, the variable that
holds its rows.
"""

import collections
import math

from tensorflow.deeprec.embedding import adaptive, getter, multihash
from tensorflow.deeprec.embedding.options import EmbeddingVariableOption
from tensorflow.deeprec.feature_columns import bases
from tensorflow.python.feature_column import feature_column as fc_old
from tensorflow.python.feature_column import feature_column_v2 as fc
from tensorflow.python.feature_column import serialization
from tensorflow.python.feature_column import utils as fc_utils
from tensorflow.python.framework import dtypes, sparse_tensor
from tensorflow.python.ops import math_ops, partitioned_variables, string_ops, variable_scope

# Strings become keys in [0, 2^63 - 1).
_STRING_KEYS = 2**63 - 1


class TableCategoricalColumn(bases.OfOneFeature, bases.OfIds, fc.CategoricalColumn, fc_old._CategoricalColumn):
    """What these columns have in common. Subclasses are named tuples with fields `key` and `dtype`."""

    # What `tables.source_of` asks.
    makes_table = True
    # Whether lookups need to be told of each row which of two tables to read.
    needs_mask = False
    # Ids that strings are hashed to.
    string_buckets = _STRING_KEYS

    def table(self, name, dimension, initializer, trainable, collections):  # noqa: A002
        """Gets or makes the variable of the rows, in the variable scope.

        Args:
          name: of the variable.
          dimension: elements of a row.
          initializer: of new rows.
          trainable: whether optimizers find it.
          collections: to which its parts are added, or None.

        Returns:
          What `tf.nn.embedding_lookup` takes as `params`.
        """
        raise NotImplementedError

    @property
    def num_buckets(self):
        """1: there is no number of buckets."""
        return 1

    def _ids(self, tensor):
        tensor = fc._to_sparse_input_and_drop_ignore_values(tensor)
        checked_values(self.key, self.dtype, tensor)
        return sparse_tensor.SparseTensor(tensor.indices, self._hashed(tensor), tensor.dense_shape)

    def _hashed(self, tensor):
        """The ids of the values of a feature of the column's dtype."""
        if self.dtype.is_integer:
            return math_ops.cast(tensor.values, dtypes.int64)
        return string_ops.string_to_hash_bucket_fast(tensor.values, self.string_buckets, name="lookup")

    def get_config(self):
        if getattr(self, "ev_option", None) is not None:
            raise ValueError(f"The column of {self.key!r} cannot be serialized with an ev_option.")
        return super().get_config()

    @classmethod
    def from_config(cls, config, custom_objects=None, columns_by_name=None):
        del custom_objects, columns_by_name
        return cls(**{**config, "dtype": dtypes.as_dtype(config["dtype"])})


def _partitioner(partition_num):
    return None if partition_num is None else partitioned_variables.fixed_size_partitioner(partition_num)


def checked_feature(key, dtype) -> dtypes.DType:
    """The dtype of a feature of strings or integers.

    Raises:
      ValueError: key is no string, or dtype another.
    """
    if not isinstance(key, str):
        raise ValueError(f"key must be a string, got {key!r}")
    dtype = dtypes.as_dtype(dtype)
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"dtype of the column of {key!r} must be string or an integer, got {dtype.name}")
    return dtype


def checked_values(key, dtype, tensor) -> None:
    """Raises ValueError if a feature is not of the kind of its column's dtype."""
    fc_utils.assert_string_or_int(tensor.dtype, prefix=f"column_name: {key} input_tensor")
    if dtype.is_integer != tensor.dtype.is_integer:
        raise ValueError(f"Feature {key!r} must be {dtype.name}, as its column, got {tensor.dtype.name}")


def _checked(key, dtype, partition_num, ev_option):
    dtype = checked_feature(key, dtype)
    if partition_num is not None and (isinstance(partition_num, bool) or int(partition_num) < 1):
        raise ValueError(f"partition_num of the column of {key!r} must be a positive integer, got {partition_num!r}")
    if ev_option is not None and not isinstance(ev_option, EmbeddingVariableOption):
        raise ValueError(f"ev_option of the column of {key!r} must be a tf.EmbeddingVariableOption, got {ev_option!r}")
    return dtype


@serialization.register_feature_column
class EmbeddingCategoricalColumn(
    TableCategoricalColumn,
    collections.namedtuple("EmbeddingCategoricalColumn", ["key", "dtype", "partition_num", "ev_option"]),
):
    """See `categorical_column_with_embedding`."""

    def table(self, name, dimension, initializer, trainable, collections):
        return getter.get_embedding_variable(
            name,
            dimension,
            key_dtype=dtypes.int64,
            initializer=initializer,
            trainable=trainable,
            collections=collections,
            partitioner=_partitioner(self.partition_num),
            ev_option=self.ev_option,
        )


def categorical_column_with_embedding(key, dtype=dtypes.string, partition_num=None, ev_option=None):
    """A categorical column whose embeddings are an EmbeddingVariable.

    Args:
      key: name of the feature; a SparseTensor, or a Tensor in which "" and -1 count as absent.
      dtype: tf.string, hashed to keys in [0, 2^63 - 1), or an integer type, whose values are the keys.
      partition_num: parts of the EmbeddingVariable; None: what the variable scope says.
      ev_option: tf.EmbeddingVariableOption.

    Returns:
      A categorical column, for `tf.feature_column.embedding_column`, `shared_embedding_columns`,
      `weighted_categorical_column` and `linear_model`.

    Raises:
      ValueError: an argument is out of range.
    """
    return EmbeddingCategoricalColumn(key, _checked(key, dtype, partition_num, ev_option), partition_num, ev_option)


def sequence_categorical_column_with_embedding(key, dtype=dtypes.string, partition_num=None, ev_option=None):
    """`categorical_column_with_embedding` for sequences: the last dimension of the feature is time."""
    return fc.SequenceCategoricalColumn(categorical_column_with_embedding(key, dtype, partition_num, ev_option))


@serialization.register_feature_column
class AdaptiveEmbeddingCategoricalColumn(
    TableCategoricalColumn,
    collections.namedtuple(
        "AdaptiveEmbeddingCategoricalColumn", ["key", "hash_bucket_size", "dtype", "partition_num", "ev_option"]
    ),
):
    """See `categorical_column_with_adaptive_embedding`."""

    needs_mask = True

    def table(self, name, dimension, initializer, trainable, collections):
        buckets = variable_scope.get_variable(
            f"hash_{name}",
            shape=[self.hash_bucket_size, dimension],
            dtype=dtypes.float32,
            initializer=initializer,
            trainable=trainable,
            collections=collections,
        )
        own = EmbeddingCategoricalColumn(self.key, self.dtype, self.partition_num, self.ev_option).table(
            name, dimension, initializer, trainable, collections
        )
        return adaptive.AdaptiveTable(buckets, own, self._bucket_of, self.key)

    def _bucket_of(self, ids):
        if self.dtype.is_integer:
            return string_ops.string_to_hash_bucket_fast(string_ops.as_string(ids), self.hash_bucket_size)
        # The key of a string is a hash already.
        return math_ops.floormod(ids, self.hash_bucket_size)


def categorical_column_with_adaptive_embedding(
    key, hash_bucket_size, dtype=dtypes.string, partition_num=None, ev_option=None
):
    """A categorical column where a mask says whether an id reads the row of a hash bucket or one of its own.

    The masks are given to `tf.feature_column.input_layer(adaptive_mask_tensors={key: mask})`: int32 `[batch]`, 0 for the bucket
    (the variable `hash_embedding_weights`), 1 for the own row (the EmbeddingVariable `embedding_weights`), which starts as a
    copy of the bucket's.

    Args:
      key, dtype, partition_num, ev_option: as for `categorical_column_with_embedding`.
      hash_bucket_size: number of buckets.

    Returns:
      A categorical column, for `tf.feature_column.embedding_column`.

    Raises:
      ValueError: an argument is out of range.
    """
    if isinstance(hash_bucket_size, bool) or int(hash_bucket_size) < 1:
        raise ValueError(f"hash_bucket_size must be a positive integer, got {hash_bucket_size!r}")
    dtype = _checked(key, dtype, partition_num, ev_option)
    return AdaptiveEmbeddingCategoricalColumn(key, int(hash_bucket_size), dtype, partition_num, ev_option)


@serialization.register_feature_column
class MultiHashEmbeddingCategoricalColumn(
    TableCategoricalColumn,
    collections.namedtuple(
        "MultiHashEmbeddingCategoricalColumn",
        ["key", "dims", "complementary_strategy", "operation", "dtype", "partition_num"],
    ),
):
    """See `categorical_column_with_multihash`."""

    @property
    def num_buckets(self):
        """Number of ids."""
        return math.prod(self.dims)

    @property
    def string_buckets(self):
        return self.num_buckets

    def table(self, name, dimension, initializer, trainable, collections):
        dimensions = (dimension, dimension) if isinstance(dimension, int) else dimension
        return multihash.get_multihash_variable(
            name,
            list(zip(self.dims, dimensions)),
            complementary_strategy=self.complementary_strategy,
            operation=self.operation,
            dtype=dtypes.float32,
            initializer=initializer,
            trainable=trainable,
            collections=collections,
            partitioner=_partitioner(self.partition_num),
        )

    def width(self, dimension) -> int:
        """Elements of a row, for `dimension` of the embedding column."""
        dimensions = (dimension, dimension) if isinstance(dimension, int) else dimension
        checked = multihash.checked_dims(list(zip(self.dims, dimensions)), self.operation)
        return sum(d for _, d in checked) if self.operation == "concat" else checked[0][1]


def categorical_column_with_multihash(
    key, dims, complementary_strategy="Q-R", operation="concat", dtype=dtypes.int64, partition_num=None
):
    """A categorical column whose embeddings are a multi-hash variable.

    Args:
      key: name of the feature.
      dims: `(q, r)`: rows of the tables of quotients and remainders. Ids are in [0, q r).
      complementary_strategy: "Q-R".
      operation: "add", "mul" ("mult") or "concat" of the two rows.
      dtype: tf.string, hashed to ids, or an integer type, whose values are the ids.
      partition_num: parts of each table.

    Returns:
      A categorical column, for `tf.feature_column.embedding_column(column, dimension=(d1, d2))`.

    Raises:
      ValueError: an argument is out of range.
    """
    multihash.checked_strategy(complementary_strategy)
    operation = multihash.checked_operation(operation)
    dtype = _checked(key, dtype, partition_num, None)
    try:
        rows = tuple(int(n) for n in dims)
    except (TypeError, ValueError):
        rows = ()
    if len(rows) != 2 or min(rows) < 1:
        raise ValueError(f"dims must be (q, r) of positive integers, got {dims!r}")
    return MultiHashEmbeddingCategoricalColumn(key, rows, complementary_strategy, operation, dtype, partition_num)
