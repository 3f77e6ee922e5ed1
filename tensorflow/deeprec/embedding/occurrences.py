"""How often the keys of a gradient occurred in the batch: what frequencies and filters count.

A lookup of unique keys knows from its caller how often each occurred. Its gradient has the same keys in the same order, and
gradients of several lookups are joined; so the counts are joined in the same way. A lookup that the loss does not depend on is
not counted.
"""

from tensorflow.deeprec import library
from tensorflow.python.framework import dtypes
from tensorflow.python.ops import array_ops, math_ops

# How keys come out of a loop or a branch, whose lookups have no counts of use outside; and out of the accumulators of
# SyncReplicasOptimizer, in a run of its own, where the counts would be those of yet another batch.
_OF_OTHER_RUNS = ("Exit", "Merge", "PlaceholderWithDefault", "SparseAccumulatorTakeGradient", "Switch")


def of_gradient(variable, indices):
    """Counts for the keys of a gradient.

    Args:
      variable: EmbeddingVariable.
      indices: keys, `[n]`, as they came from `tf.gradients`.

    Returns:
      int64 `[n]`, the occurrences that each position stands for; None: one each.
    """
    lookups = variable._counted_lookups  # pylint: disable=protected-access
    if variable.counts_in_lookups:
        return array_ops.zeros([array_ops.size(indices)], dtypes.int64) if variable.need_counts() else None
    if not variable.need_counts() or not lookups:
        return None
    recorded = {ids.ref(): counts for ids, counts in lookups}
    counts = _joined(indices, recorded)
    if counts is not None:
        return counts
    # Somebody made other keys of the gradient's: each gets what all lookups together counted.
    keys = array_ops.concat([array_ops.reshape(ids, [-1]) for ids, _ in lookups], 0)
    counts = array_ops.concat([_flat(ids, of_ids) for ids, of_ids in lookups], 0)
    return library.ops().kv_align_counts(indices, keys, counts)


def _flat(ids, counts):
    if counts is None:
        return array_ops.ones([array_ops.size(ids)], dtypes.int64)
    return math_ops.cast(array_ops.reshape(counts, [-1]), dtypes.int64)


def _joined(indices, recorded):
    """The counts joined as the keys were; None if it is not known how they came about."""
    op = indices.op
    if op.type == "GroupEmbeddingLookupGrad":
        # A gradient for each occurrence.
        return _flat(indices, None)
    if indices.ref() in recorded:
        return _flat(indices, recorded[indices.ref()])
    if op.type in ("Cast", "Identity", "Reshape"):
        return _joined(op.inputs[0], recorded)
    if op.type == "ConcatV2":
        parts = [_joined(part, recorded) for part in op.inputs[:-1]]
        return None if any(part is None for part in parts) else array_ops.concat(parts, 0)
    return _flat(indices, None) if op.type in _OF_OTHER_RUNS else None
