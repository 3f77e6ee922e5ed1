"""Embedding lookups of tf.contrib.layers: ids that may be missing or negative, hashed parameters, aggregation beside the parameters."""

from tensorflow.contrib.layers import sparse_feature_cross_op
from tensorflow.deeprec.embedding import lookup, tables
from tensorflow.python.framework import dtypes, ops, sparse_tensor, tensor_shape
from tensorflow.python.ops import array_ops, array_ops_stack, check_ops, clip_ops, embedding_ops, math_ops, sparse_ops
from tensorflow.python.ops import control_flow_assert, data_flow_ops, resource_variable_ops, variables
from tensorflow.python.platform import tf_logging as logging

__all__ = [
    "safe_embedding_lookup_sparse",
    "scattered_embedding_lookup",
    "scattered_embedding_lookup_sparse",
    "embedding_lookup_unique",
    "embedding_lookup_sparse_with_distributed_aggregation",
]

# Stands in a row without features; rather unlikely as a real value.
_NO_STRING, _NO_INTEGER = "6ZxWzWOHxZ", 1288896567


# Old code takes these from here.
_prune_invalid_ids = embedding_ops._prune_invalid_ids
_prune_invalid_weights = embedding_ops._prune_invalid_weights


def _as_list(params):
    if isinstance(params, variables.PartitionedVariable):
        return list(params)
    return params if isinstance(params, list) else [params]


def _combiner(combiner):
    if combiner is None:
        logging.warning('combiner was not given: "mean" is taken.')
        combiner = "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner!r}")
    return combiner


def _along_last(vector, rank):
    """Reshapes a vector to [n, 1, ..., 1] of the given rank, a tensor."""
    ones = array_ops.fill(array_ops.expand_dims(rank - 1, 0), 1)
    return array_ops.reshape(vector, array_ops.concat([array_ops.shape(vector), ones], 0))


def safe_embedding_lookup_sparse(
    embedding_weights,
    sparse_ids,
    sparse_weights=None,
    combiner=None,
    default_id=None,
    name=None,
    partition_strategy="div",
    max_norm=None,
    blocknums=None,
):
    """Looks up and combines embeddings; rows may be empty, ids negative and weights not positive.

    Ids below 0 are dropped, and so are entries whose weight is not above 0 unless `combiner` is "sum". A row that has nothing left
    gets the embedding of `default_id`, or zeros.

    Args:
      embedding_weights: float tensor `[vocab, e_1, ..., e_m]`, a list of its parts, or a `PartitionedVariable`.
      sparse_ids: `SparseTensor` of ids `[d_0, ..., d_n]`; embeddings are combined along the last dimension.
      sparse_weights: `SparseTensor` of the same shape, or None for 1.
      combiner: "mean" (default), "sqrtn" or "sum".
      default_id: id for an empty row.
      name: name of the op.
      partition_strategy: "div" or "mod".
      max_norm: l2 norm to which embeddings are clipped before they are combined.
      blocknums: for a DynamicEmbeddingVariable: int tensor, the number of blocks of each value of `sparse_ids`.

    Returns:
      Tensor `[d_0, ..., d_{n-1}, e_1, ..., e_m]`.

    Raises:
      ValueError: if `embedding_weights` is missing, `combiner` unknown, or `blocknums` not for them.
    """
    if embedding_weights is None:
        raise ValueError("embedding_weights is missing: got None")
    if tables.is_table(embedding_weights):
        return lookup.safe_lookup_sparse(
            embedding_weights,
            sparse_ids,
            sparse_weights,
            combiner=combiner,
            default_id=default_id,
            name=name,
            max_norm=max_norm,
            blocknums=blocknums,
        )
    if blocknums is not None:
        raise ValueError(f"blocknums is for a DynamicEmbeddingVariable, got it with {embedding_weights!r}")
    combiner = _combiner(combiner)
    params = _as_list(embedding_weights)
    if not params:
        raise ValueError("embedding_weights is missing: got an empty list")
    dtype = None if sparse_weights is None else sparse_weights.dtype
    params = [
        p
        if isinstance(p, resource_variable_ops.ResourceVariable) and dtype in (None, p.dtype)
        # A resource variable stays one, so that its gradient stays sparse.
        else ops.convert_to_tensor(p, dtype=dtype)
        for p in params
    ]
    check_ops.assert_same_float_dtype(params + [sparse_weights])
    with ops.name_scope(name, "embedding_lookup", params + [sparse_ids, sparse_weights]) as scope:
        shape = sparse_ids.dense_shape
        static_rank = tensor_shape.dimension_value(shape.get_shape()[0])
        rank = array_ops.size(shape) if static_rank is None else static_rank
        ids = sparse_ops.sparse_reshape(
            sparse_ids,
            [math_ops.reduce_prod(array_ops.slice(shape, [0], [rank - 1])), array_ops.gather(shape, rank - 1)],
        )
        weights = None
        if sparse_weights is not None:
            weights = sparse_tensor.SparseTensor(ids.indices, sparse_weights.values, ids.dense_shape)
        ids, weights = _retain(ids, weights, math_ops.greater_equal(ids.values, 0))
        if combiner != "sum" and weights is not None:
            ids, weights = _retain(ids, weights, math_ops.greater(weights.values, 0))
        ids, is_row_empty = sparse_ops.sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = sparse_ops.sparse_fill_empty_rows(weights, 1.0)
        result = embedding_ops.embedding_lookup_sparse(
            params,
            ids,
            weights,
            combiner=combiner,
            partition_strategy=partition_strategy,
            name=None if default_id is None else scope,
            max_norm=max_norm,
        )
        if default_id is None:
            empty = array_ops.tile(
                array_ops.reshape(is_row_empty, [-1, 1]), array_ops_stack.stack([1, array_ops.shape(result)[1]])
            )
            result = array_ops.where(empty, array_ops.zeros_like(result), result, name=scope)
        leading = array_ops.slice(math_ops.cast(shape, dtypes.int32), [0], [rank - 1])
        final = array_ops.reshape(
            result, array_ops.concat([leading, array_ops.slice(array_ops.shape(result), [1], [-1])], 0)
        )
        unknown = None if static_rank is None else static_rank - 1
        final.set_shape(tensor_shape.unknown_shape(unknown).concatenate(result.get_shape()[1:]))
        return final


def _retain(ids, weights, keep):
    kept = None if weights is None else sparse_ops.sparse_retain(weights, keep)
    return sparse_ops.sparse_retain(ids, keep), kept


def scattered_embedding_lookup(params, values, dimension, name=None, hash_key=None):
    """Embeddings whose components are spread over one vector of parameters by hashing.

    Component i of a value v is `params[hash(v, i)]` ("hashing trick", https://arxiv.org/abs/1504.04788).

    Args:
      params: rank-1 tensor, a list of its parts (sizes differ by one at most, larger ones first), or a `PartitionedVariable`.
      values: tensor `[d_0, ..., d_n]` of strings or integers.
      dimension: number of components.
      name: name of the op.
      hash_key: key of FingerprintCat64.

    Returns:
      Tensor `[d_0, ..., d_n, dimension]`.

    Raises:
      ValueError: if `dimension` is not positive, or the parts have other sizes.
    """
    if dimension is None:
        raise ValueError("dimension is missing: got None")
    return _sampled_scattered_embedding_lookup(params, values, dimension=dimension, hash_key=hash_key, name=name)


def _sampled_scattered_embedding_lookup(
    params, values, dimension=None, sampled_candidates=None, hash_key=None, name=None
):
    """`scattered_embedding_lookup`, for all components or for those of `sampled_candidates` `[d_0, ..., d_n, N]`."""
    params = _as_list(params)
    with ops.name_scope(name, "scattered_embedding_lookup", params + [dimension, values]):
        values = ops.convert_to_tensor(values)
        values_shape = array_ops.shape(values)
        values = array_ops.reshape(values, [-1, 1])
        if sampled_candidates is None:
            if dimension is None:
                raise ValueError("one of dimension and sampled_candidates must be given")
            if dimension <= 0:
                raise ValueError(f"dimension must be above 0, got {dimension}")
            sampled_candidates = array_ops.tile(
                array_ops.expand_dims(math_ops.range(0, dimension), 0), array_ops.shape(values)
            )
        else:
            sampled_candidates = ops.convert_to_tensor(sampled_candidates)
            candidates_shape = array_ops.shape(sampled_candidates)
            dimension = candidates_shape[-1]
            expected = array_ops.concat([values_shape, array_ops.reshape(dimension, [1])], 0)
            check = control_flow_assert.Assert(
                math_ops.reduce_all(math_ops.equal(candidates_shape, expected)),
                ["sampled_candidates has shape", candidates_shape, "and values", values_shape],
            )
            with ops.control_dependencies([check]):
                sampled_candidates = array_ops.reshape(sampled_candidates, [-1, dimension])
        ids = sparse_feature_cross_op.sparse_feature_cross(
            [sampled_candidates, values], hashed_output=True, num_buckets=_partition_total(params), hash_key=hash_key
        )
        result = embedding_ops.embedding_lookup(
            params, sparse_ops.sparse_tensor_to_dense(ids), partition_strategy="div"
        )
        return array_ops.reshape(result, array_ops.concat([values_shape, [dimension]], 0))


def _partition_total(params):
    sizes = []
    for part in params:
        part.get_shape().assert_has_rank(1)
        part.get_shape().assert_is_fully_defined()
        sizes.append(tensor_shape.dimension_value(part.get_shape()[0]))
    total = sum(sizes)
    for i, size in enumerate(sizes):
        expected = (total - i - 1) // len(sizes) + 1
        if size != expected:
            raise ValueError(f"params[{i}] has size {size}, expected {expected}")
    return total


def scattered_embedding_lookup_sparse(
    params, sparse_values, dimension, combiner=None, default_value=None, name=None, hash_key=None
):
    """`scattered_embedding_lookup` of the values in each row of a 2-D `SparseTensor`, combined.

    Args:
      params, dimension, hash_key, name: as for `scattered_embedding_lookup`.
      sparse_values: 2-D `SparseTensor` of strings or integers; rows may be empty.
      combiner: "mean" (default), "sqrtn" or "sum".
      default_value: value taken in an empty row.

    Returns:
      Tensor `[rows, dimension]`.

    Raises:
      TypeError: if `sparse_values` is no SparseTensor.
      ValueError: if `combiner` is unknown.
    """
    combiner = _combiner(combiner)
    params = _as_list(params)
    if not isinstance(sparse_values, sparse_tensor.SparseTensor):
        raise TypeError(f"sparse_values must be a SparseTensor, got {type(sparse_values).__name__}")
    with ops.name_scope(name, "scattered_embedding_lookup_sparse", params + [sparse_values]) as scope:
        if default_value is None:
            default_value = _NO_STRING if sparse_values.dtype == dtypes.string else _NO_INTEGER
        sparse_values, _ = sparse_ops.sparse_fill_empty_rows(sparse_values, default_value)
        segments = math_ops.cast(sparse_values.indices[:, 0], dtypes.int32)
        values, positions = array_ops.unique(sparse_values.values)
        embeddings = scattered_embedding_lookup(params, values, dimension, hash_key=hash_key)
        combine = {
            "sum": math_ops.sparse_segment_sum,
            "mean": math_ops.sparse_segment_mean,
            "sqrtn": math_ops.sparse_segment_sqrt_n,
        }[combiner]
        return combine(embeddings, positions, segments, name=scope)


def embedding_lookup_unique(params, ids, partition_strategy="mod", name=None):
    """`tf.nn.embedding_lookup` that looks up each id once.

    Args:
      params: tensor `[vocab, d_1, ...]`, a list of its parts, or a `PartitionedVariable`.
      ids: integer tensor of any rank.
      partition_strategy: "mod" or "div".
      name: name of the op.

    Returns:
      Tensor of shape `ids.shape + params.shape[1:]`.
    """
    with ops.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = ops.convert_to_tensor(ids)
        shape = array_ops.shape(ids)
        flat = array_ops.reshape(ids, math_ops.reduce_prod(shape, keepdims=True))
        unique_ids, positions = array_ops.unique(flat)
        unique_embeddings = embedding_ops.embedding_lookup(params, unique_ids, partition_strategy)
        embeddings = array_ops.reshape(
            array_ops.gather(unique_embeddings, positions),
            array_ops.concat([shape, array_ops.shape(unique_embeddings)[1:]], 0),
        )
        embeddings.set_shape(ids.get_shape().concatenate(unique_embeddings.get_shape()[1:]))
        return embeddings


def _sampled_scattered_embedding_lookup_sparse(
    params, sp_values, dimension=None, sampled_candidates=None, hash_key=None, with_sign_hash=False, name=None
):
    """Sum over each row of hashed embeddings, of all components or of `sampled_candidates` `[rows, N]`; optionally with hashed signs."""
    if not isinstance(sp_values, sparse_tensor.SparseTensor):
        raise TypeError(f"sp_values must be a SparseTensor, got {type(sp_values).__name__}")
    scope_values = [sp_values, params, dimension, sampled_candidates]
    with ops.name_scope(name, "sampled_scattered_embedding_lookup_sparse", scope_values) as scope:
        segments = sp_values.indices[:, 0]
        if sampled_candidates is not None:
            sampled_candidates = array_ops.gather(sampled_candidates, segments)

        def lookup(table, name):
            return _sampled_scattered_embedding_lookup(
                table, sp_values.values, dimension, sampled_candidates, hash_key=hash_key, name=name
            )

        embeddings = lookup(params, "values_lookup")
        if with_sign_hash:
            signs = lookup(ops.convert_to_tensor([-1.0, 1.0]), "signs_lookup")
            embeddings = math_ops.multiply(signs, embeddings, name="signs_hash")
        return math_ops.unsorted_segment_sum(
            embeddings,
            math_ops.cast(segments, dtypes.int32),
            num_segments=math_ops.cast(sp_values.dense_shape[0], dtypes.int32),
            name=scope,
        )


def embedding_lookup_sparse_with_distributed_aggregation(
    params, sp_ids, sp_weights, partition_strategy="mod", name=None, combiner=None, max_norm=None
):
    """`tf.nn.embedding_lookup_sparse` that sums the rows of each part on the part's own device first.

    So what travels is one row per example and part, instead of one per id.

    Args:
      params: tensor, list of parts, or `PartitionedVariable`.
      sp_ids: `SparseTensor` `[n, m]` of ids; each row needs an id.
      sp_weights: `SparseTensor` of the same indices, or None for 1.
      partition_strategy: "mod" or "div".
      name: name of the op.
      combiner: "mean" (default), "sqrtn" or "sum".
      max_norm: l2 norm to which embeddings are clipped before they are combined.

    Returns:
      Tensor `[n, e_1, ...]`.

    Raises:
      TypeError: if `sp_ids` or `sp_weights` is no SparseTensor.
      ValueError: if `combiner` or `partition_strategy` is unknown.
    """
    combiner = _combiner(combiner)
    params = _as_list(params)
    if not params or params[0] is None:
        raise ValueError("params is missing: at least one tensor is needed")
    if not isinstance(sp_ids, sparse_tensor.SparseTensor):
        raise TypeError(f"sp_ids must be a SparseTensor, got {type(sp_ids).__name__}")
    if sp_weights is not None:
        if not isinstance(sp_weights, sparse_tensor.SparseTensor):
            raise TypeError(f"sp_weights must be None or a SparseTensor, got {type(sp_weights).__name__}")
        sp_ids.values.get_shape().assert_is_compatible_with(sp_weights.values.get_shape())
    with ops.name_scope(name, "embedding_lookup_sparse", params + [sp_ids]):
        segments = math_ops.cast(sp_ids.indices[:, 0], dtypes.int32)
        count = math_ops.reduce_max(segments) + 1
        weights = None if sp_weights is None else sp_weights.values
        summed = _sum_beside_parts(params, sp_ids.values, partition_strategy, max_norm, weights, segments, count)
        if combiner == "sum":
            return summed
        if weights is None:
            weights = array_ops.ones_like(segments)
        weights = math_ops.cast(weights, summed.dtype)
        norm = math_ops.segment_sum(weights if combiner == "mean" else math_ops.square(weights), segments)
        if combiner == "sqrtn":
            norm = math_ops.sqrt(norm)
        return summed / _along_last(norm, array_ops.rank(summed))


def _sum_beside_parts(params, ids, strategy, max_norm, weights, segments, count):
    """[count, e_1, ...]: for each example the weighted sum of its embeddings."""
    partial, partial_segments = [], []
    for part, part_ids, positions in _partition(params, ids, strategy):
        with ops.colocate_with(part):
            rows = embedding_ops.embedding_lookup(part, part_ids)
            if max_norm is not None:
                rows = clip_ops.clip_by_norm(rows, max_norm, axes=list(range(1, rows.get_shape().ndims)))
            if weights is not None:
                part_weights = math_ops.cast(array_ops.gather(weights, positions), rows.dtype)
                rows = rows * _along_last(part_weights, array_ops.rank(rows))
            examples, inside = array_ops.unique(array_ops.gather(segments, positions))
            partial.append(math_ops.unsorted_segment_sum(rows, inside, array_ops.size(examples)))
            partial_segments.append(examples)
    return math_ops.unsorted_segment_sum(array_ops.concat(partial, 0), array_ops.concat(partial_segments, 0), count)


def _partition(params, ids, strategy):
    """Yields (part, ids inside the part, their positions in `ids`)."""
    if strategy not in ("mod", "div"):
        raise ValueError(f"partition_strategy must be 'mod' or 'div', got {strategy!r}")
    parts = len(params)
    if strategy == "mod":
        assignment, inside = ids % parts, ids // parts
    else:
        sizes = [array_ops.shape(part, out_type=dtypes.int64)[0] for part in params]
        total = math_ops.cast(math_ops.add_n(sizes), ids.dtype)
        per_part, extras = total // parts, total % parts
        assignment = math_ops.maximum(ids // (per_part + 1), (ids - extras) // per_part)
        inside = array_ops.where(assignment < extras, ids % (per_part + 1), (ids - extras) % per_part)
    assignment = math_ops.cast(assignment, dtypes.int32)
    part_ids = data_flow_ops.dynamic_partition(inside, assignment, parts)
    positions = data_flow_ops.dynamic_partition(math_ops.range(array_ops.size(ids)), assignment, parts)
    return zip(params, part_ids, positions)
