"""Adaptive embedding: a mask says of each id whether its row is that of a shared hash bucket or its own."""

import contextlib
import threading

from tensorflow.deeprec.embedding import combine, tables
from tensorflow.deeprec.embedding import lookup as lookup_lib
from tensorflow.python.framework import dtypes, ops, sparse_tensor
from tensorflow.python.ops import array_ops, check_ops, data_flow_ops, embedding_ops, math_ops, variables


def adaptive_embedding_lookup_sparse(
    hash_params,
    ev_params,
    sp_ids,
    hash_ev_ids,
    sp_weights,
    partition_strategy="mod",
    name=None,
    combiner=None,
    max_norm=None,
    bucket_size=None,
    adaptive_mask_tensor=None,
    blocknums=None,
):
    """Looks ids up in an ordinary variable where the mask is 0, in an EmbeddingVariable where it is 1.

    A key that the EmbeddingVariable does not have starts from the row of its hash bucket, so that an id whose mask changes to 1
    goes on from what its bucket has learnt. Such keys are inserted by the lookup.

    Args:
      hash_params: ordinary variable `[bucket_size, dim]`, list of its parts or PartitionedVariable.
      ev_params: EmbeddingVariable of the same dim, or its parts.
      sp_ids: SparseTensor `[rows, columns]` of int64, commonly one id in a row: the bucket where the mask is 0, the key where it
        is 1.
      hash_ev_ids: `[m]`, int64: the buckets of the m ids whose mask is 1, in order.
      sp_weights: must be None.
      partition_strategy: of `hash_params`.
      name: name of the op.
      combiner: how ids of one row are combined; None: "mean".
      max_norm: L2 norm to which rows are clipped.
      bucket_size: number of rows of `hash_params`, or None.
      adaptive_mask_tensor: `[number of ids]`, int32: 0 or 1.
      blocknums: must be None.

    Returns:
      `[rows, dim]`, up to the last row with an id.

    Raises:
      TypeError: sp_ids is not sparse.
      ValueError: an argument does not fit.
    """
    combiner = combine.checked(combiner)
    sp_ids, _ = lookup_lib.sparse_arguments(sp_ids, None)
    _check(hash_params, ev_params, sp_weights, bucket_size, adaptive_mask_tensor, blocknums)
    with ops.name_scope(name, "embedding_lookup_sparse") as scope:
        mask = _checked_mask(adaptive_mask_tensor, array_ops.size(sp_ids.values), "id")
        rows = _rows(hash_params, ev_params, sp_ids.values, hash_ev_ids, mask, partition_strategy, max_norm)
        return combine.combine(rows, math_ops.range(array_ops.shape(rows)[0]), sp_ids, None, combiner, name=scope)


def safe_adaptive_embedding_lookup_sparse(
    hash_embedding_weights,
    ev_embedding_weights,
    sparse_ids,
    hash_ev_ids,
    sparse_weights=None,
    combiner=None,
    default_id=None,
    name=None,
    partition_strategy="div",
    max_norm=None,
    bucket_size=None,
    adaptive_mask_tensor=None,
    blocknums=None,
):
    """`adaptive_embedding_lookup_sparse` for any batch: ids below 0 are left out, and rows may have none.

    Args:
      hash_embedding_weights, ev_embedding_weights, hash_ev_ids, sparse_weights, combiner, partition_strategy, max_norm,
        bucket_size, blocknums: as there.
      sparse_ids: SparseTensor `[d_0, ..., d_n]`.
      default_id: the hash bucket that a row without ids reads; None: it is 0.
      name: name of the op.
      adaptive_mask_tensor: `[number of rows]`, int32: 0 or 1, for all ids of the row; a row is one of `d_0 * ... * d_{n-1}`.

    Returns:
      `[d_0, ..., d_{n-1}, dim]`.

    Raises:
      TypeError, ValueError: as there.
    """
    combiner = combine.checked(combiner)
    ids, _ = lookup_lib.sparse_arguments(sparse_ids, None)
    _check(hash_embedding_weights, ev_embedding_weights, sparse_weights, bucket_size, adaptive_mask_tensor, blocknums)
    with ops.name_scope(name, "embedding_lookup") as scope:
        shape = ids.dense_shape
        ids, _ = lookup_lib._two_dimensional(ids, None)
        rows_of_ids = math_ops.cast(ids.dense_shape[0], dtypes.int32)
        mask = _checked_mask(adaptive_mask_tensor, rows_of_ids, "row of sparse_ids")
        mask = array_ops.gather(mask, ids.indices[:, 0])
        valid = math_ops.greater_equal(ids.values, 0)
        hash_ev_ids = ops.convert_to_tensor(hash_ev_ids, dtype=ids.dtype, name="hash_ev_ids")
        hash_ev_ids = array_ops.boolean_mask(hash_ev_ids, array_ops.boolean_mask(valid, math_ops.equal(mask, 1)))
        mask = array_ops.boolean_mask(mask, valid)
        ids = sparse_tensor.SparseTensor(
            array_ops.boolean_mask(ids.indices, valid), array_ops.boolean_mask(ids.values, valid), ids.dense_shape
        )
        rows = _rows(
            hash_embedding_weights, ev_embedding_weights, ids.values, hash_ev_ids, mask, partition_strategy, max_norm
        )
        combined = combine.combine(
            rows, math_ops.range(array_ops.shape(rows)[0]), ids, None, combiner, num_rows=rows_of_ids
        )
        if default_id is not None:
            entries = math_ops.unsorted_segment_sum(array_ops.ones_like(mask), ids.indices[:, 0], rows_of_ids)
            default = embedding_ops.embedding_lookup(
                hash_embedding_weights, [default_id], partition_strategy=partition_strategy, max_norm=max_norm
            )
            empty = array_ops.expand_dims(math_ops.equal(entries, 0), -1)
            combined = array_ops.where_v2(empty, default, combined)
        return lookup_lib._with_leading(shape, combined, scope)


def _check(hash_params, ev_params, weights, bucket_size, mask, blocknums):
    if tables.is_table(hash_params):
        raise ValueError(f"hash_params must be an ordinary variable, got {hash_params!r}")
    if not tables.is_table(ev_params):
        raise ValueError(f"ev_params must be an EmbeddingVariable, got {ev_params!r}")
    for argument, value in (("sp_weights", weights), ("blocknums", blocknums)):
        if value is not None:
            raise ValueError(f"{argument} must be None in adaptive embedding, got {value!r}")
    if mask is None:
        raise ValueError("adaptive_mask_tensor must be an int32 Tensor, got None")
    parts = hash_params if isinstance(hash_params, (list, tuple, variables.PartitionedVariable)) else [hash_params]
    sizes = [part.shape[0] for part in parts if getattr(part, "shape", None) is not None]
    if bucket_size is not None and len(sizes) == len(list(parts)) and None not in sizes and sum(sizes) != bucket_size:
        raise ValueError(f"bucket_size must be {sum(sizes)}, the number of rows of hash_params, got {bucket_size!r}")


def _checked_mask(mask, size, of_what: str):
    """An int32 mask, with asserts that it has `size` elements, all 0 or 1."""
    mask = ops.convert_to_tensor(mask, dtype=dtypes.int32, name="adaptive_mask")
    says = f"adaptive_mask_tensor must be one 0 or 1 for each {of_what}"
    fits = [
        check_ops.assert_equal(array_ops.shape(mask), [size], message=says),
        check_ops.assert_equal(
            math_ops.logical_or(math_ops.equal(mask, 0), math_ops.equal(mask, 1)), True, message=says
        ),
    ]
    with ops.control_dependencies([assertion for assertion in fits if assertion is not None]):
        return array_ops.identity(mask)


def _rows(hash_params, ev_params, ids, hash_ev_ids, mask, partition_strategy, max_norm):
    """A row for each of `ids`."""
    places = data_flow_ops.dynamic_partition(math_ops.range(array_ops.size(ids)), mask, 2)
    buckets, keys = data_flow_ops.dynamic_partition(ids, mask, 2)

    def bucket_rows(of):
        return embedding_ops.embedding_lookup(hash_params, of, partition_strategy=partition_strategy, max_norm=max_norm)

    # Equal keys have equal buckets: the first place of each tells.
    unique_keys, positions = array_ops.unique(keys)
    first = math_ops.unsorted_segment_min(math_ops.range(array_ops.size(keys)), positions, array_ops.size(unique_keys))
    # No way for gradients, as the lookup takes it: a bucket is trained by the ids that read it.
    start = bucket_rows(array_ops.gather(hash_ev_ids, first))
    own = lookup_lib.lookup(ev_params, unique_keys, max_norm=max_norm, ev_init_value=start)
    return data_flow_ops.parallel_dynamic_stitch(places, [bucket_rows(buckets), array_ops.gather(own, positions)])


class AdaptiveTable:
    """The variables of an adaptive categorical column, and how a bucket follows from a key.

    Args:
      buckets: ordinary variable `[bucket_size, dim]`.
      own: EmbeddingVariable of the same dim, or its parts.
      bucket_of: function of int64 keys `[n]` that gives their buckets, int64 `[n]`.
      key: name of the feature; the mask of the column has it.
    """

    is_embedding_table = True

    def __init__(self, buckets, own, bucket_of, key: str):
        self.buckets = buckets
        self.own = own
        self._bucket_of = bucket_of
        self._key = key

    def lookup(self, ids, partition_strategy="div", name=None, max_norm=None, **kwargs):
        raise ValueError(
            f"The adaptive column of {self._key!r} can only be looked up through tf.feature_column.embedding_column and "
            "tf.feature_column.input_layer(adaptive_mask_tensors=...)."
        )

    def combined(self, ids, mask, combiner, name, max_norm):
        """`[d_0, ..., d_{n-1}, dim]` for a SparseTensor of keys `[d_0, ..., d_n]` and the mask of its rows."""
        flat, _ = lookup_lib._two_dimensional(ids, None)
        buckets = self._bucket_of(ids.values)
        mask = _checked_mask(mask, math_ops.cast(flat.dense_shape[0], dtypes.int32), f"row of {self._key!r}")
        of_ids = math_ops.equal(array_ops.gather(mask, flat.indices[:, 0]), 1)
        mixed = sparse_tensor.SparseTensor(
            ids.indices, array_ops.where_v2(of_ids, ids.values, buckets), ids.dense_shape
        )
        return safe_adaptive_embedding_lookup_sparse(
            self.buckets,
            self.own,
            mixed,
            array_ops.boolean_mask(buckets, of_ids),
            combiner=combiner,
            name=name,
            max_norm=max_norm,
            adaptive_mask_tensor=mask,
        )


_masks = threading.local()


@contextlib.contextmanager
def masks(by_key):
    """Within: the masks of adaptive columns, by the key of their feature."""
    before = getattr(_masks, "by_key", None)
    _masks.by_key = by_key
    try:
        yield
    finally:
        _masks.by_key = before


def mask_of(key: str):
    """The mask given for a feature.

    Raises:
      ValueError: there is none.
    """
    by_key = getattr(_masks, "by_key", None) or {}
    if key not in by_key:
        raise ValueError(
            f"adaptive_mask_tensors must have an int32 Tensor [batch] for {key!r}, got masks for {sorted(by_key)!r}"
        )
    return by_key[key]
