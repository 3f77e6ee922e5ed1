"""Feature crosses: the two ops of 1.15's contrib, composed of core ops.

A cross of row r has one output for each choice of one feature from every input, the last input varying fastest. `sparse_feature_cross`
combines 64-bit values with the shift-and-xor rule of its kernel, `sparse_feature_cross_v2` with FingerprintCat64 (core's SparseCross).
"""

import collections

from tensorflow.python.framework import dtypes, function, ops
from tensorflow.python.ops import (
    array_ops,
    array_ops_stack,
    bitwise_ops,
    gen_array_ops,
    gen_sparse_ops,
    math_ops,
    string_ops,
)

SparseFeatureCross = collections.namedtuple("SparseFeatureCross", ["output_indices", "output_values", "output_shape"])
SparseFeatureCrossV2 = collections.namedtuple("SparseFeatureCrossV2", SparseFeatureCross._fields)

_SEED = 0xDECAFCAFFE
_INT64_MAX = 2**63 - 1


def _signed(value: int) -> int:
    return value - 2**64 if value > _INT64_MAX else value


_COMBINE = _signed(0x9E3779B97F4A7800)


def _combine(a, b):
    """a ^ (b + 0x9e3779b97f4a7800 + (a << 10) + (a >> 4)) on signed 64 bits."""
    shifted = bitwise_ops.left_shift(a, math_ops.cast(10, dtypes.int64)) + bitwise_ops.right_shift(
        a, math_ops.cast(4, dtypes.int64)
    )
    return bitwise_ops.bitwise_xor(a, b + ops.convert_to_tensor(_COMBINE, dtypes.int64) + shifted)


def _unsigned_mod(value, divisor: int):
    """The remainder of the 64 bits read as an unsigned number."""
    # 2^64 does not fit: take the upper 32 bits down by the rule of long division, which stays below 2^63 for divisors below 2^31.
    if divisor < 2**31:
        low_mask = ops.convert_to_tensor(0xFFFFFFFF, dtypes.int64)
        shift = ops.convert_to_tensor(32, dtypes.int64)
        high = bitwise_ops.bitwise_and(bitwise_ops.right_shift(value, shift), low_mask)
        low = bitwise_ops.bitwise_and(value, low_mask)
        base = 2**32 % divisor
        return math_ops.floormod(math_ops.floormod(high, divisor) * base + math_ops.floormod(low, divisor), divisor)
    unsigned = gen_array_ops.bitcast(value, dtypes.uint64)
    quotient_free = math_ops.floormod(
        unsigned, math_ops.cast(ops.convert_to_tensor(divisor, dtypes.int64), dtypes.uint64)
    )
    return gen_array_ops.bitcast(quotient_free, dtypes.int64)


class _Column:
    """One input: its features row after row, and how many each row has."""

    def __init__(self, flat, counts):
        self.flat = flat
        self.counts = counts
        self.starts = math_ops.cumsum(counts, exclusive=True)

    def hashed(self):
        if self.flat.dtype != dtypes.string:
            return self.flat
        return gen_array_ops.bitcast(gen_array_ops.fingerprint(self.flat, "farmhash64"), dtypes.int64)

    def text(self):
        return self.flat if self.flat.dtype == dtypes.string else string_ops.as_string(self.flat)


def _columns(indices, values, shapes, dense_inputs):
    """Sparse inputs first, then dense ones, as in 1.15."""
    columns = []
    batch_size = None
    for index, value, shape in zip(indices, values, shapes):
        batch_size = shape[0] if batch_size is None else batch_size
        columns.append(
            _Column(value, math_ops.unsorted_segment_sum(array_ops.ones_like(index[:, 0]), index[:, 0], shape[0]))
        )
    for dense in dense_inputs:
        rows, width = array_ops_stack.unstack(array_ops.shape(dense, out_type=dtypes.int64), num=2)
        batch_size = rows if batch_size is None else batch_size
        columns.append(_Column(array_ops.reshape(dense, [-1]), array_ops.fill([rows], width)))
    return columns, batch_size


def sparse_feature_cross(
    indices, values, shapes, dense, hashed_output, num_buckets, out_type, internal_type, name=None
):
    """Crosses the features of every row.

    Args:
      indices, values, shapes: lists of the parts of 2-D sparse inputs; values are string or int64.
      dense: 2-D string or int64 tensors.
      hashed_output: int64 hashes instead of text joined by "_X_".
      num_buckets: hashes are taken modulo this (modulo 2^63 - 1 if 0).
      out_type, internal_type: tf.int64 or tf.string; follow from the other arguments.
      name: name scope of the ops.

    Returns:
      `(output_indices, output_values, output_shape)` of a 2-D SparseTensor.
    """
    del out_type, internal_type
    parts = (*indices, *values, *shapes, *dense)
    count = len(indices)

    # One node of the graph, as 1.15's op was: op counts, and so default seeds, depend on it.
    @function.Defun(*[part.dtype for part in parts])
    def cross(*parts):
        for part, outer in zip(parts, (*indices, *values, *shapes, *dense)):
            part.set_shape(outer.get_shape())
        return _cross(
            parts[:count],
            parts[count : 2 * count],
            parts[2 * count : 3 * count],
            parts[3 * count :],
            hashed_output,
            num_buckets,
        )

    graph = ops.get_default_graph()
    before = set(graph.get_all_collection_keys())
    output_indices, output_values, output_shape = cross(*parts, name=name or "SparseFeatureCross")
    for key in set(graph.get_all_collection_keys()) - before:
        # Tracing a function leaves empty collections behind.
        if not graph.get_collection(key):
            graph.clear_collection(key)
    output_indices.set_shape([None, 2])
    output_values.set_shape([None])
    output_shape.set_shape([2])
    return SparseFeatureCross(output_indices, output_values, output_shape)


def _cross(indices, values, shapes, dense, hashed_output, num_buckets):
    """The composition behind `sparse_feature_cross`; (indices, values, shape)."""
    columns, batch_size = _columns(indices, values, shapes, dense)
    totals = columns[0].counts
    for column in columns[1:]:
        totals = totals * column.counts
    rows = _repeat(math_ops.range(batch_size), totals)
    starts = array_ops.gather(math_ops.cumsum(totals, exclusive=True), rows)
    position = math_ops.range(math_ops.reduce_sum(totals)) - starts
    rest, chosen = position, []
    for column in reversed(columns):
        count = array_ops.gather(column.counts, rows)
        chosen.insert(0, array_ops.gather(column.starts, rows) + math_ops.floormod(rest, count))
        rest = math_ops.floordiv(rest, count)
    if hashed_output:
        result = array_ops.fill(array_ops.shape(rows), ops.convert_to_tensor(_SEED, dtypes.int64))
        for column, choice in zip(columns, chosen):
            result = _combine(result, array_ops.gather(column.hashed(), choice))
        result = _unsigned_mod(result, num_buckets or _INT64_MAX)
    else:
        texts = [array_ops.gather(column.text(), choice) for column, choice in zip(columns, chosen)]
        result = string_ops.string_join(texts, "_X_")
    # -> 0 of an empty batch, where the maximum of nothing is the least int64.
    width = math_ops.maximum(math_ops.reduce_max(totals), 0)
    return array_ops_stack.stack([rows, position], axis=1), result, array_ops_stack.stack([batch_size, width])


def _repeat(values, counts):
    """values[i], counts[i] times each; 1-D int64."""
    ends = math_ops.cumsum(counts)
    positions = math_ops.range(math_ops.reduce_sum(counts))
    return array_ops.gather(values, array_ops.searchsorted(ends, positions, side="right", out_type=dtypes.int64))


def sparse_feature_cross_v2(
    indices, values, shapes, dense, hashed_output, num_buckets, hash_key, out_type, internal_type, name=None
):
    """`sparse_feature_cross` with FingerprintCat64 and `hash_key`: core's SparseCross."""
    return SparseFeatureCrossV2(
        *gen_sparse_ops.sparse_cross(
            indices, values, shapes, dense, hashed_output, num_buckets, hash_key, out_type, internal_type, name=name
        )
    )
