"""Columns that are stored once for a block of rows.

A row of such a file is a block of B rows. A value column holds the list of the block's different values, one list level more than the
values have. An index column holds a list of B int64: which of them each row has.
"""

import tensorflow as tf
from hybridbackend.tensorflow.data import transformations
from tensorflow.deeprec.data.dataframe import DataFrame, Value


def deduplicate(key_idx_field_names, value_field_names, fields=None, pad=False, num_parallel_calls=None):
    """A transformation, for `Dataset.apply`, of batches of blocks into parsed batches of their rows.

    Args:
      key_idx_field_names: index columns; they are not in the result.
      value_field_names: for each of them, the value columns that it restores.
      fields: names or Fields of the columns, to check the names against; None: those of the batches.
      pad: as in DataFrame.parse.
      num_parallel_calls: batches at a time.

    Returns:
      A function from a dataset to one. A value column with one list level becomes a Tensor [blocks * B], one with more a SparseTensor.
      Other columns stay rows of blocks.

    Raises:
      ValueError: the lists have different lengths, or name unknown columns, or one twice; an index column does not hold lists of integers,
        or a value column no lists.
    """
    restored_by = index_of_values(key_idx_field_names, value_field_names)
    if fields is not None:
        check_names(restored_by, [getattr(field, "name", field) for field in fields])

    def apply(dataset):
        check_names(restored_by, tf.data.get_output_types(dataset))
        return dataset.map(lambda batch: restore(batch, restored_by, pad), num_parallel_calls=num_parallel_calls)

    return apply


def index_of_values(key_idx_field_names, value_field_names, columns=None) -> dict:
    """{value column: index column}; with `columns`, names that are not among those are in lower case.

    Raises:
      ValueError: as in deduplicate.
    """
    keys, values = _listed(key_idx_field_names), _listed(value_field_names)
    if len(keys) != len(values):
        raise ValueError(
            f"key_idx_field_names and value_field_names must have one length, got {len(keys)} and {len(values)}"
        )

    def column(name):
        return name if columns is None or name in columns else name.lower()

    found = {}
    for key, names in zip(keys, values):
        for name in map(column, _listed(names)):
            if name in found:
                raise ValueError(f"value_field_names has {name!r} twice")
            found[name] = column(key)
    for key in found.values():
        if key in found:
            raise ValueError(f"value_field_names has {key!r}, an index column of key_idx_field_names")
    return found


def _listed(names) -> list:
    return [names] if isinstance(names, str) else list(names or ())


def check_names(restored_by: dict, names) -> None:
    """Raises ValueError for columns that are not among the names."""
    for argument, given in (("key_idx_field_names", restored_by.values()), ("value_field_names", restored_by)):
        for name in given:
            if name not in names:
                raise ValueError(f"{argument} has {name!r}, but the columns are {sorted(names)}")


def restore(batch: dict, restored_by: dict, pad=False) -> dict:
    """A parsed batch of rows out of a batch of blocks."""
    keys = set(restored_by.values())
    indices = {}
    for key in keys:
        if not isinstance(batch[key], Value) or len(batch[key].nested_row_splits) != 1:
            raise ValueError(f"index column {key!r} must hold lists, of one level, got {batch[key]}")
        if not batch[key].values.dtype.is_integer:
            raise ValueError(f"index column {key!r} must hold lists of integers, got {batch[key].values.dtype.name}")
        # Of different lengths, blocks would be filled up with rows that are none.
        splits = batch[key].nested_row_splits[0]
        lengths = splits[1:] - splits[:-1]
        same = tf.debugging.assert_equal(
            lengths, lengths[:1], message=f"blocks of index column {key!r} have different numbers of rows"
        )
        with tf.control_dependencies([same]):
            indices[key] = tf.reshape(batch[key].values, [tf.size(lengths), -1])
    parsed = {}
    for name, value in batch.items():
        if name in keys:
            continue
        of_column = pad.get(name, False) if isinstance(pad, dict) else pad
        if name in restored_by and not isinstance(value, Value):
            raise ValueError(f"value column {name!r} must hold a list for each block")
        parsed[name] = DataFrame.parse(value, of_column, indices.get(restored_by.get(name)))
    return parsed


def of_equal_length(batch: dict, restored_by: dict) -> dict:
    """A restored batch, for single records: columns that are not restored, which have a row for each block, are an error when it runs."""
    rows = transformations.num_rows({name: batch[name] for name in restored_by})
    checks = [
        tf.debugging.assert_equal(
            transformations.num_rows({name: batch[name]}),
            rows,
            message=f"column {name!r} is not in value_field_names and has a row for each block, so there are no single records; "
            "use batch, or leave the column out of fields",
        )
        for name in batch
        if name not in restored_by
    ]
    with tf.control_dependencies(checks):
        return tf.nest.map_structure(tf.identity, batch)
