"""What lookups take for an embedding table found by key, as opposed to an ordinary variable.

An object says so by `is_embedding_table = True`: EmbeddingVariables, and the tables that are made of several variables, which
then have a method `lookup(ids, partition_strategy, name, max_norm, ev_init_value, blocknums, counts)`.
"""

from tensorflow.python.ops import variables


def is_table(params) -> bool:
    """Whether `params` of a lookup is a table, or has one among its parts."""
    if isinstance(params, (list, tuple, variables.PartitionedVariable)):
        return any(is_table(part) for part in params)
    return getattr(params, "is_embedding_table", False)


def parts_of(params) -> list:
    """The parts of `params`: EmbeddingVariables that hold the keys of one table, or one composite table.

    Raises:
      ValueError: other variables are among them, or they differ in dim or dtype.
    """
    parts = list(params) if isinstance(params, (list, tuple, variables.PartitionedVariable)) else [params]
    if len(parts) == 1 and isinstance(parts[0], variables.PartitionedVariable):
        parts = list(parts[0])
    if len(parts) == 1:
        return parts
    first = parts[0]
    for part in parts:
        if not is_table(part) or is_composite(part):
            raise ValueError(f"params must be EmbeddingVariables, all of them, got {part!r} beside {first!r}")
        if (part.shape, part.dtype, part.key_dtype) != (first.shape, first.dtype, first.key_dtype):
            raise ValueError(f"params must have one dim, dtype and key dtype, got {first!r} and {part!r}")
    return parts


def is_composite(table) -> bool:
    """Whether a table is made of several variables and does its lookups itself."""
    return is_table(table) and hasattr(table, "lookup")


def needs_counts(params) -> bool:
    """Whether lookups should tell how often each key occurs."""
    return any(part.need_counts() for part in parts_of(params) if hasattr(part, "need_counts"))


def source_of(column):
    """The categorical column below weights, sequences and embeddings if it makes its own table, a
    `columns.TableCategoricalColumn`; else None."""
    while column is not None and not getattr(column, "makes_table", False):
        column = getattr(column, "categorical_column", None)
    return column


def has_several_ids(column) -> bool:
    """Whether the categorical column below weights, cuts and sequences has several ids for a value, in a dimension of their
    own."""
    while column is not None and not getattr(column, "makes_several_ids", False):
        column = getattr(column, "categorical_column", None)
    return column is not None


def takes_negative_keys(params) -> bool:
    """Whether ids below 0 are keys in a table like others, and do not mean that there is no id."""
    return is_table(params) and any(getattr(part, "takes_negative_keys", False) for part in parts_of(params))
