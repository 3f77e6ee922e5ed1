"""Lookups in one process: nothing is sent, the forward pass of static tables is one op, and gradients have each key once."""

import tensorflow as tf
from tensorflow.deeprec import library
from tensorflow.deeprec.embedding import combine
from tensorflow.python.eager import record, tape
from tensorflow.python.ops import control_flow_v2_func_graphs as cfv2

from sparse_operation_kit import naming
from sparse_operation_kit.variables import _Sharded

# Attribute of IndexedSlices whose indices are all different.
_DISTINCT = "_sok_distinct"
_DTYPES = (tf.float32, tf.float64)


def fits(variable) -> bool:
    """Whether `lookup` takes this table, here.

    The gradients of branches and loop bodies that are functions may hand out no handle, which a custom gradient of one does.
    """
    branches = (cfv2.CondBranchFuncGraph, cfv2.WhileCondFuncGraph, cfv2.WhileBodyFuncGraph)
    # Eagerly there is no graph to ask for.
    return variable.dtype.base_dtype in _DTYPES and (
        tf.executing_eagerly() or not isinstance(tf.compat.v1.get_default_graph(), branches)
    )


def lookup(variable, keys, ids, weights, combiner):
    """Rows of keys, combined.

    Args:
      variable: sok.Variable or DynamicVariable that this process holds as a whole, of a dtype that `fits`.
      keys: `[n]` int64 (int32 where the table has such), in the table if that is static.
      ids: the SparseTensor `[rows, columns]` whose values the keys are.
      weights: `[n]`, or None for 1.
      combiner: "sum" or "mean".

    Returns:
      `[rows, dim]`.
    """
    num_rows = tf.cast(ids.dense_shape[0], tf.int32)
    in_one_op = isinstance(variable, _Sharded) and not tf.executing_eagerly() and variable.dtype == tf.float32
    unique, index, rows = None, None, None
    if not in_one_op:
        unique, index = tf.unique(keys)
        with record.stop_recording():
            rows = tf.stop_gradient(variable.sparse_read(variable.key_map(unique)))
    tape.variable_accessed(variable)

    @tf.custom_gradient
    def combined(handle):
        if in_one_op:
            result = _in_one_op(handle, variable, keys, ids, weights, combiner)
        else:
            result = combine.combine(rows, index, ids, weights, combiner, num_rows=num_rows)

        def gradient(upstream):
            number = _number_of_rows(variable, handle)
            with tf.name_scope(f"gradient_of_{naming.op_name(variable)}"):
                # The ordered form counts rows in int32.
                if in_one_op and weights is None and number < 2**31:
                    of_rows, different = _gradient_of_ordered_rows(upstream, keys, ids, combiner, number)
                else:
                    different, position = (unique, index) if unique is not None else tf.unique(keys)
                    of_rows = _gradient_of_rows(upstream, different, position, ids, weights, combiner, num_rows)
            shape = tf.stack([number, variable.dimension])
            return distinct(tf.IndexedSlices(of_rows, different, shape))

        return result, gradient

    return combined(variable.handle)


def distinct(slices):
    """Marks IndexedSlices: its indices are all different."""
    setattr(slices, _DISTINCT, True)
    return slices


def is_distinct(slices) -> bool:
    """Whether `distinct` has marked them; those that are put together of several are not."""
    return getattr(slices, _DISTINCT, False)


def _number_of_rows(variable, handle):
    if isinstance(variable, _Sharded):
        return int(variable.shape[0])
    return library.ops().kv_variable_shape(handle, out_type=tf.int32)[0]


def _in_one_op(handle, variable, keys, ids, weights, combiner):
    (rows,) = library.ops().group_embedding_lookup(
        tables=[handle],
        indices=[ids.indices],
        values=[keys],
        shapes=[ids.dense_shape],
        weights=[] if weights is None else [tf.cast(weights, tf.float32)],
        T=variable.dtype,
        dims=[variable.dimension],
        parts=[1],
        kinds=["resource"],
        strategies=["mod"],
        combiners=[combiner],
        max_norms=[0.0],
        prune=[False],
        fill_empty=[False],
        default_ids=[0],
        has_weights=[weights is not None],
        touch_first=[False],
    )
    return rows


def _gradient_of_ordered_rows(upstream, keys, ids, combiner, rows):
    """`([number of keys, dim], keys)` as of `_gradient_of_rows` without weights, in one op, of keys below `rows`, which ascend."""
    op = {"sum": tf.raw_ops.SparseSegmentSumGradV2, "mean": tf.raw_ops.SparseSegmentMeanGradV2}[combiner]
    return op(grad=upstream, indices=keys, segment_ids=tf.cast(ids.indices[:, 0], tf.int32), dense_output_dim0=rows)


def _gradient_of_rows(upstream, keys, position, ids, weights, combiner, num_rows):
    """`[number of keys, dim]`: of each key the sum over its places of the upstream gradient times the weight there."""
    segments = tf.cast(ids.indices[:, 0], tf.int32)
    number = tf.size(keys)
    if weights is None:
        op = {"sum": tf.raw_ops.SparseSegmentSumGrad, "mean": tf.raw_ops.SparseSegmentMeanGrad}[combiner]
        return op(grad=upstream, indices=position, segment_ids=segments, output_dim0=number)
    weights = tf.cast(weights, upstream.dtype)
    if combiner == "mean":
        totals = tf.math.unsorted_segment_sum(weights, segments, num_rows)
        upstream = tf.math.divide_no_nan(upstream, totals[:, tf.newaxis])
    return tf.math.unsorted_segment_sum(tf.gather(upstream, segments) * weights[:, tf.newaxis], position, number)
