"""Data of dask frames and series."""

import importlib.util

HAS_DASK = importlib.util.find_spec("dask") is not None


def _whole(data, kinds):
    """The frame or series in memory; other objects as they are."""
    kind = type(data)
    if kind.__module__.split(".")[0] not in ("dask", "dask_expr") or kind.__name__ not in kinds:
        return data
    return data.compute()


def extract_dask_data(data):
    """Features of a dask frame or series, as a pandas one in memory; other objects as they are.

    Args:
      data: `dask.dataframe.DataFrame` or `Series`, or anything else.
    """
    return _whole(data, ("DataFrame", "Series"))


def extract_dask_labels(labels):
    """Labels of a dask frame of one column or a series, as a pandas one in memory; other objects as they are.

    Args:
      labels: `dask.dataframe.DataFrame` or `Series`, or anything else.

    Raises:
      ValueError: if a frame has more than one column.
    """
    whole = _whole(labels, ("DataFrame", "Series"))
    if whole is not labels and getattr(whole, "ndim", 1) > 1 and len(whole.columns) > 1:
        raise ValueError(f"Only one column for labels is allowed, got {list(whole.columns)}")
    return whole
