"""Numbers in SparseTensors, and the buckets they fall in."""

import collections

from tensorflow.deeprec.feature_columns import bases
from tensorflow.deeprec.ops import sparse_ops as sequence_ops
from tensorflow.python.feature_column import feature_column as fc_old
from tensorflow.python.feature_column import feature_column_v2 as fc
from tensorflow.python.feature_column import serialization
from tensorflow.python.framework import dtypes, ops, sparse_tensor, tensor_shape
from tensorflow.python.ops import array_ops, array_ops_stack, check_ops, math_ops
from tensorflow.python.ops import sparse_ops as released_sparse_ops

# What the Bucketize op takes.
_BUCKETIZED_DTYPES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


@serialization.register_feature_column
class SparseNumericColumn(
    bases.OfOneFeature,
    fc.DenseColumn,
    fc_old._DenseColumn,
    collections.namedtuple("SparseNumericColumn", ["key", "shape", "dtype"]),
):
    """See `sparse_numeric_column`."""

    def _sparse(self, tensor):
        tensor = fc._to_sparse_input_and_drop_ignore_values(tensor)
        if tensor.dtype.is_integer != self.dtype.is_integer or tensor.dtype.is_floating != self.dtype.is_floating:
            raise ValueError(f"Feature {self.key!r} must be {self.dtype.name}, as its column, got {tensor.dtype.name}")
        return tensor

    def transform_feature(self, transformation_cache, state_manager):
        return self._sparse(transformation_cache.get(self.key, state_manager))

    @property
    def variable_shape(self):
        if self.shape is None:
            raise ValueError(f"sparse_numeric_column({self.key!r}) must have a shape to be used as a dense column.")
        return tensor_shape.TensorShape(self.shape)

    def _dense(self, tensor):
        shape = self.variable_shape.as_list()
        size = self.variable_shape.num_elements()
        flat = sequence_ops.sparse_inner_flatten(tensor, 2)
        fits = check_ops.assert_less(
            flat.indices[:, 1],
            ops.convert_to_tensor(size, dtypes.int64),
            message=f"Rows of feature {self.key!r} must have at most {size} values, as the shape of its column says.",
        )
        with ops.control_dependencies([fits]):
            rows = flat.dense_shape[0]
        flat = sparse_tensor.SparseTensor(
            flat.indices, math_ops.cast(flat.values, dtypes.float32), array_ops_stack.stack([rows, size])
        )
        return array_ops.reshape(released_sparse_ops.sparse_tensor_to_dense(flat), [-1, *shape])

    def get_dense_tensor(self, transformation_cache, state_manager):
        return self._dense(transformation_cache.get(self, state_manager))

    # The same for the older kind of layers.

    @property
    def _variable_shape(self):
        return self.variable_shape

    def _transform_feature(self, inputs):
        return self._sparse(inputs.get(self.key))

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        del weight_collections, trainable
        return self._dense(inputs.get(self))


def sparse_numeric_column(key, shape=None, dtype=dtypes.int64):
    """A column of numbers that come as a SparseTensor, as many as a row has.

    It is the source of `sparse_bucketized_column`. With a shape it is a dense column too: the value at place i of a row is its
    i-th element, as float32, and places without a value are 0.

    Args:
      key: name of the feature; a SparseTensor, or a Tensor in which -1 (integers) or 0 (floats) counts as absent.
      shape: int or ints, positive: of a row as a dense column.
      dtype: integer or float type.

    Returns:
      The column; its parse spec is a VarLenFeature.

    Raises:
      TypeError: a dimension is no int.
      ValueError: another argument is out of range.
    """
    if not isinstance(key, str):
        raise ValueError(f"key must be a string, got {key!r}")
    if shape is not None:
        shape = fc._check_shape(shape, key)
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype of the column of {key!r} must be an integer or float type, got {dtype.name}")
    return SparseNumericColumn(key, shape, dtype)


@serialization.register_feature_column
class SparseBucketizedColumn(
    bases.OfIds,
    fc.CategoricalColumn,
    fc_old._CategoricalColumn,
    collections.namedtuple("SparseBucketizedColumn", ["source_column", "boundaries"]),
):
    """See `sparse_bucketized_column`."""

    @property
    def _is_v2_column(self):
        return True

    @property
    def name(self):
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self):
        return self.source_column.parse_example_spec

    @property
    def num_buckets(self):
        return len(self.boundaries) + 1

    def _ids(self, tensor):
        if not isinstance(tensor, sparse_tensor.SparseTensor):
            # Every number of a dense source is there.
            tensor = _all_of(tensor)
        values = tensor.values
        if values.dtype not in _BUCKETIZED_DTYPES:
            values = math_ops.cast(values, dtypes.float32 if values.dtype.is_floating else dtypes.int64)
        ids = math_ops.cast(math_ops._bucketize(values, boundaries=list(self.boundaries)), dtypes.int64)
        return sparse_tensor.SparseTensor(tensor.indices, ids, tensor.dense_shape)

    @property
    def parents(self):
        return [self.source_column]

    def get_config(self):
        config = dict(zip(self._fields, self))
        config["source_column"] = serialization.serialize_feature_column(self.source_column)
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None, columns_by_name=None):
        fc._check_config_keys(config, cls._fields)
        kwargs = fc._standardize_and_copy_config(config)
        column = serialization.deserialize_feature_column(config["source_column"], custom_objects, columns_by_name)
        return cls(**{**kwargs, "source_column": column})

    @property
    def _parse_example_spec(self):
        return self.source_column._parse_example_spec


def _all_of(tensor):
    everywhere = array_ops.where_v2(array_ops.ones_like(tensor, dtype=dtypes.bool))
    return sparse_tensor.SparseTensor(
        everywhere, array_ops.reshape(tensor, [-1]), array_ops.shape(tensor, out_type=dtypes.int64)
    )


def sparse_bucketized_column(source_column, boundaries):
    """A categorical column of the buckets that the numbers of a sparse column fall in.

    Bucket i holds numbers in `[boundaries[i - 1], boundaries[i])`. Unlike in `bucketized_column`, a row has as many ids as
    numbers, and one set of buckets serves all places.

    Args:
      source_column: a `sparse_numeric_column`, or a `numeric_column` of one dimension.
      boundaries: list or tuple of numbers, each above the one before.

    Returns:
      A categorical column of `len(boundaries) + 1` buckets named `<source>_bucketized`.

    Raises:
      ValueError: an argument is out of range.
    """
    if not isinstance(source_column, (SparseNumericColumn, fc.NumericColumn, fc_old._NumericColumn)):
        raise ValueError(f"source_column must be a sparse_numeric_column or numeric_column, got {source_column!r}")
    if source_column.shape is not None and len(source_column.shape) > 1:
        raise ValueError(f"source_column must have one dimension, got shape {source_column.shape}")
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError(f"boundaries must be a list or tuple, not empty, got {boundaries!r}")
    if any(a >= b for a, b in zip(boundaries, boundaries[1:])):
        raise ValueError(f"boundaries must be in order, each above the one before, got {boundaries!r}")
    return SparseBucketizedColumn(source_column, tuple(boundaries))
