"""Legacy feature columns of numbers, and their buckets."""

import collections

from tensorflow.contrib.framework import experimental as experimental_lib
from tensorflow.contrib.layers import bucketization_op
from tensorflow.contrib.layers.feature_column_base import (
    _FeatureColumn,
    _LazyBuilderByColumnsToTensor,
    _LinearEmbeddingLookupArguments,
    _reshape_real_valued_tensor,
    _with_values,
)
from tensorflow.python.feature_column import feature_column as fc_core
from tensorflow.python.framework import dtypes, sparse_tensor, tensor_shape
from tensorflow.python.ops import (
    array_ops,
    array_ops_stack,
    init_ops,
    math_ops,
    parsing_ops,
)

experimental = experimental_lib.experimental

_RealValuedVarLenColumnFields = collections.namedtuple(
    "_RealValuedVarLenColumn", ["column_name", "default_value", "dtype", "normalizer", "is_sparse"]
)


class _RealValuedVarLenColumn(_FeatureColumn, _RealValuedVarLenColumnFields):
    """A number feature of any length; see `_real_valued_var_len_column`."""

    @property
    def name(self):
        return self.column_name

    @property
    def config(self):
        if self.is_sparse:
            return {self.column_name: parsing_ops.VarLenFeature(self.dtype)}
        feature = parsing_ops.FixedLenSequenceFeature(
            [], self.dtype, allow_missing=True, default_value=self.default_value
        )
        return {self.column_name: feature}

    @property
    def key(self):
        return self._key_without_properties(["normalizer"])

    @property
    def normalizer_fn(self):
        """The function applied to values, or None."""
        return self.normalizer

    def _normalized_input_tensor(self, input_tensor):
        if self.normalizer is None:
            return input_tensor
        if self.is_sparse:
            return _with_values(input_tensor, self.normalizer(input_tensor.values))
        return self.normalizer(input_tensor)

    def insert_transformed_feature(self, columns_to_tensors):
        input_tensor = self._normalized_input_tensor(columns_to_tensors[self.name])
        columns_to_tensors[self] = math_ops.cast(input_tensor, dtypes.float32)

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        return _reshape_real_valued_tensor(self._to_dense_tensor(input_tensor), output_rank, self.name)

    def _to_dense_tensor(self, input_tensor):
        if self.is_sparse:
            raise ValueError(f"is_sparse must be False for a dense tensor. column_name: {self.name}")
        return input_tensor


@experimental
def _real_valued_var_len_column(
    column_name, default_value=None, dtype=dtypes.float32, normalizer=None, is_sparse=False
):
    """A number feature of any length, for recurrent estimators: padded with `default_value`, or sparse."""
    where = f"column_name: {column_name}"
    if not (dtype.is_integer or dtype.is_floating):
        raise TypeError(f"dtype must be convertible to float, got {dtype}. {where}")
    if default_value is None and not is_sparse:
        raise ValueError(f"default_value must be given if is_sparse is False. {where}")
    if isinstance(default_value, list):
        raise ValueError(f"default_value must be a scalar, got {default_value}. {where}")
    if default_value is not None:
        default_value = int(default_value) if dtype.is_integer else float(default_value)
    return _RealValuedVarLenColumn(column_name, default_value, dtype, normalizer, is_sparse)


_RealValuedColumnFields = collections.namedtuple(
    "_RealValuedColumn", ["column_name", "dimension", "default_value", "dtype", "normalizer"]
)


class _RealValuedColumn(_FeatureColumn, fc_core._DenseColumn, _RealValuedColumnFields):
    """See `real_valued_column`."""

    def __new__(cls, column_name, dimension, default_value, dtype, normalizer):
        if default_value is not None:
            default_value = tuple(default_value)
        return super().__new__(cls, column_name, dimension, default_value, dtype, normalizer)

    @property
    def name(self):
        return self.column_name

    @property
    def config(self):
        default_value = None if self.default_value is None else list(self.default_value)
        return {self.column_name: parsing_ops.FixedLenFeature([self.dimension], self.dtype, default_value)}

    @property
    def key(self):
        return self._key_without_properties(["normalizer"])

    @property
    def normalizer_fn(self):
        """The function applied to values, or None."""
        return self.normalizer

    def _normalized_input_tensor(self, input_tensor):
        return input_tensor if self.normalizer is None else self.normalizer(input_tensor)

    def insert_transformed_feature(self, columns_to_tensors):
        input_tensor = self._normalized_input_tensor(columns_to_tensors[self.name])
        columns_to_tensors[self] = math_ops.cast(input_tensor, dtypes.float32)

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        input_tensor = math_ops.cast(self._to_dense_tensor(input_tensor), dtypes.float32)
        return _reshape_real_valued_tensor(input_tensor, output_rank, self.name)

    def _to_dense_tensor(self, input_tensor):
        return input_tensor

    @property
    def _variable_shape(self):
        return tensor_shape.TensorShape([self.dimension])

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return inputs.get(self)

    def _transform_feature(self, inputs):
        return math_ops.cast(self._normalized_input_tensor(inputs.get(self.name)), dtypes.float32)

    @property
    def _parse_example_spec(self):
        return self.config


def _default_values(default_value, dimension, dtype, where):
    """`default_value` as a list of `dimension` values of `dtype`."""
    values = default_value if isinstance(default_value, list) else [default_value] * dimension
    if len(values) != dimension:
        raise ValueError(f"default_value must have dimension ({dimension}) elements, got {default_value}. {where}")
    numbers = (int,) if dtype.is_integer else (int, float)
    if not all(isinstance(v, numbers) for v in values):
        raise TypeError(f"default_value must be compatible with dtype {dtype}, got {default_value}. {where}")
    return values if dtype.is_integer else [float(v) for v in values]


def real_valued_column(column_name, dimension=1, default_value=None, dtype=dtypes.float32, normalizer=None):
    """A number feature of fixed length.

    Args:
      column_name: name of the feature.
      dimension: number of values in an example.
      default_value: a number, or a list of `dimension` numbers, for examples without the feature; None: parsing such one fails.
      dtype: a float or integer type.
      normalizer: function of the parsed tensor `[batch, dimension]`, or None.

    Returns:
      A column.

    Raises:
      TypeError: if `dimension` is no int, or `default_value` not of `dtype`.
      ValueError: if `dimension` is not positive, `dtype` no number type, or `default_value` of another length.
    """
    where = f"column_name: {column_name}"
    if not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer, got {dimension!r}. {where}")
    if dimension < 1:
        raise ValueError(f"dimension must be above 0, got {dimension}. {where}")
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float, got {dtype}. {where}")
    if default_value is not None:
        default_value = _default_values(default_value, dimension, dtype, where)
    return _RealValuedColumn(column_name, dimension, default_value, dtype, normalizer)


_BucketizedColumnFields = collections.namedtuple("_BucketizedColumn", ["source_column", "boundaries"])


class _BucketizedColumn(_FeatureColumn, fc_core._CategoricalColumn, fc_core._DenseColumn, _BucketizedColumnFields):
    """See `bucketized_column`."""

    def __new__(cls, source_column, boundaries):
        if not isinstance(source_column, _RealValuedColumn):
            raise TypeError(f"source_column must be made by real_valued_column, got {source_column}")
        if not isinstance(boundaries, (list, tuple)) or not boundaries:
            raise ValueError(f"boundaries must be a non-empty list or tuple, got {boundaries!r}")
        if any(a > b for a, b in zip(boundaries, boundaries[1:])):
            raise ValueError(f"boundaries must be sorted, got {boundaries}")
        # Equal boundaries count once.
        distinct = tuple(a for a, b in zip(boundaries, boundaries[1:]) if a != b) + (boundaries[-1],)
        return super().__new__(cls, source_column, distinct)

    @property
    def name(self):
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self):
        """Number of buckets of one value."""
        return len(self.boundaries) + 1

    @property
    def config(self):
        return self.source_column.config

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        if output_rank != 2:
            raise ValueError(f"A bucketized column supports output_rank 2 alone, got {output_rank}")
        buckets = math_ops.cast(input_tensor, dtypes.int64)
        one_hot = array_ops.one_hot(buckets, self.length, 1.0, 0.0, name="one_hot")
        return array_ops.reshape(one_hot, [-1, self.length * self.source_column.dimension], name="reshape")

    def to_sparse_tensor(self, input_tensor):
        """Buckets `[batch, dimension]` as a SparseTensor of ids; value i has the ids from `i * length` on."""
        dimension = self.source_column.dimension
        batch_size = array_ops.shape(input_tensor, name="shape")[0]
        flat = array_ops.reshape(input_tensor, [-1], name="reshape")
        rows = math_ops.range(0, batch_size)
        if dimension > 1:
            rows = array_ops.reshape(
                array_ops.tile(array_ops.expand_dims(rows, 1, name="expand_dims"), [1, dimension], name="tile"),
                [-1],
                name="reshape",
            )
            positions = array_ops.tile(math_ops.range(0, dimension), [batch_size], name="tile")
            flat = flat + self.length * positions
        else:
            positions = array_ops.zeros([batch_size], dtype=dtypes.int32, name="zeros")
        indices = math_ops.cast(array_ops.transpose(array_ops_stack.stack((rows, positions))), dtypes.int64)
        shape = math_ops.cast(array_ops_stack.stack([batch_size, dimension]), dtypes.int64)
        return sparse_tensor.SparseTensor(indices, flat, shape)

    def _wide_embedding_lookup_arguments(self, input_tensor):
        return _LinearEmbeddingLookupArguments(
            input_tensor=self.to_sparse_tensor(input_tensor),
            weight_tensor=None,
            vocab_size=self._num_buckets,
            initializer=init_ops.zeros_initializer(),
            combiner="sum",
        )

    def _transform_feature(self, inputs):
        return bucketization_op.bucketize(
            inputs.get(self.source_column), boundaries=list(self.boundaries), name="bucketize"
        )

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = self._transform_feature(_LazyBuilderByColumnsToTensor(columns_to_tensors))

    @property
    def _parse_example_spec(self):
        return self.config

    @property
    def _num_buckets(self):
        return self.length * self.source_column.dimension

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        return fc_core._CategoricalColumn.IdWeightPair(self.to_sparse_tensor(inputs.get(self)), None)

    @property
    def _variable_shape(self):
        return tensor_shape.TensorShape([self._num_buckets])

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return self._to_dnn_input_layer(inputs.get(self), weight_collections, trainable)


def bucketized_column(source_column, boundaries):
    """A number feature cut into buckets.

    Args:
      source_column: made by `real_valued_column`.
      boundaries: sorted numbers; [a, b] makes the buckets below a, [a, b), and from b on.

    Returns:
      A column, of ids for linear models, one-hot for networks.

    Raises:
      TypeError: if `source_column` is another column.
      ValueError: if `boundaries` is empty or not sorted.
    """
    return _BucketizedColumn(source_column, boundaries)
