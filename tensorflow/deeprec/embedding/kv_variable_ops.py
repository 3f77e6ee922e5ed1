"""The names that programs import from `tensorflow.python.ops.kv_variable_ops`."""

from tensorflow.deeprec import library
from tensorflow.deeprec.embedding import lookup as _lookup
from tensorflow.deeprec.embedding import tables as _tables
from tensorflow.deeprec.embedding.dynamic_dimension import DynamicEmbeddingVariable
from tensorflow.deeprec.embedding.multihash import MultiHashVariable
from tensorflow.deeprec.embedding.variable import EmbeddingVariable, is_embedding_variable
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, data_flow_ops, math_ops

__all__ = [
    "DynamicEmbeddingVariable",
    "EmbeddingVariable",
    "MultiHashVariable",
    "is_embedding_variable",
    "is_kv_variable",
    "lookup_tier",
    "variable_shape",
]


is_kv_variable = is_embedding_variable


def lookup_tier(params, ids, name=None):
    """The storage tier that holds the row of each key.

    Args:
      params: EmbeddingVariable, or list or PartitionedVariable of its parts.
      ids: keys, of any shape.
      name: name of the op.

    Returns:
      int32 of the shape of `ids`: 0 for the first tier, 1 and 2 for those below, -1 for a key without a row. Rows that the
      first tier has no room for go down before.

    Raises:
      ValueError: params are no EmbeddingVariables.
    """
    parts = _tables.parts_of(params)
    if not all(isinstance(part, EmbeddingVariable) for part in parts):
        raise ValueError(f"params must be EmbeddingVariables, got {params!r}")
    with ops.name_scope(name, "LookupTier") as scope:
        ids = ops.convert_to_tensor(ids, dtype=parts[0].key_dtype, name="ids")
        if len(parts) == 1:
            return parts[0].lookup_tier(ids, name=scope)
        flat = array_ops.reshape(ids, [-1])
        shards = _lookup.shard_of(flat, len(parts))
        keys = data_flow_ops.dynamic_partition(flat, shards, len(parts))
        places = data_flow_ops.dynamic_partition(math_ops.range(array_ops.size(flat)), shards, len(parts))
        tiers = [part.lookup_tier(of_part) for part, of_part in zip(parts, keys)]
        return array_ops.reshape(data_flow_ops.parallel_dynamic_stitch(places, tiers), array_ops.shape(ids), name=scope)


def variable_shape(handle, out_type=dtypes.int32, name=None):
    """`[number of keys, dim]` of the EmbeddingVariable with this handle."""
    return library.ops().kv_variable_shape(handle, out_type=out_type, name=name)
