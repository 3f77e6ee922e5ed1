"""Legacy sparse columns whose embeddings are EmbeddingVariables: ids of any value, found by key."""

import collections

from tensorflow.contrib.layers import feature_column as fc
from tensorflow.deeprec.embedding import dynamic_dimension, getter
from tensorflow.deeprec.embedding.options import EmbeddingVariableOption
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import math_ops, partitioned_variables, string_ops

# Strings become keys in [0, 2^63 - 1).
_KEYS = 2**63 - 1

_TableOptions = collections.namedtuple("_TableOptions", ["partition_num", "steps_to_live", "ev_option", "blocks"])


class _SparseColumnEmbedding(fc._SparseColumn):
    """See `sparse_column_with_embedding` and `sparse_column_with_dynamic_dimension_embedding`."""

    def __new__(cls, column_name, dtype, combiner, options):
        column = super().__new__(cls, column_name, bucket_size=_KEYS, combiner=combiner, dtype=dtype)
        # Not a field: an option's text differs from run to run, and fields are the key.
        column.table_options = options
        return column

    def _do_transform(self, input_tensor):
        values = input_tensor.values
        if self.dtype.is_integer != values.dtype.is_integer:
            raise ValueError(
                f"Feature {self.column_name!r} must be {self.dtype.name}, as its column, got {values.dtype.name}"
            )
        if self.dtype.is_integer:
            return fc._with_values(input_tensor, math_ops.cast(values, dtypes.int64))
        return fc._with_values(input_tensor, string_ops.string_to_hash_bucket_fast(values, _KEYS, name="lookup"))

    def is_compatible(self, other_column):
        """Whether two columns may share an embedding: they ask the same of it."""
        other = getattr(other_column, "table_options", None)
        return other == self.table_options and self.dtype.is_integer == other_column.dtype.is_integer

    def table(self, name, dimension, initializer, trainable, collections):
        """Gets or makes the EmbeddingVariable in the variable scope: parts as a list, or a DynamicEmbeddingVariable.

        Raises:
          ValueError: the dimension is not that of the blocks together.
        """
        partition_num, steps_to_live, ev_option, blocks = self.table_options
        collections = list(collections) if collections else [ops.GraphKeys.GLOBAL_VARIABLES]
        common = {
            "initializer": initializer,
            "trainable": trainable,
            "collections": [*collections, ops.GraphKeys.MODEL_VARIABLES],
            "partitioner": None
            if partition_num is None
            else partitioned_variables.fixed_size_partitioner(partition_num),
            "steps_to_live": steps_to_live,
        }
        if blocks is not None:
            block_dimension, number = blocks
            if dimension != block_dimension * number:
                raise ValueError(
                    f"dimension must be {block_dimension * number}, that of all blocks of {self.name!r}, got {dimension!r}"
                )
            return dynamic_dimension.get_dynamic_dimension_embedding_variable(name, block_dimension, number, **common)
        found = getter.get_embedding_variable(name, dimension, ev_option=ev_option, **common)
        return [found] if fc._is_variable(found) else list(found)


def _options(column_name, partition_num, steps_to_live, init_data_source, ev_option=None, blocks=None):
    if partition_num is not None and (isinstance(partition_num, bool) or int(partition_num) < 1):
        raise ValueError(f"partition_num must be a positive integer, got {partition_num!r}. column_name: {column_name}")
    if init_data_source is not None:
        raise ValueError(f"init_data_source must be None, got {init_data_source!r}. column_name: {column_name}")
    if ev_option is not None and not isinstance(ev_option, EmbeddingVariableOption):
        raise ValueError(
            f"ev_option must be a tf.EmbeddingVariableOption, got {ev_option!r}. column_name: {column_name}"
        )
    return _TableOptions(partition_num, steps_to_live, ev_option, blocks)


def sparse_column_with_embedding(
    column_name,
    dtype=dtypes.string,
    partition_num=None,
    steps_to_live=None,
    init_data_source=None,
    ev_option=None,
    combiner="sum",
):
    """A categorical feature whose embeddings and weights are EmbeddingVariables.

    Args:
      column_name: name of the feature.
      dtype: string, hashed to keys, or an integer type, whose values are the keys.
      partition_num: parts of the EmbeddingVariable; None: what the variable scope says.
      steps_to_live: as for `tf.GlobalStepEvict`.
      init_data_source: must be None.
      ev_option: `tf.EmbeddingVariableOption`.
      combiner: "sum", "mean" or "sqrtn": how a linear model combines several ids.

    Returns:
      A sparse column.

    Raises:
      ValueError: if an argument is out of range.
    """
    options = _options(column_name, partition_num, steps_to_live, init_data_source, ev_option)
    return _SparseColumnEmbedding(column_name, dtypes.as_dtype(dtype), combiner, options)


def sparse_column_with_dynamic_dimension_embedding(
    column_name,
    embedding_block_dimension,
    embedding_block_num,
    dtype=dtypes.string,
    partition_num=None,
    steps_to_live=None,
    init_data_source=None,
):
    """A categorical feature with an EmbeddingVariable of dynamic dimension, for `embedding_column`.

    The dimension of the embedding column is `embedding_block_dimension * embedding_block_num`; the number of blocks of each id
    is given to `input_from_feature_columns(..., blocknums=...)`.

    Args:
      column_name, dtype, partition_num, steps_to_live, init_data_source: as for `sparse_column_with_embedding`.
      embedding_block_dimension: elements of a block.
      embedding_block_num: blocks of a row.

    Returns:
      A sparse column.

    Raises:
      ValueError: if an argument is out of range.
    """
    blocks = (embedding_block_dimension, embedding_block_num)
    if any(isinstance(n, bool) or int(n) != n or n < 1 for n in blocks):
        raise ValueError(
            "embedding_block_dimension and embedding_block_num must be positive integers, "
            f"got {blocks!r}. column_name: {column_name}"
        )
    options = _options(column_name, partition_num, steps_to_live, init_data_source, blocks=blocks)
    return _SparseColumnEmbedding(column_name, dtypes.as_dtype(dtype), "sum", options)
