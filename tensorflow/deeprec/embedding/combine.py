"""Combiners of sparse lookups: what becomes of the rows of the ids that stand in one row of a SparseTensor."""

from tensorflow.python.framework import dtypes, ops, tensor_shape, tensor_util
from tensorflow.python.ops import array_ops, check_ops, math_ops
from tensorflow.python.platform import tf_logging as logging

COMBINERS = ("sum", "mean", "sqrtn", "tile")
_LOW_PRECISION = (dtypes.float16, dtypes.bfloat16)


def checked(combiner, allowed=COMBINERS) -> str:
    """The combiner; "mean", with a warning, if none was given.

    Raises:
      ValueError: there is no such combiner.
    """
    if combiner is None:
        logging.warning('combiner was not given: "mean" is taken.')
        combiner = "mean"
    if combiner not in allowed:
        raise ValueError(f"combiner must be one of {', '.join(allowed)}, got {combiner!r}")
    return combiner


def combine(embeddings, positions, ids, weights, combiner, num_rows=None, name=None):
    """Combines embeddings by the rows of a SparseTensor.

    Args:
      embeddings: `[u, dim]`, of half precision too: those are added up in float32.
      positions: `[n]`, int: for each entry of `ids` the row of `embeddings` that is its own.
      ids: SparseTensor `[rows, columns]` with n entries in row-major order; its values are not looked at.
      weights: `[n]`, or None for 1.
      combiner: "sum" of w e; "mean", that over the sum of w; "sqrtn", over the root of the sum of w^2; "tile", w e of the entry
        in column j in the j-th block of the row.
      num_rows: rows of the result; those without entries are 0. None: up to the last row with an entry, but all for "tile".
      name: name of the last op.

    Returns:
      `[num_rows, dim]`, or `[rows, columns * dim]` for "tile"; of the dtype of `embeddings`.
    """
    dtype = embeddings.dtype
    if dtype in _LOW_PRECISION:
        combined = combine(
            math_ops.cast(embeddings, dtypes.float32), positions, ids, weights, combiner, num_rows=num_rows
        )
        return math_ops.cast(combined, dtype, name=name)
    segments = math_ops.cast(ids.indices[:, 0], dtypes.int32)
    if combiner == "tile" or (weights is not None and num_rows is not None):
        segments = _not_negative(segments)
    if combiner == "tile":
        return _tile(weighted(array_ops.gather(embeddings, positions), weights), segments, ids, name)
    if weights is None:
        function = {
            "sum": math_ops.sparse_segment_sum,
            "mean": math_ops.sparse_segment_mean,
            "sqrtn": math_ops.sparse_segment_sqrt_n,
        }[combiner]
        return function(embeddings, positions, segments, name=name, num_segments=num_rows)
    weights = math_ops.cast(weights, dtype)
    total = _segment_sum(weighted(array_ops.gather(embeddings, positions), weights), segments, num_rows)
    if combiner == "sum":
        return array_ops.identity(total, name=name)
    if combiner == "mean":
        divisor = _segment_sum(weights, segments, num_rows)
    else:
        divisor = math_ops.sqrt(_segment_sum(math_ops.square(weights), segments, num_rows))
    return math_ops.div_no_nan(total, array_ops.expand_dims(divisor, -1), name=name)


def weighted(embeddings, weights):
    """Each row times its weight; `weights` None: as they are."""
    return (
        embeddings
        if weights is None
        else embeddings * array_ops.expand_dims(math_ops.cast(weights, embeddings.dtype), -1)
    )


def _not_negative(segments):
    """The segments, checked for what unsorted_segment_sum passes over without a word."""
    check = check_ops.assert_non_negative(segments, message="the rows of the indices of sp_ids must not be negative")
    # Eagerly there is no op.
    with ops.control_dependencies([] if check is None else [check]):
        return array_ops.identity(segments)


def _segment_sum(values, segments, num_rows):
    if num_rows is None:
        return math_ops.segment_sum(values, segments)
    return math_ops.unsorted_segment_sum(values, segments, num_rows)


def _tile(embeddings, segments, ids, name):
    shape = math_ops.cast(ids.dense_shape, dtypes.int32)
    rows, columns = shape[0], shape[1]
    blocks = math_ops.unsorted_segment_sum(
        embeddings, segments * columns + math_ops.cast(ids.indices[:, 1], dtypes.int32), rows * columns
    )
    tiled = array_ops.reshape(blocks, [rows, columns * array_ops.shape(embeddings)[1]], name=name)
    static = tensor_util.constant_value_as_shape(ids.dense_shape)
    dim = tensor_shape.dimension_value(embeddings.shape[-1])
    if static.rank == 2:
        known = static[1] is not None and dim is not None
        tiled.set_shape([static[0], static[1] * dim if known else None])
    return tiled
