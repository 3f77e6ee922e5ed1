"""HDF5Matrix: part of an HDF5 dataset as input of `fit`, read when a batch asks for it."""

from collections import defaultdict

import numpy as np


class HDF5Matrix:
    """The rows [start, end) of a dataset in an HDF5 file.

    Args:
      datapath: path of the file.
      dataset: name of the dataset in it.
      start: first row, default 0.
      end: row after the last, default all.
      normalizer: function that each piece goes through when it is read.

    Raises:
      ImportError: h5py is not installed.
      IndexError: rows outside of [0, end - start).
    """

    # Open files by path, shared by the matrices on the same file.
    refs = defaultdict(int)

    def __init__(self, datapath, dataset, start=0, end=None, normalizer=None):
        try:
            import h5py
        except ImportError as error:
            raise ImportError("HDF5Matrix needs h5py: pip install h5py") from error
        if datapath not in self.refs:
            self.refs[datapath] = h5py.File(datapath, "r")
        self.data = self.refs[datapath][dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer
        self._dtype = self._normalized(self.data[0:1]).dtype

    def _normalized(self, value):
        return value if self.normalizer is None else np.asarray(self.normalizer(value))

    def __len__(self):
        return self.end - self.start

    def __getitem__(self, key):
        n = len(self)
        if isinstance(key, slice):
            start, stop, step = key.indices(n)
            value = self.data[self.start + start : self.start + max(start, stop)][::step] if step > 0 else None
            if value is None:
                value = self.data[self.start : self.end][key]
        elif isinstance(key, (int, np.integer)):
            if not -n <= key < n:
                raise IndexError(f"row {key} of an HDF5Matrix with {n} rows")
            value = self.data[self.start + key % n]
        else:
            rows = np.asarray(key)
            if rows.dtype == bool:
                rows = np.flatnonzero(rows)
            if rows.size and (rows.min() < 0 or rows.max() >= n):
                raise IndexError(f"rows {rows.min()} to {rows.max()} of an HDF5Matrix with {n} rows")
            # h5py wants increasing, distinct rows.
            distinct, place = np.unique(rows, return_inverse=True)
            value = self.data[list(distinct + self.start)][place.reshape(rows.shape)]
        return self._normalized(value)

    @property
    def shape(self):
        return (len(self),) + self.data.shape[1:]

    @property
    def dtype(self):
        return self._dtype

    @property
    def ndim(self):
        return self.data.ndim

    @property
    def size(self):
        return int(np.prod(self.shape))
