"""Pandas frames as input pipelines of 1.15 knew them: text in columns of Python strings."""


def with_object_strings(frame):
    """The frame with its string columns, and an index of strings, as objects; other columns are untouched.

    Pandas 3 makes columns of text a string type of its own, which is no NumPy dtype; before, they were of dtype object.
    A missing value is what it was in pandas: NaN, or pd.NA of the nullable string type.
    """
    import pandas  # here: estimators run where there is none

    columns = {name for name, dtype in frame.dtypes.items() if _is_string_type(dtype)}
    index_is_text = _is_string_type(frame.index.dtype)
    if not columns and not index_is_text:
        return frame
    index = pandas.Index(frame.index.to_numpy(object), dtype=object) if index_is_text else frame.index
    return frame.astype({name: object for name in columns}).set_axis(index, axis=0)


def _is_string_type(dtype) -> bool:
    """True for pandas' StringDtype, whatever holds the values, and for Arrow's string types."""
    if dtype.name == "string" or type(dtype).__name__ == "StringDtype":
        return True
    return type(dtype).__name__ == "ArrowDtype" and dtype.type is str
