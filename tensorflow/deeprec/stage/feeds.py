"""Values that the runs of a stage are fed with."""

import threading

from tensorflow.python.framework import ops
from tensorflow.python.util import nest


class NoFeeds:
    """A stage whose input is in the graph."""

    def per_run(self, session):
        """A function that gives the feed_dict of the next run, or None for runs that need none."""
        return None

    def names(self):
        """Names of the fed tensors and of the tensors whose values they get; None: they cannot be written down."""
        return [], []


class TensorFeeds(NoFeeds):
    """Graph elements that get the values of other graph elements, evaluated before each run."""

    def __init__(self, feed_dict: dict):
        """`feed_dict`: placeholder, SparseTensor or nest of them -> tensors of the same structure.

        Raises:
          TypeError: a value is no tensor.
          ValueError: a value has another structure or dtype than what it feeds.
        """
        self._fed, self._values = [], []
        for feed, value in feed_dict.items():
            fed, values = (nest.flatten(part, expand_composites=True) for part in (feed, value))
            if len(fed) != len(values):
                raise ValueError(f"feed_dict feeds {feed!r} with another structure: {value!r}")
            for tensor, source in zip(fed, values):
                if not isinstance(source, ops.Tensor):
                    raise TypeError(f"feed_dict: the value of {tensor!r} must be a tensor, got {source!r}")
                if source.dtype.base_dtype != tensor.dtype.base_dtype:
                    raise ValueError(
                        f"feed_dict: the value of {tensor.name} must be {tensor.dtype.base_dtype.name}, "
                        f"got {source.dtype.base_dtype.name}"
                    )
                self._fed.append(tensor)
                self._values.append(source)

    def per_run(self, session):
        return lambda: dict(zip(self._fed, session.run(self._values)))

    def names(self):
        return [tensor.name for tensor in self._fed], [tensor.name for tensor in self._values]


class GeneratedFeeds(NoFeeds):
    """Graph elements that get what a Python iterator yields."""

    def __init__(self, feed_list, feed_generator):
        """`feed_list`: graph elements; `feed_generator`: iterable of as many values each."""
        self._fed = list(feed_list)
        self._lock = threading.Lock()
        try:
            self._values = iter(feed_generator)
        except TypeError:
            raise TypeError(
                f"feed_generator must be an iterator of values for feed_list, got {feed_generator!r}"
            ) from None

    def _next(self) -> dict:
        # A generator cannot be asked by two threads at once.
        with self._lock:
            values = list(next(self._values))
        if len(values) != len(self._fed):
            raise ValueError(f"feed_generator must yield {len(self._fed)} values, as feed_list has, got {len(values)}")
        return dict(zip(self._fed, values))

    def per_run(self, session):
        return self._next

    def names(self):
        return None
