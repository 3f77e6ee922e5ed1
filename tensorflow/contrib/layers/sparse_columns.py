"""Legacy feature columns of categories: strings or integers, and such with weights."""

import abc
import collections

from tensorflow.contrib.layers import sparse_ops as contrib_sparse_ops
from tensorflow.contrib.layers.feature_column_base import (
    _get_feature_config,
    _IdColumn,
    _LazyBuilderByColumnsToTensor,
    _reshape_real_valued_tensor,
    _with_values,
)
from tensorflow.contrib.lookup import lookup_ops as lookup
from tensorflow.python.framework import dtypes, sparse_tensor
from tensorflow.python.ops import (
    math_ops,
    parsing_ops,
    sparse_ops,
    string_ops,
)
from tensorflow.python.platform import tf_logging as logging

_SparseIdLookupConfigFields = collections.namedtuple(
    "_SparseIdLookupConfig", ["vocabulary_file", "keys", "num_oov_buckets", "vocab_size", "default_value"]
)


class _SparseIdLookupConfig(_SparseIdLookupConfigFields):
    """How a sparse column finds the id of a value: by a file or by keys."""

    def __new__(cls, vocabulary_file=None, keys=None, num_oov_buckets=0, vocab_size=None, default_value=-1):
        return super().__new__(cls, vocabulary_file, keys, num_oov_buckets, vocab_size, default_value)


_SparseColumnFields = collections.namedtuple(
    "_SparseColumn", ["column_name", "is_integerized", "bucket_size", "lookup_config", "combiner", "dtype"]
)


class _SparseColumn(_IdColumn, _SparseColumnFields):
    """A categorical feature: strings or integers, any number of them in an example."""

    def __new__(
        cls,
        column_name,
        is_integerized=False,
        bucket_size=None,
        lookup_config=None,
        combiner="sum",
        dtype=dtypes.string,
    ):
        where = f"column_name: {column_name}"
        if is_integerized and bucket_size is None:
            raise ValueError(f"bucket_size must be set if is_integerized is True. {where}")
        if is_integerized and not dtype.is_integer:
            raise ValueError(f"dtype must be an integer if is_integerized is True, got {dtype}. {where}")
        if dtype != dtypes.string and not dtype.is_integer:
            raise ValueError(f"dtype must be string or integer, got {dtype}. {where}")
        if (bucket_size is None) == (not lookup_config):
            raise ValueError(f"one and only one of bucket_size and lookup_config must be set. {where}")
        if bucket_size is not None and bucket_size < 1:
            raise ValueError(f"bucket_size must be at least 1, got {bucket_size}. {where}")
        if lookup_config and not isinstance(lookup_config, _SparseIdLookupConfig):
            raise TypeError(f"lookup_config must be a _SparseIdLookupConfig, got {type(lookup_config)}. {where}")
        if lookup_config and lookup_config.vocabulary_file and lookup_config.vocab_size is None:
            raise ValueError(f"vocab_size must be defined. {where}")
        return super().__new__(cls, column_name, is_integerized, bucket_size, lookup_config, combiner, dtype)

    @property
    def name(self):
        return self.column_name

    @property
    def length(self):
        """Number of ids."""
        if self.bucket_size is not None:
            return self.bucket_size
        return self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets

    @property
    def config(self):
        return {self.column_name: parsing_ops.VarLenFeature(self.dtype)}

    def _get_input_sparse_tensor(self, input_tensor):
        if isinstance(input_tensor, sparse_tensor.SparseTensor):
            return input_tensor
        # Of a dense feature, "" and -1 count as absent; 0 is a fine id.
        ignored = "" if input_tensor.dtype == dtypes.string else -1
        return contrib_sparse_ops.dense_to_sparse_tensor(
            _reshape_real_valued_tensor(input_tensor, 2, self.name), ignore_value=ignored
        )

    def is_compatible(self, other_column):
        """Whether two columns may share an embedding."""
        if self.lookup_config and other_column.lookup_config:
            return self.lookup_config == other_column.lookup_config
        same_type = self.dtype == other_column.dtype or (self.dtype.is_integer and other_column.dtype.is_integer)
        compatible = self.length == other_column.length and same_type
        if compatible:
            logging.warning("Columns %s and %s may not have the same vocabulary.", self.name, other_column.name)
        return compatible

    @abc.abstractmethod
    def _do_transform(self, input_tensor):
        """A SparseTensor of values -> one of ids."""

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = self._do_transform(self._get_input_sparse_tensor(columns_to_tensors[self.name]))

    def _transform_feature(self, inputs):
        return self._do_transform(self._get_input_sparse_tensor(inputs.get(self.name)))


class _SparseColumnIntegerized(_SparseColumn):
    """See `sparse_column_with_integerized_feature`."""

    def _do_transform(self, input_tensor):
        return _with_values(input_tensor, math_ops.mod(input_tensor.values, self.bucket_size, name="mod"))


def sparse_column_with_integerized_feature(column_name, bucket_size, combiner="sum", dtype=dtypes.int64):
    """A categorical feature whose integers are the ids.

    Args:
      column_name: name of the feature.
      bucket_size: number of ids; larger values are taken modulo this.
      combiner: "sum", "mean" or "sqrtn": how a linear model combines several ids.
      dtype: an integer type.

    Returns:
      A sparse column.

    Raises:
      ValueError: if `bucket_size` is below 1, or `dtype` not an integer.
    """
    return _SparseColumnIntegerized(
        column_name, is_integerized=True, bucket_size=bucket_size, combiner=combiner, dtype=dtype
    )


class _SparseColumnHashed(_SparseColumn):
    """See `sparse_column_with_hash_bucket`."""

    def __new__(
        cls,
        column_name,
        is_integerized=False,
        bucket_size=None,
        lookup_config=None,
        combiner="sum",
        dtype=dtypes.string,
        hash_keys=None,
    ):
        if hash_keys is not None:
            if not isinstance(hash_keys, list) or not hash_keys:
                raise ValueError(f"hash_keys must be a non-empty list, got {hash_keys!r}")
            for pair in hash_keys:
                if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(k, int) for k in pair):
                    raise ValueError(f"Each element of hash_keys must be a pair of integers, got {pair!r}")
        column = super().__new__(cls, column_name, is_integerized, bucket_size, lookup_config, combiner, dtype)
        # Not a field: it is no part of the key.
        column.hash_keys = hash_keys
        return column

    def _do_transform(self, input_tensor):
        values = input_tensor.values
        if self.dtype.is_integer:
            values = string_ops.as_string(values)
        if not self.hash_keys:
            return _with_values(
                input_tensor, string_ops.string_to_hash_bucket_fast(values, self.bucket_size, name="lookup")
            )
        hashed = [
            _with_values(input_tensor, string_ops.string_to_hash_bucket_strong(values, self.bucket_size, key))
            for key in self.hash_keys
        ]
        return sparse_ops.sparse_concat(axis=1, sp_inputs=hashed, name="lookup")


def sparse_column_with_hash_bucket(column_name, hash_bucket_size, combiner="sum", dtype=dtypes.string, hash_keys=None):
    """A categorical feature whose values are hashed to ids.

    Args:
      column_name: name of the feature.
      hash_bucket_size: number of ids.
      combiner: "sum", "mean" or "sqrtn": how a linear model combines several ids.
      dtype: string or an integer type, of which the decimal text is hashed.
      hash_keys: list of pairs of integers; each gives one more id by a strong hash. None: one id by a fast hash.

    Returns:
      A sparse column.

    Raises:
      ValueError: if `hash_bucket_size` is below 1, `dtype` neither string nor integer, or `hash_keys` malformed.
    """
    return _SparseColumnHashed(
        column_name, bucket_size=hash_bucket_size, combiner=combiner, dtype=dtype, hash_keys=hash_keys
    )


class _SparseColumnKeys(_SparseColumn):
    """See `sparse_column_with_keys`."""

    def _do_transform(self, input_tensor):
        table = lookup.index_table_from_tensor(
            mapping=tuple(self.lookup_config.keys),
            default_value=self.lookup_config.default_value,
            dtype=self.dtype,
            name="lookup",
        )
        return table.lookup(input_tensor)


def sparse_column_with_keys(column_name, keys, default_value=-1, combiner="sum", dtype=dtypes.string):
    """A categorical feature whose ids are positions in `keys`.

    Args:
      column_name: name of the feature.
      keys: the vocabulary; list or tuple.
      default_value: id of values that are not in it.
      combiner: "sum", "mean" or "sqrtn": how a linear model combines several ids.
      dtype: string or an integer type.

    Returns:
      A sparse column.
    """
    keys = tuple(keys)
    config = _SparseIdLookupConfig(keys=keys, vocab_size=len(keys), default_value=default_value)
    return _SparseColumnKeys(column_name, lookup_config=config, combiner=combiner, dtype=dtype)


class _SparseColumnVocabulary(_SparseColumn):
    """See `sparse_column_with_vocabulary_file`."""

    def _do_transform(self, input_tensor):
        if self.dtype.is_integer:
            input_tensor = _with_values(input_tensor, string_ops.as_string(input_tensor.values))
        table = lookup.index_table_from_file(
            vocabulary_file=self.lookup_config.vocabulary_file,
            num_oov_buckets=self.lookup_config.num_oov_buckets,
            vocab_size=self.lookup_config.vocab_size,
            default_value=self.lookup_config.default_value,
            name=self.name + "_lookup",
        )
        return table.lookup(input_tensor)


def sparse_column_with_vocabulary_file(
    column_name,
    vocabulary_file,
    num_oov_buckets=0,
    vocab_size=None,
    default_value=-1,
    combiner="sum",
    dtype=dtypes.string,
):
    """A categorical feature whose ids are line numbers of a file.

    Args:
      column_name: name of the feature.
      vocabulary_file: path of the file, one value a line.
      num_oov_buckets: number of further ids over which other values are hashed.
      vocab_size: number of lines that are used.
      default_value: id of other values if `num_oov_buckets` is 0.
      combiner: "sum", "mean" or "sqrtn": how a linear model combines several ids.
      dtype: string or an integer type.

    Returns:
      A sparse column.

    Raises:
      ValueError: if `vocab_size` is missing, or `dtype` neither string nor integer.
    """
    if vocab_size is None:
        raise ValueError(f"vocab_size must be given. column_name: {column_name}")
    config = _SparseIdLookupConfig(
        vocabulary_file=vocabulary_file,
        num_oov_buckets=num_oov_buckets,
        vocab_size=vocab_size,
        default_value=default_value,
    )
    return _SparseColumnVocabulary(column_name, lookup_config=config, combiner=combiner, dtype=dtype)


_WeightedSparseColumnFields = collections.namedtuple(
    "_WeightedSparseColumn", ["sparse_id_column", "weight_column_name", "dtype"]
)


class _WeightedSparseColumn(_IdColumn, _WeightedSparseColumnFields):
    """See `weighted_sparse_column`."""

    @property
    def name(self):
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def length(self):
        """Number of ids."""
        return self.sparse_id_column.length

    @property
    def combiner(self):
        return self.sparse_id_column.combiner

    @property
    def config(self):
        config = _get_feature_config(self.sparse_id_column)
        config[self.weight_column_name] = parsing_ops.VarLenFeature(self.dtype)
        return config

    @property
    def lookup_config(self):
        return self.sparse_id_column.lookup_config

    def id_tensor(self, input_tensor):
        return input_tensor[0]

    def weight_tensor(self, input_tensor):
        return input_tensor[1]

    def _do_transform(self, ids, weights):
        if not isinstance(weights, sparse_tensor.SparseTensor):
            weights = contrib_sparse_ops.dense_to_sparse_tensor(weights)
        if not self.dtype.is_floating:
            weights = math_ops.cast(weights, dtypes.float32)
        return ids, weights

    def insert_transformed_feature(self, columns_to_tensors):
        inputs = _LazyBuilderByColumnsToTensor(columns_to_tensors)
        columns_to_tensors[self] = self._transform_feature(inputs)

    def _transform_feature(self, inputs):
        return self._do_transform(inputs.get(self.sparse_id_column), inputs.get(self.weight_column_name))

    def is_compatible(self, other_column):
        """Whether two columns may share an embedding."""
        if isinstance(other_column, _WeightedSparseColumn):
            other_column = other_column.sparse_id_column
        return self.sparse_id_column.is_compatible(other_column)


def weighted_sparse_column(sparse_id_column, weight_column_name, dtype=dtypes.float32):
    """A sparse column whose ids have weights.

    Args:
      sparse_id_column: a sparse column.
      weight_column_name: name of a feature that holds one weight for each value of `sparse_id_column`, in the same places.
      dtype: type of the weights, a float or integer type.

    Returns:
      A column of ids and weights.

    Raises:
      ValueError: if `dtype` is no number type.
    """
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float, got {dtype}")
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)
