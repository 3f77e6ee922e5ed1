"""The rows of one rank, in and out: `export`, `assign`, `sparse_read_and_evict`; and `filter_variables`."""

import tensorflow as tf

from sparse_operation_kit import communication, lookup, naming, placement
from sparse_operation_kit.dynamic_variable import DynamicVariable
from sparse_operation_kit.variables import _Sharded


def filter_variables(vars):  # pylint: disable=redefined-builtin
    """Splits a list of variables into `(tables of this library, others)`, in their order.

    Raises:
      TypeError: it is no list but one variable.
    """
    if isinstance(vars, (tf.Variable, _Sharded, DynamicVariable)):
        raise TypeError(f"vars must be a list of variables, got {vars!r}")
    tables, others = [], []
    for variable in vars:
        (tables if isinstance(variable, (_Sharded, DynamicVariable)) else others).append(variable)
    return tables, others


def local_keys(variable):
    """The keys of the rows that this rank holds of a sok.Variable, in the order of its rows, int64."""
    rows = tf.range(tf.cast(tf.shape(variable)[0], tf.int64))
    if variable.target_gpu != placement.DISTRIBUTED:
        return rows
    return rows * communication.num_ranks() + communication.rank()


def export(var):
    """The rows that this rank holds: `(keys [n], values [n, dim])`; keys ascend.

    Raises:
      TypeError: var is no table of this library.
    """
    if isinstance(var, DynamicVariable):
        return var.export_with_stamps()[:2]
    if isinstance(var, _Sharded):
        return local_keys(var), tf.convert_to_tensor(var)
    raise TypeError(f"var must be a sok.Variable or sok.DynamicVariable, got {type(var).__name__}")


def assign(var, indices, values):
    """Sets rows that this rank holds. Keys that a DynamicVariable has no row for are inserted; a "hybrid" one evicts others for them.

    Args:
      var: sok.Variable or DynamicVariable.
      indices: `[n]` int32 or int64 keys.
      values: `[n, dim]`.

    Returns:
      var, or in a TF1 graph the op.

    Raises:
      TypeError: var is no table of this library, or indices are no int32 or int64.
      ValueError, tf.errors.InvalidArgumentError (where it shows when run): values are not `[n, dim]`.
      tf.errors.InvalidArgumentError: (when run) a key is another rank's, or not in the table; more different keys than `max_capacity`.
    """
    if not isinstance(var, (_Sharded, DynamicVariable)):
        raise TypeError(f"var must be a sok.Variable or sok.DynamicVariable, got {type(var).__name__}")
    indices = lookup.checked_keys(var, indices)
    if indices.shape.rank not in (None, 1):
        raise ValueError(f"indices of {var.name} must have rank 1, got shape {indices.shape}")
    values = checked_rows(tf.convert_to_tensor(values, dtype=var.dtype), var, "values")
    message = f"values of {var.name} must be one row for each of indices"
    checks = [tf.debugging.assert_equal(tf.shape(values)[0], tf.size(indices), message=message)]
    if var.target_gpu == placement.DISTRIBUTED:
        ranks, rank = communication.num_ranks(), communication.rank()
        owners = tf.math.floormod(tf.cast(indices, tf.int64), tf.constant(ranks, tf.int64))
        message = f"indices of {var.name} must be keys of this rank, {rank} of {ranks}: key mod {ranks} = {rank}"
        checks.append(tf.debugging.assert_equal(owners, tf.constant(rank, tf.int64), message=message))
    with tf.control_dependencies([check for check in checks if check is not None]):
        if isinstance(var, DynamicVariable):
            done = var.insert_within_capacity(indices, values)
        else:
            done = var.scatter_update(tf.IndexedSlices(values, var.key_map(indices)))
    return var if tf.executing_eagerly() else done


def checked_rows(rows, table, what):
    """Rows for a table, as they are; the runtime's own scatter ops would read behind the end of narrower ones.

    Raises:
      ValueError, tf.errors.InvalidArgumentError (where it shows when run): they are not `[n, dim]`.
    """
    rows = tf.convert_to_tensor(rows)
    if not rows.shape.is_compatible_with([None, table.dimension]):
        raise ValueError(f"{what} of {table.name} must be [n, {table.dimension}], got {rows.shape}")
    if rows.shape.rank == 2 and rows.shape.as_list()[1] is not None:
        return rows
    # The error names the op, and with it the table.
    return tf.ensure_shape(rows, [None, table.dimension], name=f"{what.replace(' ', '_')}_of_{naming.op_name(table)}")


def sparse_read_and_evict(var, indices):
    """Looks keys up in a "hybrid" DynamicVariable, and tells what it evicts to make room.

    Args:
      var: DynamicVariable of var_type "hybrid".
      indices: `[n]` int64 keys of this rank; those that are not there are inserted.

    Returns:
      `(rows [n, dim], evicted keys [m], evicted rows [m, dim])`.

    Raises:
      TypeError: var is another.
    """
    if not isinstance(var, DynamicVariable) or var.backend_type != "hybrid":
        raise TypeError(f'var must be a DynamicVariable of var_type "hybrid", got {var!r}')
    rows = var.sparse_read_without_eviction(indices)
    with tf.control_dependencies([rows]):
        keys, values = var.evict()
    return rows, keys, values
