"""Lookups in embedding tables: plain, sparse and combined, and the form that takes any batch."""

from tensorflow.deeprec.embedding import combine, tables
from tensorflow.python.framework import dtypes, ops, sparse_tensor, tensor_shape, tensor_util
from tensorflow.python.ops import (
    array_ops,
    array_ops_stack,
    clip_ops,
    data_flow_ops,
    embedding_ops,
    math_ops,
    sparse_ops,
)
from tensorflow.python.ops.ragged import ragged_tensor

# The keys of a partitioned table are spread by their remainder by this, then by the number of parts.
_BUCKETS = 1000


def shard_of(ids, parts: int):
    """The part that holds each of `ids`, int32: `(id mod 1000) mod parts`, remainders that are never negative."""
    bucket = math_ops.floormod(ids, math_ops.cast(_BUCKETS, ids.dtype))
    return math_ops.cast(math_ops.floormod(bucket, math_ops.cast(parts, ids.dtype)), dtypes.int32)


def check_strategy(partition_strategy) -> None:
    """Raises ValueError for a partition_strategy that there is not."""
    if partition_strategy not in ("mod", "div"):
        raise ValueError(f'partition_strategy must be "mod" or "div", got {partition_strategy!r}')


def check_given(embedding_weights) -> None:
    """Raises ValueError if there are no embedding_weights."""
    if embedding_weights is None or (isinstance(embedding_weights, (list, tuple)) and not embedding_weights):
        raise ValueError(f"embedding_weights must be given, got {embedding_weights!r}")


def lookup(
    params, ids, partition_strategy="mod", name=None, max_norm=None, ev_init_value=None, blocknums=None, counts=None
):
    """`tf.nn.embedding_lookup` in a table.

    Args:
      params: a table, or list or PartitionedVariable of EmbeddingVariables.
      ids: keys, Tensor of any shape or RaggedTensor.
      partition_strategy: used by tables that are made of ordinary variables. EmbeddingVariables have one way: key k is in part
        `(k mod 1000) mod n`, unchanged.
      name: name of the op.
      max_norm: L2 norm to which rows are clipped.
      ev_init_value: `ids.shape + [dim]`: what keys without rows start from.
      blocknums: for tables of dynamic dimension, int of the shape of `ids`: number of blocks of each.
      counts: int of the shape of `ids`: occurrences that each stands for.

    Returns:
      `ids.shape + [dim]`.

    Raises:
      ValueError: an argument is not for such a table, or the ids are of another dtype than its keys.
    """
    if isinstance(ids, ragged_tensor.RaggedTensor):
        rows = lookup(params, ids.flat_values, partition_strategy, name, max_norm, ev_init_value, blocknums, counts)
        return ids.with_flat_values(rows)
    parts = tables.parts_of(params)
    check_strategy(partition_strategy)
    if tables.is_composite(parts[0]):
        return parts[0].lookup(
            ids,
            partition_strategy=partition_strategy,
            name=name,
            max_norm=max_norm,
            ev_init_value=ev_init_value,
            blocknums=blocknums,
            counts=counts,
        )
    if blocknums is not None:
        raise ValueError(f"blocknums is for EmbeddingVariables of dynamic dimension, got it with {params!r}")
    with ops.name_scope(name, "embedding_lookup") as scope:
        ids = ops.convert_to_tensor(ids, name="ids", dtype_hint=parts[0].key_dtype)
        if ids.dtype != parts[0].key_dtype:
            raise ValueError(
                f"ids must be {parts[0].key_dtype.name}, the dtype of the keys of {parts[0].name}, got {ids.dtype.name}"
            )
        if counts is not None:
            counts = ops.convert_to_tensor(counts, name="counts")
            if not counts.dtype.is_integer or not counts.shape.is_compatible_with(ids.shape):
                raise ValueError(
                    f"counts must be integers of the shape of ids, {ids.shape}, got {counts.dtype.name} of shape "
                    f"{counts.shape}"
                )
        if ev_init_value is not None:
            ev_init_value = ops.convert_to_tensor(ev_init_value, dtype=parts[0].dtype, name="ev_init_value")
        if len(parts) == 1:
            with embedding_ops._colocate_with(parts[0]):
                rows = parts[0].sparse_read(ids, name=scope, ev_init_value=ev_init_value, counts=counts)
                rows = clipped(rows, max_norm)
            # The caller's device may be another than the table's.
            return array_ops.identity(rows)
        return clipped(_lookup_in_parts(parts, ids, ev_init_value, counts, scope), max_norm)


def clipped(rows, max_norm):
    """Rows `[..., dim]` with an L2 norm of at most `max_norm`.

    Raises:
      ValueError: max_norm is a number that is not positive.
    """
    if isinstance(max_norm, (int, float)) and not max_norm > 0:
        raise ValueError(f"max_norm must be positive, or None, got {max_norm!r}")
    return rows if max_norm is None else clip_ops.clip_by_norm(rows, max_norm, axes=[-1])


def _lookup_in_parts(parts, ids, ev_init_value, counts, scope):
    flat = array_ops.reshape(ids, [-1])
    shards = shard_of(flat, len(parts))

    def per_part(values):
        return [None] * len(parts) if values is None else data_flow_ops.dynamic_partition(values, shards, len(parts))

    dim = parts[0].shape[0]
    keys = per_part(flat)
    positions = per_part(math_ops.range(array_ops.size(flat)))
    counts = per_part(None if counts is None else array_ops.reshape(counts, [-1]))
    first_rows = per_part(None if ev_init_value is None else array_ops.reshape(ev_init_value, [-1, dim]))
    found = []
    for part, *arguments in zip(parts, keys, first_rows, counts):
        with ops.device(None), embedding_ops._colocate_with(part):
            found.append(part.sparse_read(arguments[0], ev_init_value=arguments[1], counts=arguments[2]))
    rows = data_flow_ops.parallel_dynamic_stitch(positions, found, name=scope)
    rows = array_ops.reshape(rows, array_ops.concat([array_ops.shape(ids), [dim]], 0))
    rows.set_shape(ids.shape.concatenate([dim]))
    return rows


def lookup_sparse(
    params,
    sp_ids,
    sp_weights,
    partition_strategy="mod",
    name=None,
    combiner=None,
    max_norm=None,
    blocknums=None,
):
    """`tf.nn.embedding_lookup_sparse` in a table, or by the combiner "tile" in ordinary variables.

    Args:
      params, partition_strategy, max_norm: as for `lookup`; rows are clipped before they are combined.
      sp_ids: SparseTensor `[rows, columns]` or RaggedTensor of keys. A row without ids is 0, and missing at the end, but
        for "tile".
      sp_weights: the same of floats, or None.
      name: name of the op.
      combiner: see `combine.combine`; None: "mean".
      blocknums: int, one for each value of `sp_ids`; where an id occurs more than once the largest holds for all.

    Returns:
      `[rows, dim]`; for "tile" `[rows, columns * dim]`.

    Raises:
      TypeError: sp_ids or sp_weights are not sparse.
      ValueError: an argument does not fit.
    """
    combiner = combine.checked(combiner)
    sp_ids, sp_weights = sparse_arguments(sp_ids, sp_weights)
    with ops.name_scope(name, "embedding_lookup_sparse") as scope:
        return _combined(
            params, sp_ids, sp_weights, partition_strategy, scope, combiner, max_norm, blocknums, num_rows=None
        )


def _combined(params, sp_ids, sp_weights, partition_strategy, scope, combiner, max_norm, blocknums, num_rows):
    rows, positions = unique_rows(params, sp_ids.values, partition_strategy, max_norm, blocknums)
    weights = None if sp_weights is None else sp_weights.values
    return combine.combine(rows, positions, sp_ids, weights, combiner, num_rows=num_rows, name=scope)


def unique_rows(params, ids, partition_strategy, max_norm, blocknums=None):
    """Looks each of the keys `ids` `[n]` up once: `(rows [u, dim], positions [n])`."""
    if not tables.is_table(params):
        unique_ids, positions = array_ops.unique(ids)
        rows = embedding_ops.embedding_lookup(
            params, unique_ids, partition_strategy=partition_strategy, max_norm=max_norm
        )
        return rows, positions
    counts = None
    if tables.needs_counts(params):
        unique_ids, positions, counts = array_ops.unique_with_counts(ids)
    else:
        unique_ids, positions = array_ops.unique(ids)
    if blocknums is not None:
        blocknums = math_ops.unsorted_segment_max(blocknums, positions, array_ops.size(unique_ids))
    rows = lookup(
        params,
        unique_ids,
        partition_strategy=partition_strategy,
        max_norm=max_norm,
        blocknums=blocknums,
        counts=counts,
    )
    return rows, positions


def sparse_arguments(sp_ids, sp_weights):
    """Ids and weights as SparseTensors.

    Raises:
      TypeError: one of them is neither sparse nor ragged.
      ValueError: their shapes are known to differ.
    """
    if isinstance(sp_ids, ragged_tensor.RaggedTensor):
        sp_ids = sp_ids.to_sparse()
    if isinstance(sp_weights, ragged_tensor.RaggedTensor):
        sp_weights = sp_weights.to_sparse()
    if not isinstance(sp_ids, sparse_tensor.SparseTensor):
        raise TypeError(f"sp_ids must be a SparseTensor, got {type(sp_ids).__name__}")
    if sp_weights is not None:
        if not isinstance(sp_weights, sparse_tensor.SparseTensor):
            raise TypeError(f"sp_weights must be a SparseTensor or None, got {type(sp_weights).__name__}")
        for attribute in ("values", "indices", "dense_shape"):
            ours, theirs = getattr(sp_ids, attribute).shape, getattr(sp_weights, attribute).shape
            if not ours.is_compatible_with(theirs):
                raise ValueError(
                    f"sp_weights.{attribute} must have the shape of sp_ids.{attribute}, {ours}, got {theirs}"
                )
    return sp_ids, sp_weights


def safe_lookup_sparse(
    embedding_weights,
    sparse_ids,
    sparse_weights=None,
    combiner="mean",
    default_id=None,
    name=None,
    partition_strategy="div",
    max_norm=None,
    prune=True,
    blocknums=None,
):
    """`tf.nn.safe_embedding_lookup_sparse` in a table, or by the combiner "tile" or without pruning in ordinary variables.

    A row without ids is 0. No id stands in for it, so nothing is counted or trained on its behalf.

    Args:
      embedding_weights, partition_strategy, max_norm, combiner: as for `lookup_sparse`.
      sparse_ids: SparseTensor `[d_0, ..., d_n]` or RaggedTensor of keys.
      sparse_weights: the same of floats, or None.
      default_id: the key that a row without ids reads; None: it is 0.
      name: name of the op.
      prune: whether ids below 0 are left out, unless they are keys of the table, and, unless the combiner is "sum", ids with
        weights that are not positive.
      blocknums: int, one for each value of `sparse_ids`.

    Returns:
      `[d_0, ..., d_{n-1}, dim]`; for "tile" the last is `d_n * dim`.

    Raises:
      TypeError: sparse_ids or sparse_weights are not sparse.
      ValueError: an argument does not fit.
    """
    check_given(embedding_weights)
    combiner = combine.checked(combiner)
    ids, weights = sparse_arguments(sparse_ids, sparse_weights)
    with ops.name_scope(name, "embedding_lookup") as scope:
        shape = ids.dense_shape
        ids, weights = _two_dimensional(ids, weights)
        if prune:
            negative = tables.takes_negative_keys(embedding_weights)
            ids, weights, blocknums = pruned(ids, weights, combiner, blocknums, negative)
        if default_id is not None:
            ids, weights, blocknums = _filled(embedding_weights, ids, weights, default_id, blocknums)
        combined = _combined(
            embedding_weights,
            ids,
            weights,
            partition_strategy,
            None,
            combiner,
            max_norm,
            blocknums,
            num_rows=math_ops.cast(ids.dense_shape[0], dtypes.int32),
        )
        return _with_leading(shape, combined, scope)


def _two_dimensional(ids, weights):
    """Joins all dimensions but the last."""
    shape = ids.dense_shape
    ids = sparse_ops.sparse_reshape(ids, array_ops_stack.stack([math_ops.reduce_prod(shape[:-1]), shape[-1]]))
    if weights is not None:
        weights = sparse_tensor.SparseTensor(ids.indices, weights.values, ids.dense_shape)
    return ids, weights


def pruned(ids, weights, combiner, blocknums=None, negative=False):
    """Leaves out ids below 0, unless `negative`, and, unless the combiner is "sum", weights that are not positive."""
    by_weight = weights is not None and combiner != "sum"
    if negative and not by_weight:
        return ids, weights, blocknums
    keep = math_ops.greater(weights.values, 0) if negative else math_ops.greater_equal(ids.values, 0)
    if by_weight and not negative:
        keep = math_ops.logical_and(keep, math_ops.greater(weights.values, 0))
    if blocknums is not None:
        blocknums = array_ops.boolean_mask(blocknums, keep)
    kept = None if weights is None else sparse_ops.sparse_retain(weights, keep)
    return sparse_ops.sparse_retain(ids, keep), kept, blocknums


def _filled(params, ids, weights, default_id, blocknums):
    if blocknums is not None:
        blocks = sparse_tensor.SparseTensor(ids.indices, blocknums, ids.dense_shape)
        blocknums = sparse_ops.sparse_fill_empty_rows(blocks, tables.parts_of(params)[0].block_num)[0].values
    if weights is not None:
        weights = sparse_ops.sparse_fill_empty_rows(weights, math_ops.cast(1.0, weights.dtype))[0]
    return sparse_ops.sparse_fill_empty_rows(ids, default_id)[0], weights, blocknums


def _with_leading(shape, rows, scope):
    """Gives `rows` `[prod(shape[:-1]), width]` the shape `shape[:-1] + [width]`."""
    leading = math_ops.cast(shape, dtypes.int32)[:-1]
    result = array_ops.reshape(rows, array_ops.concat([leading, array_ops.shape(rows)[1:]], 0), name=scope)
    static = tensor_util.constant_value_as_shape(shape)
    leading = tensor_shape.TensorShape(None) if static.rank is None else static[:-1]
    result.set_shape(leading.concatenate(rows.shape[1:]))
    return result
