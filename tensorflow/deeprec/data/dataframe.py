"""What batches of columns are made of: DataFrame.Field says what a column is, DataFrame.Value is a batch of a list column."""

import collections
import copy

import numpy as np

from tensorflow.python.data.util import nest
from tensorflow.python.framework import dtypes, ops, sparse_tensor, tensor_shape, tensor_spec
from tensorflow.python.ops import array_ops, check_ops, math_ops, sparse_ops
from tensorflow.python.ops.ragged import ragged_gather_ops, ragged_tensor


class Field:
    """A column.

    Args:
      name: of the column.
      dtype: of its elements; None: that of the file.
      ragged_rank: list levels that become row splits; None: all that the file has.
      shape: what stands for one value, fully defined: a batch is [rows] + shape, and with a ragged_rank of 1 the values are [n] + shape.
        Lists of one length may be read so.
      default_value: what rows hold if the file has no such column, in datasets that fill in columns. It has no effect on a column
        that is there.

    Raises:
      TypeError: `name` is no string, or `dtype` no dtype.
      ValueError: `shape` is not fully defined, or beside a ragged_rank above 1.
    """

    def __init__(self, name, dtype=None, ragged_rank=None, shape=None, default_value=None):
        if not isinstance(name, str):
            raise TypeError(f"the name of a field must be a string, got {name!r}")
        self._name = name
        try:
            self._dtype = None if dtype is None else dtypes.as_dtype(np.bytes_ if dtype in ("O", object) else dtype)
        except TypeError as e:
            raise TypeError(f"dtype of field {name!r} must be a dtype, got {dtype!r}") from e
        if ragged_rank is not None and ragged_rank < 0:
            raise ValueError(f"ragged_rank of field {name!r} must not be negative, got {ragged_rank}")
        self._ragged_rank = None if ragged_rank is None else int(ragged_rank)
        self._shape = None
        if shape is not None:
            self._shape = tensor_shape.TensorShape(shape)
            if not self._shape.is_fully_defined():
                raise ValueError(f"shape of field {name!r} must be fully defined, got {shape}")
            if self._ragged_rank is not None and self._ragged_rank > 1 and self._shape.rank:
                raise ValueError(f"field {name!r} must have a ragged_rank of 0 or 1 beside a shape, got {ragged_rank}")
        self._default_value = default_value
        self._restore_idx_field = None

    name = property(lambda self: self._name, doc="Of the column.")
    dtype = property(lambda self: self._dtype, doc="Of the elements; None: not known yet.")
    ragged_rank = property(
        lambda self: self._ragged_rank, doc="List levels that become row splits; None: not known yet."
    )
    default_value = property(lambda self: self._default_value, doc="For files without the column.")
    restore_idx_field = property(
        lambda self: self._restore_idx_field, doc="The column of indices that this one is restored by; see deduplicate."
    )
    incomplete = property(
        lambda self: self._dtype is None or self._ragged_rank is None, doc="Whether the file has to say what this is."
    )

    @property
    def shape(self) -> tensor_shape.TensorShape:
        """Of what stands for one value; [] where none was given."""
        return tensor_shape.TensorShape([]) if self._shape is None else self._shape

    def set_restore_idx_field(self, field) -> None:
        self._restore_idx_field = field

    def renamed(self, name: str) -> "Field":
        """The same field under another name."""
        other = copy.copy(self)
        other._name = name
        return other

    def map(self, func, rank=None):
        """An element of this field, made of func(0) for the values and func(1), ... for each row splits."""
        rank = self._complete().ragged_rank if rank is None else rank
        if rank == 0:
            return func(0)
        return Value(func(0), tuple(func(i) for i in range(1, rank + 1)))

    def build_spec(self, batch_size=None):
        """The structure of TensorSpecs of an element; `batch_size` where all batches are of that size."""
        rows = batch_size if self._complete().ragged_rank == 0 else None
        values = tensor_spec.TensorSpec(tensor_shape.TensorShape([rows]).concatenate(self.shape), self._dtype)
        splits = tensor_spec.TensorSpec([None], dtypes.int32)
        return self.map(lambda i: splits if i else values)

    output_specs = property(build_spec, doc="TensorSpecs of an element.")

    @property
    def output_classes(self):
        """Classes of an element."""
        return self.map(lambda i: ops.Tensor)

    @property
    def output_types(self):
        """Dtypes of an element."""
        return nest.map_structure(lambda spec: spec.dtype, self.build_spec())

    @property
    def output_shapes(self):
        """Shapes of an element."""
        return nest.map_structure(lambda spec: spec.shape, self.build_spec())

    @property
    def ragged_indices(self) -> list[int]:
        """For each component of an element, how many row splits follow it."""
        return list(range(self._complete().ragged_rank, -1, -1))

    def _complete(self) -> "Field":
        if self.incomplete:
            raise ValueError(f"field {self._name!r} has no dtype or no ragged_rank yet; a file must tell, or you")
        return self

    def __repr__(self):
        dtype = self._dtype.name if self._dtype is not None else None
        return f"DataFrame.Field({self._name!r}, dtype={dtype}, ragged_rank={self._ragged_rank}, shape={self.shape.as_list()})"


class Value(collections.namedtuple("DataFrameValue", ("values", "nested_row_splits"))):
    """A batch of a list column.

    `values`: all elements, [n] + shape. `nested_row_splits`: int32 vectors, outermost list level first, as those of tf.RaggedTensor.
    Both are Tensors, or NumPy arrays in what `session.run` returns.
    """

    def __new__(cls, values, nested_row_splits=None):
        return super().__new__(cls, values, tuple(nested_row_splits or ()))

    def to_list(self) -> list:
        """Nested lists of a fetched value, one for each row."""
        result = self.values.tolist() if hasattr(self.values, "tolist") else list(self.values)
        for splits in reversed(self.nested_row_splits):
            result = [result[splits[i] : splits[i + 1]] for i in range(len(splits) - 1)]
        return result

    def _is_dense(self) -> bool:
        splits = len(self.nested_row_splits)
        return splits == 0 or (splits == 1 and self.values.shape.rank is not None and self.values.shape.rank > 1)

    def _ragged(self, name=None):
        return ragged_tensor.RaggedTensor.from_nested_row_splits(
            self.values, self.nested_row_splits, name=name, validate=False
        )

    def to_tensor(self, name=None):
        """A Tensor of all rows, shorter lists filled up with 0; the values themselves where they have a fixed shape."""
        return self.values if self._is_dense() else self._ragged().to_tensor(name=name)

    def to_sparse(self, name=None):
        """A SparseTensor whose rank is that of the lists; the values themselves where they have a fixed shape."""
        return self.values if self._is_dense() else self._ragged().to_sparse(name=name)

    def restore_deduplicated_to_tensor(self, restore_idx, name=None):
        """to_tensor of the rows that a deduplicated column stands for; see restore_deduplicated_to_sparse."""
        restored = self._restore(restore_idx)
        return restored.to_tensor(name=name) if isinstance(restored, ragged_tensor.RaggedTensor) else restored

    def restore_deduplicated_to_sparse(self, restore_idx, name=None):
        """The rows that a deduplicated column stands for: row (b, t) of the result is list restore_idx[b, t] of block b.

        Args:
          restore_idx: int64 [blocks, rows of a block].

        Returns:
          Rows of all blocks, one after another: a Tensor if the column has one list level, that of its blocks; else a SparseTensor.
        """
        restored = self._restore(restore_idx)
        return restored.to_sparse(name=name) if isinstance(restored, ragged_tensor.RaggedTensor) else restored

    def _restore(self, restore_idx):
        if not self.nested_row_splits:
            raise ValueError(
                "a deduplicated column holds a list for each block of rows, but this one has no list level"
            )
        splits = math_ops.cast(self.nested_row_splits[0], dtypes.int64)
        # Out of its own block, an index would find rows of another one.
        index = math_ops.cast(restore_idx, dtypes.int64)
        starts, ends = splits[:-1, None], splits[1:, None]
        outside = check_ops.assert_less(starts + index, ends, message="an index is outside of its block")
        negative = check_ops.assert_non_negative(index, message="an index is outside of its block")
        with ops.control_dependencies([op for op in (outside, negative) if op is not None]):
            flat = array_ops.reshape(starts + index, [-1])
        if len(self.nested_row_splits) == 1:
            return array_ops.gather(self.values, flat)
        rows = ragged_tensor.RaggedTensor.from_nested_row_splits(
            self.values, self.nested_row_splits[1:], validate=False
        )
        return ragged_gather_ops.gather(rows, flat)

    @property
    def deduplicated_idx(self):
        """The column of indices that this value is restored by; None for none."""
        return getattr(self, "_deduplicated_idx", None)

    def set_deduplicated_idx(self, field) -> None:
        self._deduplicated_idx = field


class DataFrame:
    """Batches of columns, as dicts from names to Tensors and Values."""

    Field = Field
    Value = Value

    @classmethod
    def parse(cls, features, pad=False, restore_idx=None):
        """Makes Tensors and SparseTensors of a structure of Tensors and Values.

        Args:
          features: a Value, a Tensor, or a dict or list of such.
          pad: False: SparseTensors. True: Tensors filled up with 0. A list of ints: the same, and filled up to that full shape, the
            batch included. A dict from names to one of these, where `features` is a dict; False for names that are not in it.
          restore_idx: where features is a deduplicated value, the indices that restore it.

        Raises:
          ValueError: `pad` is none of these, or has names that are not in `features`.
          InvalidArgumentError: when it runs: a column is larger than the shape that `pad` gives it.
        """
        return _parse(features, pad, restore_idx, "a column")

    @classmethod
    def to_sparse(cls, features):
        """SparseTensors in place of Values."""
        return cls.parse(features)

    @classmethod
    def unbatch_and_to_sparse(cls, features):
        """The row of a batch of 1, without its batch dimension: SparseTensors of rank ragged_rank in place of Values.

        Raises:
          ValueError: the batch has another number of rows; InvalidArgumentError where only a run tells.
        """
        return _only_row(features, "the batch")

    @classmethod
    def populate_defaults(cls, features, all_fields, batch_size):
        """Adds the columns that files do not have.

        Args:
          features: a dict of parsed columns.
          all_fields: fields; those that are not in `features` are added with their default_value.
          batch_size: rows of the batch, an int or a scalar Tensor.

        Returns:
          A new dict, in the order of the fields. A default_value of one row stands in every row.

        Raises:
          ValueError, TypeError: such a field has no default_value, or one of another dtype.
        """
        result = {}
        for field in all_fields:
            if field.name in features:
                result[field.name] = features[field.name]
            elif field.default_value is None:
                raise ValueError(f"field {field.name!r} is not in the data and has no default_value")
            else:
                result[field.name] = _repeated(field, batch_size)
        return result


def to_sparse(num_parallel_calls=None):
    """A transformation, for `Dataset.apply`: SparseTensors in place of the Values of list columns."""
    return lambda dataset: dataset.map(DataFrame.to_sparse, num_parallel_calls=num_parallel_calls)


def unbatch_and_to_sparse(num_parallel_calls=None):
    """A transformation, for `Dataset.apply`, of batches of one row into rows; list columns become SparseTensors."""
    return lambda dataset: dataset.map(DataFrame.unbatch_and_to_sparse, num_parallel_calls=num_parallel_calls)


def _parse(features, pad, restore_idx, what):
    if isinstance(features, Value):
        return _parse_value(features, pad, restore_idx, what)
    if isinstance(features, dict):
        pads = pad if isinstance(pad, dict) else dict.fromkeys(features, pad)
        unknown = sorted(set(pads) - set(features))
        if unknown:
            raise ValueError(
                f"pad must have names of columns, {', '.join(features)}, got {', '.join(map(repr, unknown))}"
            )
        return {name: _parse(value, pads.get(name, False), None, f"column {name}") for name, value in features.items()}
    if isinstance(features, (list, tuple)):
        return type(features)([_parse(value, pad, None, what) for value in features])
    return features


def _parse_value(value, pad, restore_idx, what):
    dense = pad is True or isinstance(pad, (list, tuple))
    if not dense and pad is not False:
        raise ValueError(f"pad of {what} must be a bool, a list of ints, or a dict of these, got {pad!r}")
    if restore_idx is None:
        result = value.to_tensor() if dense else value.to_sparse()
    else:
        result = (value.restore_deduplicated_to_tensor if dense else value.restore_deduplicated_to_sparse)(restore_idx)
    if not isinstance(pad, (list, tuple)):
        return result
    if result.shape.rank is not None and result.shape.rank != len(pad):
        raise ValueError(f"pad of {what} must have {result.shape.rank} dimensions, got {list(pad)}")
    shape = array_ops.shape(result)
    full = array_ops.constant(list(pad), dtypes.int32)
    fits = check_ops.assert_less_equal(shape, full, message=f"{what} is larger than its pad {list(pad)}")
    with ops.control_dependencies([fits] if fits is not None else []):
        missing = full - shape
    padded = array_ops.pad(result, array_ops.stack([array_ops.zeros_like(missing), missing], axis=1))
    padded.set_shape(pad)
    return padded


def _only_row(features, what):
    if isinstance(features, dict):
        return {name: _only_row(value, f"column {name}") for name, value in features.items()}
    if not isinstance(features, Value):
        if isinstance(features, (list, tuple)):
            return type(features)([_only_row(value, what) for value in features])
        return array_ops.squeeze(_with_one_row(features, 1, what), axis=[0])
    if not features.nested_row_splits:
        return array_ops.squeeze(_with_one_row(features.values, 1, what), axis=[0])
    outer, *inner = features.nested_row_splits
    # The outermost splits of one row are [0, n].
    length = _with_one_row(outer, 2, what)[1]
    if not inner:
        length = math_ops.cast(length, dtypes.int64)
        return sparse_tensor.SparseTensor(math_ops.range(length)[:, None], features.values, length[None])
    with ops.control_dependencies([length]):
        inner[0] = array_ops.identity(inner[0])
    return ragged_tensor.RaggedTensor.from_nested_row_splits(features.values, inner, validate=False).to_sparse()


def _with_one_row(tensor, size, what):
    """`tensor`, checked to have `size` elements along its first dimension, as one row has."""
    static = tensor.shape[:1].as_list() if tensor.shape.rank else [None]
    message = f"unbatch_and_to_sparse takes batches of one row; {what} has another number of rows"
    if static[0] is not None and static[0] != size:
        raise ValueError(f"{message}: {static[0] - size + 1}")
    rows = array_ops.shape(tensor)[0] - (size - 1)
    with ops.control_dependencies([check_ops.assert_equal(rows, 1, message=message)]):
        return array_ops.identity(tensor)


def _repeated(field, batch_size):
    value = field.default_value
    if isinstance(value, sparse_tensor.SparseTensorValue):
        value = sparse_tensor.SparseTensor.from_value(value)
    if isinstance(value, sparse_tensor.SparseTensor):
        row = sparse_ops.sparse_expand_dims(value, 0)
        return _tiled_sparse(row, batch_size)
    try:
        row = ops.convert_to_tensor(value, dtype=field.dtype)
    except (TypeError, ValueError) as e:
        dtype = "one dtype" if field.dtype is None else field.dtype.name
        raise type(e)(f"default_value of field {field.name!r} must be of {dtype}, got {value!r}") from e
    times = array_ops.concat(
        [[math_ops.cast(batch_size, dtypes.int32)], array_ops.ones([array_ops.rank(row)], dtypes.int32)], 0
    )
    return array_ops.tile(row[None], times)


def _tiled_sparse(row, batch_size):
    """`row`, a SparseTensor of one row, batch_size times."""
    count = array_ops.shape(row.indices, out_type=dtypes.int64)[0]
    size = math_ops.cast(batch_size, dtypes.int64)
    indices = array_ops.tile(row.indices, [math_ops.cast(size, dtypes.int32), 1])
    rows = array_ops.reshape(
        array_ops.tile(math_ops.range(size)[:, None], [1, math_ops.cast(count, dtypes.int32)]), [-1]
    )
    indices = array_ops.concat([rows[:, None], indices[:, 1:]], axis=1)
    values = array_ops.tile(row.values, [math_ops.cast(size, dtypes.int32)])
    return sparse_tensor.SparseTensor(indices, values, array_ops.concat([[size], row.dense_shape[1:]], 0))
