"""`tf.get_hash_table`: the older table of rows found by id, here an EmbeddingVariable with the older names."""

from tensorflow.deeprec.embedding import getter
from tensorflow.deeprec.embedding import lookup as lookup_lib
from tensorflow.python.framework import dtypes, tensor_shape
from tensorflow.python.ops import array_ops, partitioned_variables, variables


class FixedSizeHashTablePartitioner:
    """Splits a hash table into `part_num` parts."""

    def __init__(self, part_num: int):
        if isinstance(part_num, bool) or int(part_num) != part_num or part_num <= 0:
            raise ValueError(f"part_num must be a positive integer, got {part_num!r}")
        self.part_num = int(part_num)

    def __call__(self, *args, **kwargs):
        return partitioned_variables.fixed_size_partitioner(self.part_num)(*args, **kwargs)


class HashTable:
    """Rows of any shape found by int64 ids; a row is made when it is first trained.

    Made by `tf.get_hash_table`; `lookup`, or `tf.nn.embedding_lookup` and its sparse forms, read it.
    """

    is_embedding_table = True

    def __init__(self, name: str, variable, shape: tensor_shape.TensorShape):
        self._name = name
        self._variable = variable
        self._shape = shape

    @property
    def name(self) -> str:
        return self._name

    @property
    def shape(self) -> tensor_shape.TensorShape:
        """Of a row."""
        return self._shape

    @property
    def dtype(self):
        return self.partitions[0].dtype

    @property
    def key_dtype(self):
        return dtypes.int64

    @property
    def partitions(self) -> list:
        """Its EmbeddingVariables."""
        variable = self._variable
        return list(variable) if isinstance(variable, variables.PartitionedVariable) else [variable]

    def __iter__(self):
        return iter(self.partitions)

    def need_counts(self) -> bool:
        """Whether lookups should tell how often each key occurs."""
        return self.partitions[0].need_counts()

    def lookup(
        self,
        ids,
        partition_strategy="mod",
        name=None,
        max_norm=None,
        ev_init_value=None,
        blocknums=None,
        counts=None,
    ):
        """`ids.shape + shape` for int64 ids of any shape; arguments as for `tf.nn.embedding_lookup`."""
        rows = lookup_lib.lookup(
            self._variable, ids, partition_strategy, name, max_norm, ev_init_value, blocknums, counts
        )
        if self._shape.rank == 1:
            return rows
        shaped = array_ops.reshape(rows, array_ops.concat([array_ops.shape(rows)[:-1], self._shape.as_list()], 0))
        shaped.set_shape(rows.shape[:-1].concatenate(self._shape))
        return shaped

    def size(self, name=None):
        """Number of ids that have rows, int32 scalar."""
        return sum(part.total_count(name=name)[0] for part in self.partitions)

    def __repr__(self):
        return f"<tf.HashTable {self._name!r} shape={self._shape} dtype={self.dtype.name}>"


def get_hash_table(
    name,
    embedding_dim,
    dtype=None,
    initializer=None,
    collections=None,
    trainable=True,
    synchronization=variables.VariableSynchronization.AUTO,
    partitioner=None,
    children=None,
):
    """Gets a hash table of the variable scope, or makes it.

    Args:
      name: name in the scope.
      embedding_dim: elements of a row, or its shape as a list.
      dtype: tf.float32 (None), tf.float64, tf.bfloat16 or tf.float16.
      initializer: of new rows, as for `tf.get_embedding_variable`.
      collections: None: GLOBAL_VARIABLES.
      trainable: whether optimizers find it; None: yes.
      synchronization: must be AUTO.
      partitioner: FixedSizeHashTablePartitioner, or any that `tf.get_embedding_variable` takes.
      children: must be None: one table for several features is not available.

    Returns:
      HashTable.

    Raises:
      ValueError: an argument is out of range.
    """
    if synchronization != variables.VariableSynchronization.AUTO:
        raise ValueError(f"synchronization must be AUTO, got {synchronization!r}")
    if children:
        raise ValueError(f"children must be None: hash tables have no children here, got {children!r}")
    shape = tensor_shape.TensorShape(embedding_dim if isinstance(embedding_dim, (list, tuple)) else [embedding_dim])
    if not shape.num_elements():
        raise ValueError(f"embedding_dim must be positive, or a list of positive integers, got {embedding_dim!r}")
    variable = getter.get_embedding_variable(
        name,
        shape.num_elements(),
        value_dtype=dtype,
        initializer=initializer,
        collections=collections,
        trainable=trainable is None or bool(trainable),
        partitioner=partitioner,
    )
    whole = variable.name.removesuffix(":0")
    return HashTable(whole, variable, shape)
