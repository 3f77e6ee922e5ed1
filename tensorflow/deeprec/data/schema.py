"""The fields of a file: what its Arrow types are as tensors."""

from tensorflow.deeprec.data import arrow, dataframe, reader
from tensorflow.python.framework import dtypes

_NUMBERS = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
)  # fmt: skip
# Names of pyarrow's predicates.
_TEXTS = ("is_string", "is_binary", "is_large_string", "is_large_binary", "is_fixed_size_binary")


def read(name: str, format_: str = "parquet") -> tuple[dict[str, "dataframe.Field"], dict[str, str]]:
    """The fields of all columns of a file, in its order, and the reasons for columns that tensors cannot hold.

    Raises:
      CorruptedError: it is not a file of this format.
      OSError: it cannot be opened.
      ValueError: two columns have one name.
    """
    schema = reader.read_schema(name, format_)
    fields, reasons = {}, {}
    for column in schema:
        if column.name in fields or column.name in reasons:
            raise ValueError(f"{name}: {schema.names.count(column.name)} columns are named {column.name!r}")
        try:
            fields[column.name] = _field(column)
        except TypeError as e:
            reasons[column.name] = f"{name}: column {column.name!r}: {e}"
    return fields, reasons


def _field(column) -> "dataframe.Field":
    """Lists become ragged dimensions. A column of nothing but lists of fixed sizes has a shape instead.

    Raises:
      TypeError: no tensor holds its type.
    """
    types = arrow.module("pyarrow.types")
    inner, sizes, rank = column.type, [], 0
    while True:
        if types.is_fixed_size_list(inner):
            sizes.append(inner.list_size)
        elif not (types.is_list(inner) or types.is_large_list(inner)):
            break
        inner, rank = inner.value_type, rank + 1
    value = inner.value_type if types.is_dictionary(inner) else inner
    if any(getattr(types, predicate)(value) for predicate in _TEXTS):
        dtype = dtypes.string
    else:
        name = {"halffloat": "float16", "float": "float32", "double": "float64"}.get(str(value), str(value))
        if name not in _NUMBERS:
            raise TypeError(
                f"its type is {column.type}; tensors hold integers, floats, bool, string, binary, and lists of them"
            )
        dtype = dtypes.as_dtype(name)
    if rank and len(sizes) == rank:
        return dataframe.Field(column.name, dtype, 0, sizes)
    return dataframe.Field(column.name, dtype, rank)
