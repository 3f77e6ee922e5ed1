"""EmbeddingVariables of dynamic dimension: an id has as many blocks of the row as the lookup says, the rest are 0."""

from tensorflow.deeprec.embedding import getter
from tensorflow.deeprec.embedding import lookup as lookup_lib
from tensorflow.deeprec.embedding.options import EmbeddingVariableOption, StorageOption
from tensorflow.python.framework import dtypes, ops, tensor_shape
from tensorflow.python.ops import array_ops, check_ops, math_ops, variable_scope, variables


class DynamicEmbeddingVariable:
    """A list of EmbeddingVariables of the same dim, one for each block of the row.

    Made by `tf.get_dynamic_dimension_embedding_variable`; looked up by `tf.nn.embedding_lookup(..., blocknums=...)` and
    `tf.nn.embedding_lookup_sparse(..., blocknums=...)`. A key is only in the blocks that it was trained with.
    """

    is_embedding_table = True

    def __init__(self, name: str, blocks: list):
        self.name = name
        self._blocks = blocks

    @property
    def blocks(self) -> list:
        """EmbeddingVariables, or PartitionedVariables of them, the first block first."""
        return list(self._blocks)

    def __iter__(self):
        """The EmbeddingVariables: all parts of all blocks."""
        for block in self._blocks:
            yield from block if isinstance(block, variables.PartitionedVariable) else [block]

    @property
    def block_num(self) -> int:
        return len(self._blocks)

    @property
    def block_dim(self) -> int:
        return next(iter(self)).shape[0]

    @property
    def shape(self) -> tensor_shape.TensorShape:
        """`[block_num * block_dim]`."""
        return tensor_shape.TensorShape([self.block_num * self.block_dim])

    @property
    def dtype(self):
        return next(iter(self)).dtype

    @property
    def key_dtype(self):
        return next(iter(self)).key_dtype

    def need_counts(self) -> bool:
        """Whether lookups should tell how often each key occurs."""
        return next(iter(self)).need_counts()

    def __repr__(self):
        return f"<tf.DynamicEmbeddingVariable {self.name!r} blocks={self.block_num} of dim={self.block_dim}>"

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
        """Looks keys up in as many blocks as each has.

        Args:
          ids: keys, any shape.
          partition_strategy: not used: keys have their own way to parts.
          name: name of the op.
          max_norm: L2 norm to which whole rows are clipped.
          ev_init_value: must be None.
          blocknums: int of the shape of `ids`, in [0, block_num]. Where an id occurs more than once the largest holds for all.
          counts: int of the shape of `ids`: occurrences that each stands for.

        Returns:
          `ids.shape + [block_num * block_dim]`.

        Raises:
          ValueError: blocknums is missing or of another shape, or ev_init_value given.
          tf.errors.InvalidArgumentError: (when run) blocknums is out of range.
        """
        del partition_strategy
        if blocknums is None:
            raise ValueError(f"blocknums must be given for {self!r}: the number of blocks of each id; got None")
        if ev_init_value is not None:
            raise ValueError(f"ev_init_value must be None for {self!r}, got {ev_init_value!r}")
        with ops.name_scope(name, "embedding_lookup") as scope:
            ids = ops.convert_to_tensor(ids, name="ids", dtype_hint=self.key_dtype)
            blocknums = math_ops.cast(ops.convert_to_tensor(blocknums, name="blocknums"), dtypes.int32)
            if not blocknums.shape.is_compatible_with(ids.shape):
                raise ValueError(f"blocknums must have the shape of ids, {ids.shape}, got {blocknums.shape}")
            checks = (
                check_ops.assert_non_negative(blocknums, message=f"blocknums of {self.name} must not be negative"),
                check_ops.assert_less_equal(
                    blocknums, self.block_num, message=f"blocknums of {self.name} must be at most {self.block_num}"
                ),
                check_ops.assert_equal(
                    array_ops.shape(blocknums), array_ops.shape(ids), message="blocknums must have the shape of ids"
                ),
            )
            with ops.control_dependencies(checks):
                unique_ids, positions = array_ops.unique(array_ops.reshape(ids, [-1]))
            number = array_ops.size(unique_ids)
            of_ids = math_ops.unsorted_segment_max(array_ops.reshape(blocknums, [-1]), positions, number)
            if self.need_counts():
                flat = array_ops.ones_like(positions) if counts is None else array_ops.reshape(counts, [-1])
                counts = math_ops.unsorted_segment_sum(flat, positions, number)
            else:
                counts = None
            rows = array_ops.concat(
                [self._block_rows(block, i, unique_ids, of_ids, counts) for i, block in enumerate(self._blocks)], 1
            )
            rows = array_ops.gather(lookup_lib.clipped(rows, max_norm), positions)
            rows = array_ops.reshape(
                rows, array_ops.concat([array_ops.shape(ids), self.shape.as_list()], 0), name=scope
            )
            rows.set_shape(ids.shape.concatenate(self.shape))
            return rows

    def _block_rows(self, block, i: int, ids, blocknums, counts):
        present = math_ops.greater(blocknums, i)
        rows = lookup_lib.lookup(
            block,
            array_ops.boolean_mask(ids, present),
            counts=None if counts is None else array_ops.boolean_mask(counts, present),
        )
        shape = array_ops.concat([array_ops.shape(ids), [self.block_dim]], 0)
        placed = array_ops.scatter_nd(math_ops.cast(array_ops.where(present), dtypes.int32), rows, shape)
        placed.set_shape([None, self.block_dim])
        return placed


def get_dynamic_dimension_embedding_variable(
    name,
    embedding_block_dimension,
    embedding_block_num,
    key_dtype=dtypes.int64,
    value_dtype=None,
    initializer=None,
    regularizer=None,
    trainable=True,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape=True,
    custom_getter=None,
    constraint=None,
    steps_to_live=None,
    init_data_source=None,
    ht_partition_num=1000,
    storage_type=None,
):
    """Gets an EmbeddingVariable of dynamic dimension, or makes it: the EmbeddingVariables `name/block0`, `name/block1`, ...

    Args:
      name: name in the variable scope.
      embedding_block_dimension: elements of a block.
      embedding_block_num: blocks of a row.
      steps_to_live: as for `tf.GlobalStepEvict`.
      ht_partition_num: buckets that keys are grouped by in checkpoints.
      storage_type: as for `tf.StorageOption`.
      key_dtype, value_dtype, initializer, regularizer, trainable, collections, caching_device, partitioner, validate_shape,
        custom_getter, constraint, init_data_source: as for `tf.get_embedding_variable`, for each block.

    Returns:
      DynamicEmbeddingVariable.

    Raises:
      ValueError: an argument is out of range.
    """
    for argument, value in (
        ("embedding_block_dimension", embedding_block_dimension),
        ("embedding_block_num", embedding_block_num),
    ):
        if isinstance(value, bool) or int(value) != value or value <= 0:
            raise ValueError(f"{argument} must be a positive integer, got {value!r}")
    option = EmbeddingVariableOption(
        ht_partition_num=ht_partition_num, storage_option=StorageOption(storage_type=storage_type)
    )
    with variable_scope.variable_scope(name) as scope:
        blocks = [
            getter.get_embedding_variable(
                f"block{i}",
                int(embedding_block_dimension),
                key_dtype=key_dtype,
                value_dtype=value_dtype,
                initializer=initializer,
                regularizer=regularizer,
                trainable=trainable,
                collections=collections,
                caching_device=caching_device,
                partitioner=partitioner,
                validate_shape=validate_shape,
                custom_getter=custom_getter,
                constraint=constraint,
                steps_to_live=steps_to_live,
                init_data_source=init_data_source,
                ev_option=option,
            )
            for i in range(int(embedding_block_num))
        ]
        return DynamicEmbeddingVariable(scope.name, blocks)
