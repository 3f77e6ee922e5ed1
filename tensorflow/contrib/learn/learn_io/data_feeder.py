"""Arrays as the input of an estimator, and data for preprocessors."""

import numpy as np

from tensorflow.contrib.learn.learn_io import pandas_io
from tensorflow.python.framework import dtypes
from tensorflow.python.ops import array_ops


def setup_processor_data_feeder(x):
    """Data as preprocessors read them: a pandas frame as its matrix, other objects as they are."""
    return pandas_io.extract_pandas_matrix(x)


def _each(function, data):
    """`function` of an array (and the name ""), or of each array of a dict (and its name)."""
    if isinstance(data, dict):
        return {name: function(value, name) for name, value in data.items()}
    return None if data is None else function(data, "")


class DataFeeder:
    """Feeds parts of arrays, in order or shuffled, to placeholders.

    Args:
      x: array `[n, ...]`, or dict of them: features. Features of one dimension are fed as `[n, 1]`.
      y: array `[n, ...]`, dict of them, or None: labels.
      batch_size: number of elements in a step; None: all.
      shuffle: whether each epoch has an order of its own.
      random_state: `np.random.RandomState` for that; one of the seed 42 by default.
      epochs: number of epochs; None: without an end.
    """

    def __init__(self, x, y, batch_size=None, shuffle=True, random_state=None, epochs=None):
        self._x = _each(lambda value, _: np.asarray(value), x)
        self._y = _each(lambda value, _: np.asarray(value), y)
        self._size = len(next(iter(self._x.values())) if isinstance(self._x, dict) else self._x)
        self._batch_size = self._size if batch_size is None else batch_size
        if self._batch_size <= 0:
            raise ValueError(f"batch_size must be positive, got {batch_size}")
        self._shuffle = shuffle
        self._random_state = np.random.RandomState(42) if random_state is None else random_state
        self._epochs = epochs
        self._epoch = self._offset = 0
        self._order = self._new_order()

    def _new_order(self):
        return self._random_state.permutation(self._size) if self._shuffle else np.arange(self._size)

    @property
    def batch_size(self):
        """Number of elements in a step."""
        return self._batch_size

    def input_builder(self):
        """(placeholders of the features, placeholders of the labels or None)."""

        def placeholder(value, name, kind):
            shape = value.shape[1:] if value.ndim > 1 or kind == "output" else (1,)
            dtype = dtypes.string if value.dtype.kind in "OSU" else dtypes.as_dtype(value.dtype)
            return array_ops.placeholder(dtype, (None, *shape), name=f"{kind}_{name}" if name else kind)

        self._inputs = _each(lambda value, name: placeholder(value, name, "input"), self._x)
        self._outputs = _each(lambda value, name: placeholder(value, name, "output"), self._y)
        return self._inputs, self._outputs

    def get_feed_dict_fn(self):
        """A function that returns the feed dict of the next step, and raises StopIteration after the last one."""

        def feed():
            if self._epochs is not None and self._epoch >= self._epochs:
                raise StopIteration
            chosen = self._order[self._offset : self._offset + self._batch_size]
            self._offset += self._batch_size
            if self._offset >= self._size:
                self._order, self._offset = self._new_order(), 0
                self._epoch += 1
            result = {}
            for placeholders, data, columns in ((self._inputs, self._x, True), (self._outputs, self._y, False)):
                if data is None:
                    continue
                pairs = [(placeholders, data)]
                if isinstance(data, dict):
                    pairs = [(placeholders[name], value) for name, value in data.items()]
                for tensor, value in pairs:
                    part = value[chosen]
                    result[tensor] = part[:, None] if columns and part.ndim == 1 else part
            return result

        return feed


def setup_train_data_feeder(x, y, batch_size=None, shuffle=True, epochs=None):
    """A `DataFeeder` of arrays, data frames, or dicts of arrays."""
    return DataFeeder(
        pandas_io.extract_pandas_data(x),
        pandas_io.extract_pandas_labels(y),
        batch_size=batch_size,
        shuffle=shuffle,
        epochs=epochs,
    )
