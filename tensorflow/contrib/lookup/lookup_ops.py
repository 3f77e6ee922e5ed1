"""Lookup tables: core's, under the arguments of 1.15's contrib."""

from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import gen_lookup_ops, lookup_ops
from tensorflow.python.ops.lookup_ops import (
    FastHashSpec,
    HasherSpec,
    IdTableWithHashBuckets,
    InitializableLookupTableBase,
    InitializableLookupTableBaseV1,
    KeyValueTensorInitializer,
    LookupInterface,
    StrongHashSpec,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
    index_table_from_file,
    index_to_string_table_from_file,
)

MutableHashTable = lookup_ops.MutableHashTable
MutableDenseHashTable = lookup_ops.DenseHashTable

__all__ = [
    "FastHashSpec",
    "HashTable",
    "HasherSpec",
    "IdTableWithHashBuckets",
    "InitializableLookupTableBase",
    "InitializableLookupTableBaseV1",
    "KeyValueTensorInitializer",
    "LookupInterface",
    "MutableDenseHashTable",
    "MutableHashTable",
    "StrongHashSpec",
    "TableInitializerBase",
    "TextFileIdTableInitializer",
    "TextFileIndex",
    "TextFileInitializer",
    "TextFileStringTableInitializer",
    "index_table_from_file",
    "index_table_from_tensor",
    "index_to_string",
    "index_to_string_table_from_file",
    "index_to_string_table_from_tensor",
    "string_to_index",
    "string_to_index_table_from_file",
    "string_to_index_table_from_tensor",
]


def index_table_from_tensor(
    mapping, num_oov_buckets=0, default_value=-1, hasher_spec=FastHashSpec, dtype=dtypes.string, name=None
):
    """A table from values to their positions in `mapping`; `tf.tables_initializer` fills it.

    Args:
      mapping: 1-D tensor (or list) of distinct values.
      num_oov_buckets: number of ids, from the size of `mapping` on, over which other values are hashed.
      default_value: id of other values if `num_oov_buckets` is 0.
      hasher_spec: `HasherSpec` of the hash.
      dtype: string or an integer type.
      name: name of the op.

    Raises:
      ValueError: if `mapping` is None, or `num_oov_buckets` negative.
    """
    if mapping is None:
        raise ValueError("mapping must be given, got None")
    return lookup_ops.index_table_from_tensor(
        vocabulary_list=mapping,
        num_oov_buckets=num_oov_buckets,
        default_value=default_value,
        hasher_spec=hasher_spec,
        dtype=dtype,
        name=name,
    )


def index_to_string_table_from_tensor(mapping, default_value="UNK", name=None):
    """A table from positions in `mapping` to its strings; other ids give `default_value`.

    Raises:
      ValueError: if `mapping` is None.
    """
    if mapping is None:
        raise ValueError("mapping must be given, got None")
    return lookup_ops.index_to_string_table_from_tensor(vocabulary_list=mapping, default_value=default_value, name=name)


def string_to_index_table_from_file(
    vocabulary_file=None,
    num_oov_buckets=0,
    vocab_size=None,
    default_value=-1,
    hasher_spec=FastHashSpec,
    name=None,
):
    """`index_table_from_file` of strings."""
    return index_table_from_file(
        vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype=dtypes.string, name=name
    )


def string_to_index_table_from_tensor(
    mapping, num_oov_buckets=0, default_value=-1, hasher_spec=FastHashSpec, name=None
):
    """`index_table_from_tensor` of strings.

    Raises:
      ValueError: if `mapping` holds something else.
    """
    with ops.name_scope(name, "string_to_index") as scope:
        mapping = ops.convert_to_tensor(mapping)
    if mapping.dtype.base_dtype != dtypes.string:
        raise ValueError(f"mapping must hold strings, got {mapping.dtype}")
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, name=scope)


def string_to_index(tensor, mapping, default_value=-1, name=None):
    """The positions of strings in `mapping`, `default_value` for others; `tf.tables_initializer` must run first."""
    return index_table_from_tensor(mapping=mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string(tensor, mapping, default_value="UNK", name=None):
    """The strings at positions of `mapping`, `default_value` for others; `tf.tables_initializer` must run first."""
    return index_to_string_table_from_tensor(mapping=mapping, default_value=default_value, name=name).lookup(tensor)


class HashTable(InitializableLookupTableBaseV1):
    """A table that does not change once its initializer has run.

    Args:
      initializer: such as `KeyValueTensorInitializer(keys, values)`; gives the types.
      default_value: value of other keys.
      shared_name: name under which several sessions share the table.
      name: name of the op, "hash_table" by default.
    """

    def __init__(self, initializer, default_value, shared_name=None, name=None):
        self._initializer = initializer
        self._default_value = default_value
        self._shared_name = shared_name
        self._name = name or "hash_table"
        self._table_name = None
        super().__init__(default_value, initializer)
        self._value_shape = self._default_value.get_shape()

    def _create_resource(self):
        table = gen_lookup_ops.hash_table_v2(
            shared_name=self._shared_name,
            key_dtype=self._initializer.key_dtype,
            value_dtype=self._initializer.value_dtype,
            name=self._name,
        )
        # An eager tensor has no op.
        self._table_name = table.op.name.split("/")[-1] if hasattr(table, "graph") else None
        return table

    @property
    def init(self):
        """The op that fills the table."""
        return self.initializer

    @property
    def name(self):
        """Name of the table."""
        return self._table_name

    def export(self, name=None):
        """All keys and values, two tensors, in no particular order."""
        with ops.name_scope(name, f"{self.name}_Export", [self.resource_handle]):
            keys, values = gen_lookup_ops.lookup_table_export_v2(
                self.resource_handle, self._key_dtype, self._value_dtype
            )
        values.set_shape(keys.get_shape().concatenate(self._value_shape))
        return keys, values
