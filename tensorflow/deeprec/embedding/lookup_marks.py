"""Sparse lookups of ordinary variables in one op, without being asked for: `tf.nn.safe_embedding_lookup_sparse` and the feature columns
that call it.

The function builds some 25 ops a column, most of which find out which of a handful of ids are equal or missing, and half as many for the
gradient. With a mark beside them (`deeprec/marks`) each column is one GroupEmbeddingLookup, and those of a step that do not wait for
each other are joined to one when the graph is pruned (`core/graph/lookup_join_pass.cc`); their gradients likewise.
"""

from tensorflow.deeprec import settings
from tensorflow.deeprec.embedding import group_lookup
from tensorflow.deeprec.marks import mark as marks
from tensorflow.deeprec.stage.uncounted import uncounted
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.framework import dtypes, ops, sparse_tensor
from tensorflow.python.framework.tensor import Tensor
from tensorflow.python.ops import embedding_ops

KIND = "lookup"
_ENABLED = not {KIND, "all"} & settings.DISABLED_FUSIONS

# What the pass may join; as the kind's C++ code sets it of lookups.
_JOIN = "_deeprec_join"


def mark(rows, params, ids, weights, combiner, default_id, partition_strategy, max_norm) -> None:
    """Puts a mark beside a lookup that the released function has built, if it can be one op.

    Args:
      rows: its result. The others: its arguments.
    """
    if not _ENABLED or not isinstance(rows, Tensor) or not marks.may_put():
        return
    if not isinstance(ids, sparse_tensor.SparseTensor) or not isinstance(default_id, (int, type(None))):
        return
    if weights is not None and not (
        isinstance(weights, sparse_tensor.SparseTensor) and weights.dtype == dtypes.float32
    ):
        return
    # Norms that rows are clipped to are summed in another order, and so is their gradient.
    if max_norm is not None or ids.dtype not in (dtypes.int32, dtypes.int64):
        return
    column = group_lookup.safe_column(params, ids, weights, combiner, default_id, partition_strategy, max_norm)
    parts = group_lookup.parts_of(params)
    if group_lookup.group_of(column, parts) is None or rows.dtype != parts[0].dtype.base_dtype:
        return
    with uncounted(ops.get_default_graph()), ops.device(None), embedding_ops._colocate_with(parts[0]):
        with ops.name_scope("lookup"):
            inputs, attributes = group_lookup.describe([(0, column, parts)])
            marks.put(KIND, [rows], sum(inputs.values(), []), {**attributes, "T": rows.dtype})


@marks.register(KIND)
def _gradient(mark, grad):
    attributes = group_lookup.attributes_of(mark, marks.attribute(KIND, ""))
    inputs = group_lookup.inputs_of(marks.reads_of(mark), attributes)
    return group_lookup.gradients(mark, inputs, attributes, [(grad, mark.outputs[0])], _may_be_joined)


def _may_be_joined(op) -> None:
    op._set_attr(_JOIN, attr_value_pb2.AttrValue(b=True))
