"""`lookup_sparse` and `all2all_dense_embedding`."""

import numbers

import tensorflow as tf
from tensorflow.deeprec.embedding import combine

from sparse_operation_kit import exchange, local_lookup, naming, runtime
from sparse_operation_kit.dynamic_variable import DynamicVariable
from sparse_operation_kit.variables import _Sharded

_COMBINERS = ("sum", "mean")


def lookup_sparse(
    params, sp_ids, *args, sp_weights=None, combiners=None, hotness=None, use_low_frequency_filter=False, name=None
):
    """Looks up and combines rows of several tables, on whichever ranks they are. All ranks must call it.

    It takes the arguments of all releases: `(params, sp_ids, hotness, combiners)`, `(params, sp_ids, combiners)` and `(params,
    sp_ids, sp_weights=None, combiners=None, use_low_frequency_filter=False)`.

    Args:
      params: sok.Variable or DynamicVariable, or a list of them.
      sp_ids: of each table a SparseTensor `[batch, columns]`, in row-major order, or RaggedTensor of int32 or int64 keys; those of
        this rank's batch.
      *args: positional arguments after sp_ids, told apart by what they are: lists of ints are the hotness, strings the
        combiners, sparse or ragged tensors the weights.
      sp_weights: of each table the same of floats as of keys, at the same indices, or None: 1.
      combiners: of each table, or for all, "sum" of weight * row, or "mean" (None), that over the sum of the weights.
      hotness: of each table an int, the most keys that a row has. Checked.
      use_low_frequency_filter: whether a new key gets into a "hybrid" table with probability `filter_ratio` only; one that does
        not reads as 0.
      name: name of the ops.

    Returns:
      A list of `[batch, dim]`, or one if sp_ids is no list. A row without keys is 0. The gradient of a table is
      tf.IndexedSlices of the rows that this rank holds, summed over the batches of all ranks: local rows of a sok.Variable, keys of a
      DynamicVariable.

    Raises:
      RuntimeError: before `sok.init()`.
      TypeError, ValueError: an argument does not fit.
      tf.errors.InvalidArgumentError: (when run) a key is not in [0, rows) of a sok.Variable, a row has more keys than its
        hotness, sp_weights are not where sp_ids are, or these are not in row-major order or outside of their dense_shape.
    """
    runtime.transport()
    sp_weights, combiners, hotness, use_low_frequency_filter = _told_apart(
        args, sp_weights, combiners, hotness, use_low_frequency_filter
    )
    several = isinstance(sp_ids, (list, tuple))
    params = list(params) if isinstance(params, (list, tuple)) else [params]
    sp_ids = list(sp_ids) if several else [sp_ids]
    n = len(params)
    sp_weights = _per_table(sp_weights, n, "sp_weights")
    combiners = ["mean" if c is None else c for c in _per_table(combiners, n, "combiners")]
    hotness = _per_table(hotness, n, "hotness")
    if len(sp_ids) != n:
        raise ValueError(f"sp_ids must have one element for each of the {n} params, got {len(sp_ids)}")
    results = []
    with tf.name_scope(name or "lookup_sparse"):
        for variable, *of_table in zip(params, sp_ids, sp_weights, combiners, hotness):
            _check_table(variable)
            with naming.lookup_of(variable):
                results.append(_lookup(variable, *of_table, use_low_frequency_filter))
    return results if several else results[0]


def _told_apart(args, sp_weights, combiners, hotness, use_filter):
    given = {"sp_weights": sp_weights, "combiners": combiners, "hotness": hotness}
    flag_given = False
    for i, value in enumerate(args):
        if isinstance(value, bool):
            if flag_given:
                raise TypeError("lookup_sparse got use_low_frequency_filter twice")
            use_filter, flag_given = value, True
            continue
        argument = _kind(value)
        if argument is None:
            # None stands where the newest signature has it.
            if i > 1:
                raise TypeError(f"positional argument {i + 3} of lookup_sparse must not be None")
            continue
        if given[argument] is not None:
            raise TypeError(f"lookup_sparse got {argument} twice")
        given[argument] = value
    return given["sp_weights"], given["combiners"], given["hotness"], use_filter


def _kind(value):
    """Which argument a positional value is; None for None."""
    first = value
    if isinstance(value, (list, tuple)):
        first = next((x for x in value if x is not None), None)
    if first is None:
        return None
    if isinstance(first, str):
        return "combiners"
    if isinstance(first, numbers.Integral):
        return "hotness"
    if isinstance(first, (tf.SparseTensor, tf.RaggedTensor)):
        return "sp_weights"
    raise TypeError(
        "positional arguments of lookup_sparse after sp_ids must be hotness (ints), combiners (strings) or sp_weights "
        f"(sparse or ragged tensors), got {value!r}"
    )


def _per_table(value, n, argument) -> list:
    if not isinstance(value, (list, tuple)):
        return [value] * n if argument == "combiners" or value is None or n == 1 else _wrong_length(value, n, argument)
    return list(value) if len(value) == n else _wrong_length(value, n, argument)


def _wrong_length(value, n, argument):
    raise ValueError(f"{argument} must be a list of {n}, one for each of params, got {value!r}")


def _check_table(variable):
    if not isinstance(variable, (_Sharded, DynamicVariable)):
        raise TypeError(f"params must be sok.Variable or sok.DynamicVariable, got {type(variable).__name__}")


def _sparse(value, argument):
    if isinstance(value, tf.RaggedTensor):
        if value.shape.rank != 2:
            raise ValueError(f"{argument} must have rank 2, got a ragged tensor of rank {value.shape.rank}")
        return value.to_sparse()
    if not isinstance(value, tf.SparseTensor):
        raise TypeError(f"{argument} must be SparseTensors or RaggedTensors, got {type(value).__name__}")
    if value.shape.rank not in (None, 2):
        raise ValueError(f"{argument} must have rank 2, got shape {value.shape}")
    return value


def _lookup(variable, sp_ids, sp_weights, combiner, hotness, use_filter):
    if combiner not in _COMBINERS:
        raise ValueError(f"combiners must be of {', '.join(_COMBINERS)}, got {combiner!r}")
    if not variable.dtype.base_dtype.is_floating:
        raise TypeError(f"params must be of floats, got {variable.name} of {variable.dtype.base_dtype.name}")
    ids = _sparse(sp_ids, "sp_ids")
    values = checked_keys(variable, ids.values)
    weights = None if sp_weights is None else _checked_weights(variable, ids, _sparse(sp_weights, "sp_weights"))
    if hotness is not None:
        values = _check_hotness(variable, ids, values, hotness)
    if runtime.transport().size == 1 and not use_filter and local_lookup.fits(variable):
        combined = local_lookup.lookup(variable, values, ids, weights, combiner)
    else:
        keys, index = tf.unique(values)
        rows, positions = exchange.fetch(variable, keys, _read_filtered if use_filter else None)
        num_rows = tf.cast(ids.dense_shape[0], tf.int32)
        combined = combine.combine(rows, tf.gather(positions, index), ids, weights, combiner, num_rows=num_rows)
    return tf.ensure_shape(combined, [ids.shape.as_list()[0] if ids.shape.rank else None, variable.dimension])


def _checked_weights(variable, ids, weights):
    """The values of a SparseTensor of weights, which must stand where the ids do."""
    same = tf.reduce_all(tf.equal(tf.shape(weights.values), tf.shape(ids.values)))
    # Mostly they are made of one tensor of places.
    if weights.indices is not ids.indices:
        # Those of another number are not the same, and no error of its own.
        places = tf.raw_ops.Equal(x=weights.indices, y=ids.indices, incompatible_shape_error=False)
        same = tf.logical_and(same, tf.reduce_all(places))
    message = f"sp_weights of {variable.name} must have one weight for each of sp_ids, at the same indices"
    check = tf.debugging.Assert(same, [message])
    with tf.control_dependencies([] if check is None else [check]):
        return tf.stop_gradient(tf.identity(weights.values))


def checked_keys(variable, keys):
    """Keys as int64 (int32 where the table has such), checked against the rows of a static table.

    Raises:
      TypeError: they are no integers of 32 or 64 bits.
    """
    keys = tf.convert_to_tensor(keys)
    if keys.dtype not in (tf.int32, tf.int64):
        raise TypeError(f"keys of {variable.name} must be int32 or int64, got {keys.dtype.name}")
    if isinstance(variable, DynamicVariable):
        return variable.cast_keys(keys)
    rows = variable.global_shape.as_list()[0]
    message = f"keys of {variable.name} must be in [0, {rows})"
    checks = [
        tf.debugging.assert_non_negative(keys, message=message),
        tf.debugging.assert_less(tf.cast(keys, tf.int64), tf.constant(rows, tf.int64), message=message),
    ]
    # Where keys are known, or eagerly, there is no op.
    with tf.control_dependencies([check for check in checks if check is not None]):
        return tf.cast(tf.identity(keys), tf.int64)


def _check_hotness(variable, ids, values, hotness):
    if not isinstance(hotness, numbers.Integral) or isinstance(hotness, bool) or hotness < 1:
        raise ValueError(f"hotness must be positive ints, got {hotness!r}")
    lengths = tf.math.bincount(tf.cast(ids.indices[:, 0], tf.int32))
    check = tf.debugging.assert_less_equal(
        lengths, int(hotness), message=f"a row of the ids of {variable.name} has more keys than its hotness, {hotness}"
    )
    with tf.control_dependencies([] if check is None else [check]):
        return tf.identity(values)


def _read_filtered(variable, keys):
    """As `exchange.read_rows`, but new keys get into a hybrid table with its filter's probability, or read as 0."""
    if not isinstance(variable, DynamicVariable) or variable.backend_type != "hybrid":
        return exchange.read_rows(variable, keys)
    drawn = tf.random.uniform(tf.shape(keys)) < variable.filter_ratio
    kept = tf.where(tf.logical_or(tf.logical_not(variable.missing(keys)), drawn))
    rows = variable.sparse_read(tf.gather(keys, kept[:, 0]))
    shape = tf.stack([tf.size(keys, out_type=tf.int64), tf.constant(variable.dimension, tf.int64)])
    return tf.scatter_nd(kept, rows, shape)


def all2all_dense_embedding(param, indices):
    """The rows of keys of one table, on whichever ranks they are. All ranks must call it.

    Args:
      param: sok.Variable or DynamicVariable.
      indices: `[n]` int32 or int64 keys; n may differ between ranks, and be 0.

    Returns:
      `[n, dim]`. Gradients as of `lookup_sparse`.

    Raises:
      RuntimeError, TypeError, ValueError, tf.errors.InvalidArgumentError: as of `lookup_sparse`.
    """
    runtime.transport()
    _check_table(param)
    indices = tf.convert_to_tensor(indices)
    if indices.shape.rank not in (None, 1):
        raise ValueError(f"indices must have rank 1, got shape {indices.shape}")
    with tf.name_scope("all2all_dense_embedding"), naming.lookup_of(param):
        keys, index = tf.unique(checked_keys(param, indices))
        rows, positions = exchange.fetch(param, keys)
        return tf.gather(rows, tf.gather(positions, index))
