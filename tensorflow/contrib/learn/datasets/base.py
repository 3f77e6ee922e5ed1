"""Small data sets in CSV files."""

import collections
import csv
import os

import numpy as np

from tensorflow.python.platform import gfile

Dataset = collections.namedtuple("Dataset", ["data", "target"])
Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])


def _rows(filename):
    with gfile.Open(filename) as file:
        yield from csv.reader(file)


def load_csv_with_header(filename, target_dtype, features_dtype, target_column=-1):
    """Reads a CSV file whose first row is `number of rows, number of features, ...`.

    Args:
      filename: path of the file.
      target_dtype, features_dtype: NumPy types.
      target_column: index of the target.

    Returns:
      A `Dataset`.
    """
    rows = _rows(filename)
    header = next(rows)
    count, features = int(header[0]), int(header[1])
    data = np.zeros((count, features), dtype=features_dtype)
    target = np.zeros((count,), dtype=target_dtype)
    for i, row in enumerate(rows):
        target[i] = np.asarray(row.pop(target_column), dtype=target_dtype)
        data[i] = np.asarray(row, dtype=features_dtype)
    return Dataset(data=data, target=target)


def load_csv_without_header(filename, target_dtype, features_dtype, target_column=-1):
    """Reads a CSV file without a header; arguments and result as for `load_csv_with_header`."""
    data, target = [], []
    for row in _rows(filename):
        target.append(row.pop(target_column))
        data.append(np.asarray(row, dtype=features_dtype))
    return Dataset(data=np.array(data), target=np.array(target, dtype=target_dtype))


def shrink_csv(filename, ratio):
    """Writes every `ratio`-th line of a file to "NAME_small.EXT" beside it."""
    base, extension = os.path.splitext(filename)
    with gfile.Open(filename) as big, gfile.Open(f"{base}_small{extension}", "w") as small:
        for i, line in enumerate(big):
            if i % ratio == 0:
                small.write(line)


def _local(data_path, name, source):
    if data_path is None:
        raise ValueError(
            f"data_path is needed: the {name} data are not part of this package. It is the path of the CSV file of {source}, with the "
            "header `number of rows, number of features`."
        )
    return data_path


def load_iris(data_path=None):
    """The iris data (150 rows, 4 features, 3 classes) from a CSV file with a header.

    Raises:
      ValueError: if no path is given.
    """
    return load_csv_with_header(
        _local(data_path, "iris", "https://archive.ics.uci.edu/dataset/53/iris"), np.int64, np.float64
    )


def load_boston(data_path=None):
    """The Boston house prices (506 rows, 13 features) from a CSV file with a header.

    Raises:
      ValueError: if no path is given.
    """
    return load_csv_with_header(
        _local(data_path, "Boston", "http://lib.stat.cmu.edu/datasets/boston"), np.float64, np.float64
    )


def maybe_download(filename, work_directory, source_url):
    """The path of a file in a folder.

    Raises:
      FileNotFoundError: if it is not there; this package downloads nothing.
    """
    path = os.path.join(work_directory, filename)
    if not gfile.Exists(path):
        raise FileNotFoundError(f"{path} is missing: get it from {source_url} and put it there.")
    return path
