"""`sok.Variable`: a static table, its rows spread over the ranks or all on one of them."""

import itertools

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import tensor_util
from tensorflow.python.ops import resource_variable_ops

from sparse_operation_kit import communication, placement

_numbers = itertools.count()


class _Sharded(placement.Placed, resource_variable_ops.ResourceVariable):
    """This rank's part of a table of `global_shape` rows."""

    def __init__(self, initial_value=None, *args, target, global_shape, **kwargs):
        self._global_shape = tf.TensorShape(global_shape)
        self._target = target
        super().__init__(initial_value, *args, **kwargs)

    @classmethod
    def _variable_call(cls, *unused_args, **unused_kwargs):
        """Tells the metaclass of variables to call this class, not the creators of `tf.Variable`."""
        return None

    @property
    def global_shape(self):
        """`[rows, dim]` of the whole table."""
        return self._global_shape

    @property
    def dimension(self) -> int:
        """Elements of a row."""
        return int(self._global_shape.as_list()[1])

    @property
    def description(self) -> str:
        """What is the same on all ranks, in words."""
        return f"{self.name} {self._global_shape.as_list()} {self.dtype.base_dtype.name} {self.mode}"


class DistributedVariable(_Sharded):
    """Rank r holds rows r, r + n, r + 2 n, ... of n ranks."""

    def key_map(self, indices):
        """The local rows of keys that this rank holds."""
        if self.num_gpus == 1:
            return tf.identity(indices)
        return tf.math.floordiv(indices, tf.cast(self.num_gpus, indices.dtype))


class LocalizedVariable(_Sharded):
    """One rank holds all rows, the others `[0, dim]`."""

    def key_map(self, indices):
        """The local rows of keys: the keys."""
        return tf.identity(indices)


def Variable(initial_value=None, *args, mode=None, **kwargs):
    """A table of a fixed number of rows that lookups find by row number; any optimizer trains it.

    Args:
      initial_value: the whole table, `[rows, dim]` (or `[dim]`, one row): list, array, tensor, or a callable that returns one. The
        same on all ranks.
      *args: of `tf.Variable`, from `trainable` on.
      mode: "distributed" (or None): rank r of n holds rows r, r + n, ...; "localized:k": rank k holds all.
      **kwargs: of `tf.Variable`; without an initial_value `shape`, that of the whole table, and `initializer`: a callable
        (shape, dtype=) -> tensor, or the name of one in `tf.keras.initializers`. Each rank initializes its own rows.

    Returns:
      A DistributedVariable or LocalizedVariable, whose shape is that of this rank's part.

    Raises:
      RuntimeError: another mode, a rank that there is not, or before `sok.init()`.
      ValueError: a shape that is no table's, or not known; a dtype of no numbers; initial_value and initializer both, or neither.
    """
    target = placement.target_of(mode)
    shape, initializer = kwargs.pop("shape", None), kwargs.pop("initializer", None)
    if kwargs.get("name") is None:
        kwargs["name"] = f"sok_static_Variable_{next(_numbers)}"
    if (initial_value is None) == (initializer is None):
        raise ValueError("sok.Variable needs either initial_value or shape and initializer")
    if initial_value is None:
        if shape is None:
            raise ValueError("shape must be given with an initializer")
        global_shape = _table_shape(tf.TensorShape(shape), "shape")
        local = _initialized(initializer, global_shape, target, kwargs.setdefault("dtype", tf.float32))
    else:
        local, global_shape = _own_rows(initial_value, target, kwargs.get("dtype"))
        if shape is not None and not tf.TensorShape(shape).is_compatible_with(global_shape):
            raise ValueError(f"initial_value must have shape {shape}, got {global_shape}")
    cls = DistributedVariable if target == placement.DISTRIBUTED else LocalizedVariable
    return cls(local, *args, target=target, global_shape=global_shape, **kwargs)


def _table_shape(shape, argument):
    if shape.rank == 1:
        shape = tf.TensorShape([1]).concatenate(shape)
    if shape.rank != 2 or not shape.is_fully_defined() or shape.as_list()[1] < 1:
        raise ValueError(f"{argument} must be that of a table, [rows, dim] with dim > 0, got {shape}")
    return shape


def _check_numeric(dtype):
    dtype = tf.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise ValueError(f"dtype of a table must be of floats or integers, got {dtype.name}")


def _own_rows(initial_value, target, dtype):
    """This rank's rows of a whole table, and the shape of the whole."""
    if callable(initial_value):
        initial_value = initial_value()
    if not tf.is_tensor(initial_value):
        initial_value = np.asarray(initial_value)
        if dtype is None and initial_value.dtype == np.float64:
            # As convert_to_tensor takes Python's floats.
            dtype = tf.float32
        if dtype is not None:
            initial_value = initial_value.astype(tf.as_dtype(dtype).as_numpy_dtype)
        _check_numeric(initial_value.dtype)
        global_shape = _table_shape(tf.TensorShape(initial_value.shape), "initial_value")
        return _part(initial_value.reshape(global_shape.as_list()), target), global_shape
    _check_numeric(initial_value.dtype if dtype is None else dtype)
    static = initial_value.shape
    if not static.is_fully_defined():
        value = tensor_util.constant_value(initial_value)
        static = static if value is None else tf.TensorShape(value.shape)
    global_shape = _table_shape(static, "initial_value")
    initial_value = tf.reshape(initial_value, global_shape.as_list())
    if dtype is not None:
        initial_value = tf.cast(initial_value, dtype)
    return _part(initial_value, target), global_shape


def _part(table, target):
    if target == placement.DISTRIBUTED:
        return table[communication.rank() :: communication.num_ranks()]
    return table if communication.rank() == target else table[:0]


def _initialized(initializer, global_shape, target, dtype):
    _check_numeric(dtype)
    rows, dim = global_shape.as_list()
    if isinstance(initializer, str):
        initializer = tf.keras.initializers.get(initializer)
    if not callable(initializer):
        raise ValueError(f"initializer must be a callable or the name of one, got {initializer!r}")
    shape = [placement.local_rows(rows, target), dim]
    return lambda: tf.cast(initializer(shape, dtype=tf.as_dtype(dtype)), dtype)
