"""From the fields that a program asks for to those of its files."""

from tensorflow.deeprec.data import arguments, schema
from tensorflow.deeprec.data.dataframe import Field
from tensorflow.deeprec.data.reader import CorruptedError
from tensorflow.python.framework import tensor_util


def in_file(filename, fields=None, format_="parquet", lower=False) -> tuple[list[Field], list[Field]]:
    """The fields of a file.

    Args:
      filename: a path or URI.
      fields: names and Fields; None: all columns.
      format_: "parquet" or "orc".
      lower: whether names that are not found are tried in lower case, and returned so.

    Returns:
      Complete fields that the file has, and those of `fields` that it has not, which have a default_value.

    Raises:
      ValueError: a column is not there, has another type than its Field says, or one that tensors cannot hold.
    """
    columns, reasons = schema.read(filename, format_)
    if fields is None:
        if reasons:
            raise ValueError(f"{next(iter(reasons.values()))}; leave it out of fields")
        return list(columns.values()), []
    found, missing = [], []
    for field in map(as_field, fields):
        name = field.name
        if lower and name not in columns and name not in reasons:
            name = name.lower()
        if name in reasons:
            raise ValueError(reasons[name])
        if name in columns:
            found.append(_completed(filename, field.renamed(name), columns[name]))
        elif field.default_value is not None:
            missing.append(field)
        else:
            raise ValueError(f"{filename}: it has no column {field.name!r}; it has {sorted(columns)}")
    return found, missing


def resolve(
    filenames, fields, format_="parquet", lower=False, skip_corrupted=False
) -> tuple[tuple[Field, ...], tuple[Field, ...]]:
    """The fields of a dataset, and those of them that its files have; as in_file, of the first file.

    With `skip_corrupted` it is the first one that can be read.

    Raises:
      TypeError: filenames are no names, or fields no list.
      CorruptedError: it is not a file of this format.
      ValueError: as in in_file; there is no file; no file can be asked, and a field is not complete.
    """
    filenames = arguments.names_of_files(filenames)
    if isinstance(fields, (str, bytes, Field)) or not (fields is None or hasattr(fields, "__iter__")):
        raise TypeError(f"fields must be a list of names and DataFrame.Fields, got {fields!r}")
    fields = None if fields is None else list(fields)
    if fields == []:
        raise ValueError("fields must have at least one name, got none; None is all columns")
    if isinstance(filenames, (list, tuple)) and not any(map(tensor_util.is_tf_type, filenames)):
        for first in filenames:
            try:
                found, missing = in_file(first, fields, format_, lower)
                break
            except CorruptedError:
                if not skip_corrupted or first is filenames[-1]:
                    raise
        if not found:
            raise ValueError(f"{first}: it has none of the fields")
        unique = {field.name for field in found + missing}
        if len(unique) != len(found) + len(missing):
            raise ValueError(f"fields must have different names, got {[field.name for field in found + missing]}")
        return tuple(found + missing), tuple(found)
    for field in fields or ():
        if not isinstance(field, Field) or field.incomplete:
            raise ValueError(
                f"filenames are tensors, so fields must be DataFrame.Fields with dtype and ragged_rank, got {field!r}"
            )
    if not fields:
        raise ValueError(
            "filenames are tensors, so fields must be given, as DataFrame.Fields with dtype and ragged_rank"
        )
    return tuple(fields), tuple(fields)


def as_field(field) -> Field:
    """A Field as it is, or a Field of this name."""
    return field if isinstance(field, Field) else Field(field)


def _completed(filename, field: Field, column: Field) -> Field:
    """`field`, with what it does not say taken from the file's."""
    if field.dtype is not None and field.dtype != column.dtype:
        raise ValueError(
            f"{filename}: column {field.name!r} holds {column.dtype.name}, its field says {field.dtype.name}"
        )
    rank = column.ragged_rank if field.ragged_rank is None else field.ragged_rank
    shape = field.shape
    if not shape.rank and rank == column.ragged_rank:
        shape = column.shape
    # With a shape, lists of one length stand for values; without, each level has its row splits.
    levels = column.ragged_rank + (column.shape.rank or 0)
    if rank > levels or (rank < levels and not shape.rank):
        raise ValueError(
            f"{filename}: column {field.name!r} has {levels} list levels, its field says a ragged_rank of {rank}"
        )
    complete = Field(field.name, column.dtype, rank, shape, field.default_value)
    complete.set_restore_idx_field(field.restore_idx_field)
    return complete
