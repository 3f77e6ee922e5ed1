"""Multi-hash variables: two small tables whose rows together make up the row of an id, by quotient and remainder.

With a table of r remainders, id x has row `x // r` of the one and row `x mod r` of the other, so no two ids share both.
"Compositional Embeddings Using Complementary Partitions for Memory-Efficient Recommendation Systems",
https://arxiv.org/abs/1909.02107.
"""

from tensorflow.deeprec.embedding import lookup as lookup_lib
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, check_ops, embedding_ops, math_ops, variable_scope, variables

OPERATIONS = ("add", "mul", "concat")


def checked_operation(operation: str) -> str:
    """The operation; "mult" is another name for "mul".

    Raises:
      ValueError: there is no such operation.
    """
    operation = "mul" if operation == "mult" else operation
    if operation not in OPERATIONS:
        raise ValueError(f"operation must be 'add', 'mul' ('mult') or 'concat', got {operation!r}")
    return operation


def checked_strategy(strategy: str) -> str:
    if strategy != "Q-R":
        raise ValueError(f"complementary_strategy must be 'Q-R', got {strategy!r}")
    return strategy


class MultiHashVariable:
    """A table of `quotients * remainders` ids in the space of `quotients + remainders` rows.

    Made by `tf.get_multihash_variable`; looked up by `tf.nn.embedding_lookup` and its sparse forms.
    """

    is_embedding_table = True

    def __init__(self, name: str, quotient, remainder, dims, operation: str):
        self.name = name
        self._tables = (quotient, remainder)
        self._dims = dims
        self.operation = operation

    @property
    def quotient(self):
        """The variable `[q, d1]`, or its parts."""
        return self._tables[0]

    @property
    def remainder(self):
        """The variable `[r, d2]`, or its parts."""
        return self._tables[1]

    @property
    def dtype(self):
        return self._tables[0].dtype.base_dtype

    @property
    def dim(self) -> int:
        """Elements of a row: d1, or d1 + d2 for "concat"."""
        return sum(d for _, d in self._dims) if self.operation == "concat" else self._dims[0][1]

    @property
    def num_ids(self) -> int:
        """Ids are in [0, num_ids)."""
        return self._dims[0][0] * self._dims[1][0]

    def __iter__(self):
        """The variables."""
        for table in self._tables:
            yield from table if isinstance(table, variables.PartitionedVariable) else [table]

    def __repr__(self):
        return f"<tf.MultiHashVariable {self.name!r} dims={self._dims} operation={self.operation!r}>"

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
        """`ids.shape + [dim]` for ids of int64 or int32, any shape.

        Raises:
          ValueError: an argument is given that is only for EmbeddingVariables.
          tf.errors.InvalidArgumentError: (when run) an id is out of range.
        """
        del counts  # There is nothing to count for.
        for argument, value in (("ev_init_value", ev_init_value), ("blocknums", blocknums)):
            if value is not None:
                raise ValueError(f"{argument} must be None for {self!r}, got {value!r}")
        with ops.name_scope(name, "embedding_lookup") as scope:
            ids = ops.convert_to_tensor(ids, name="ids")
            message = f"ids of {self.name} must be in [0, {self.num_ids})"
            number = math_ops.cast(self.num_ids, ids.dtype)
            checks = (
                check_ops.assert_non_negative(ids, message=message),
                check_ops.assert_less(ids, number, message=message),
            )
            with ops.control_dependencies(checks):
                ids = array_ops.identity(ids)
            remainders = math_ops.cast(self._dims[1][0], ids.dtype)
            first, second = (
                embedding_ops.embedding_lookup(table, rows, partition_strategy=partition_strategy)
                for table, rows in (
                    (self.quotient, math_ops.floordiv(ids, remainders)),
                    (self.remainder, math_ops.floormod(ids, remainders)),
                )
            )
            if self.operation == "concat":
                rows = array_ops.concat([first, second], -1)
            else:
                rows = first + second if self.operation == "add" else first * second
            return array_ops.identity(lookup_lib.clipped(rows, max_norm), name=scope)


def get_multihash_variable(
    name,
    dims,
    complementary_strategy="Q-R",
    operation="add",
    dtype=float,
    initializer=None,
    regularizer=None,
    trainable=None,
    collections=None,
    caching_device=None,
    partitioner=None,
    validate_shape=True,
    use_resource=None,
    custom_getter=None,
    constraint=None,
    synchronization=variables.VariableSynchronization.AUTO,
    aggregation=variables.VariableAggregation.NONE,
):
    """Gets a multi-hash variable of the variable scope, or makes it: the variables `name/multhash_Q` and `name/multhash_R`.

    Args:
      name: name in the scope.
      dims: `[[q, d1], [r, d2]]`: shapes of the tables of quotients and remainders. It has the ids 0 ... q r - 1.
      complementary_strategy: "Q-R".
      operation: "add" or "mul" ("mult") of the two rows, with d1 = d2, or "concat".
      dtype: of the rows.
      initializer, regularizer, trainable, collections, caching_device, partitioner, validate_shape, use_resource, custom_getter,
        constraint, synchronization, aggregation: as for `tf.get_variable`, for both tables.

    Returns:
      MultiHashVariable.

    Raises:
      ValueError: an argument is out of range.
    """
    checked_strategy(complementary_strategy)
    operation = checked_operation(operation)
    dims = checked_dims(dims, operation)

    def table(letter, shape):
        return variable_scope.get_variable(
            f"multhash_{letter}",
            shape=shape,
            dtype=dtypes.as_dtype(dtype),
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=collections,
            caching_device=caching_device,
            partitioner=partitioner,
            validate_shape=validate_shape,
            use_resource=use_resource,
            custom_getter=custom_getter,
            constraint=constraint,
            synchronization=synchronization,
            aggregation=aggregation,
        )

    with variable_scope.variable_scope(name) as scope:
        return MultiHashVariable(scope.name, table("Q", dims[0]), table("R", dims[1]), dims, operation)


def checked_dims(dims, operation: str) -> list[list[int]]:
    """`dims` as lists of positive integers.

    Raises:
      ValueError: they are something else, or the tables' dims do not fit the operation.
    """
    try:
        result = [[int(n) for n in shape] for shape in dims]
        fits = len(result) == 2 and all(len(shape) == 2 and min(shape) > 0 for shape in result)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError(f"dims must be [[q, d1], [r, d2]] of positive integers, got {dims!r}")
    if operation != "concat" and result[0][1] != result[1][1]:
        raise ValueError(f"dims must have d1 = d2 for operation {operation!r}, got {dims!r}")
    return result
