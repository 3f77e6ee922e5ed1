"""Sparse lookups that combine one dimension after another, each in its own way."""

from tensorflow.deeprec.embedding import combine
from tensorflow.deeprec.embedding import lookup as lookup_lib
from tensorflow.python.framework import dtypes, ops, sparse_tensor, tensor_shape
from tensorflow.python.ops import array_ops, array_ops_stack, math_ops

_COMBINERS = (*combine.COMBINERS, "max", "min")


def embedding_lookup_sparse_multi_dim(
    params,
    sp_ids,
    sp_weights,
    partition_strategy="mod",
    name=None,
    combiners=None,
    max_norm=None,
    weight_axis=-1,
):
    """Looks up the ids of a SparseTensor `[d_0, ..., d_n]` and combines dimensions n, n-1, ..., 1.

    `combiners[i]` combines dimension i + 1. What is combined is what is there: "mean" over a dimension is over the groups with
    an id in them. All embeddings are multiplied by their weights first; the combiner of `weight_axis` also divides by the
    weights ("mean", "sqrtn"), the others divide by numbers of groups.

    Args:
      params: a table, or ordinary variables as for `tf.nn.embedding_lookup_sparse`.
      sp_ids: SparseTensor of ids; rank n + 1.
      sp_weights: SparseTensor of floats at the same places, or None for 1.
      partition_strategy: "mod" or "div", for ordinary variables.
      name: name of the op.
      combiners: list of n of "sum", "mean", "sqrtn", "max", "min" and "tile"; None: ["mean"]. "tile" over a dimension of size s
        makes rows s times as wide.
      max_norm: L2 norm to which embeddings are clipped before all else.
      weight_axis: dimension whose combiner knows the weights, in [1, n], or negative from the last.

    Returns:
      `[rows, width]`; rows go up to the last with an id.

    Raises:
      TypeError: sp_ids or sp_weights are not sparse.
      ValueError: a combiner is unknown, their number does not fit the rank, or weight_axis is out of range.
    """
    combiners = _checked(combiners)
    sp_ids, sp_weights = lookup_lib.sparse_arguments(sp_ids, sp_weights)
    rank = _rank(sp_ids)
    if rank != len(combiners) + 1:
        raise ValueError(f"combiners must be {rank - 1}, one less than the rank of sp_ids, got {combiners!r}")
    axis = -1 if weight_axis is None else weight_axis
    axis = axis + rank if axis < 0 else axis
    if not 1 <= axis < rank:
        raise ValueError(f"weight_axis must be in [1, {rank - 1}], or negative, got {weight_axis!r}")
    with ops.name_scope(name, "embedding_lookup_sparse") as scope:
        rows, positions = lookup_lib.unique_rows(params, sp_ids.values, partition_strategy, max_norm)
        dtype = rows.dtype
        if dtype in (dtypes.float16, dtypes.bfloat16):
            rows = math_ops.cast(rows, dtypes.float32)
        weights = None if sp_weights is None else math_ops.cast(sp_weights.values, rows.dtype)
        rows = combine.weighted(array_ops.gather(rows, positions), weights)
        indices, shape = sp_ids.indices, sp_ids.dense_shape
        for dimension in range(rank - 1, 0, -1):
            groups, segments = _groups(indices, shape, dimension)
            rows = _combine(
                rows,
                segments,
                combiners[dimension - 1],
                weights if dimension == axis else None,
                math_ops.cast(indices[:, dimension], dtypes.int32),
                shape[dimension],
            )
            if weights is not None:
                weights = math_ops.segment_mean(weights, segments)
            indices = groups
        return math_ops.cast(rows, dtype, name=scope)


def safe_embedding_lookup_multi_dim(
    embedding_weights,
    sparse_ids,
    sparse_weights=None,
    combiners=("mean",),
    name=None,
    partition_strategy="div",
    max_norm=None,
    weight_axis=1,
    prune=True,
):
    """`embedding_lookup_sparse_multi_dim` for any batch.

    Args:
      embedding_weights, sparse_weights, partition_strategy, name, max_norm, weight_axis: as there.
      sparse_ids: SparseTensor of ids, `[d_0, ..., d_n]`.
      combiners: one for each of the last dimensions; those between them and the first are kept.
      prune: whether ids below 0 are left out, and, unless "sum" is among the combiners, weights that are not positive.

    Returns:
      `[d_0, ..., width]`: as many leading dimensions as have no combiner; 0 where there are no ids.

    Raises:
      TypeError, ValueError: as there.
    """
    combiners = _checked(combiners)
    ids, weights = lookup_lib.sparse_arguments(sparse_ids, sparse_weights)
    rank = _rank(ids)
    with ops.name_scope(name, "embedding_lookup") as scope:
        shape = ids.dense_shape
        if prune:
            ids, weights, _ = lookup_lib.pruned(ids, weights, "sum" if "sum" in combiners else "mean")
        kept = rank - len(combiners)
        result = embedding_lookup_sparse_multi_dim(
            embedding_weights,
            ids,
            weights,
            partition_strategy=partition_strategy,
            # A dimension that is kept is laid side by side, and taken apart below.
            combiners=["tile"] * (kept - 1) + combiners,
            max_norm=max_norm,
            weight_axis=weight_axis,
        )
        missing = math_ops.cast(shape[0], dtypes.int32) - array_ops.shape(result)[0]
        result = array_ops.pad(result, [[0, missing], [0, 0]])
        leading = math_ops.cast(shape[:kept], dtypes.int32)
        width = math_ops.cast(array_ops.shape(result)[1], dtypes.int32) // math_ops.reduce_prod(leading[1:])
        return array_ops.reshape(result, array_ops.concat([leading, [width]], 0), name=scope)


def _checked(combiners) -> list:
    combiners = [combiners] if combiners is None or isinstance(combiners, str) else list(combiners)
    return [combine.checked(combiner, _COMBINERS) for combiner in combiners]


def _rank(sp_ids: sparse_tensor.SparseTensor) -> int:
    rank = tensor_shape.dimension_value(sp_ids.dense_shape.shape[0])
    if rank is None:
        raise ValueError("sp_ids must have a known rank, got a dense_shape of unknown size")
    return rank


def _groups(indices, shape, dimension: int):
    """Entries with the same first `dimension` coordinates: `(coordinates of each group, number of each entry's group)`.

    Groups of rows have the row's own number, so that the result has 0 for a row without entries.
    """
    if dimension == 1:
        return indices[:, :1], math_ops.cast(indices[:, 0], dtypes.int32)
    flat = indices[:, 0]
    for i in range(1, dimension):
        flat = flat * shape[i] + indices[:, i]
    _, segments = array_ops.unique(flat)
    return math_ops.segment_max(indices[:, :dimension], segments), segments


def _combine(rows, segments, combiner, weights, offsets, size):
    if combiner == "tile":
        size = math_ops.cast(size, dtypes.int32)
        count = array_ops.shape(math_ops.segment_max(segments, segments))[0]
        blocks = math_ops.unsorted_segment_sum(rows, segments * size + offsets, count * size)
        return array_ops.reshape(blocks, array_ops_stack.stack([count, size * array_ops.shape(rows)[1]]))
    if combiner == "max":
        return math_ops.segment_max(rows, segments)
    if combiner == "min":
        return math_ops.segment_min(rows, segments)
    total = math_ops.segment_sum(rows, segments)
    if combiner == "sum":
        return total
    weights = array_ops.ones_like(segments, dtype=rows.dtype) if weights is None else weights
    if combiner == "mean":
        divisor = math_ops.segment_sum(weights, segments)
    else:
        divisor = math_ops.sqrt(math_ops.segment_sum(math_ops.square(weights), segments))
    return math_ops.div_no_nan(total, array_ops.expand_dims(divisor, -1))
