"""NumPy arrays in object-based checkpoints."""

import io

import numpy as np

from tensorflow.python.trackable import base
from tensorflow.python.trackable.python_state import PythonState
from tensorflow.python.util import compat


class NumpyState(base.Trackable):
    """An object whose attributes are NumPy arrays that are saved with a `tf.train.Checkpoint`.

        arrays = tf.contrib.checkpoint.NumpyState()
        checkpoint = tf.train.Checkpoint(numpy_arrays=arrays)
        arrays.x = np.zeros([3, 4])

    After a restore, attributes are there even if they were not before.
    """

    def _lookup_dependency(self, name, cached_dependencies=None):
        """A restored array makes its attribute."""
        value = super()._lookup_dependency(name, cached_dependencies)
        if value is None:
            value = _NumpyWrapper(np.array([]))
            # Not by _track_trackable: it asks this method first.
            self._self_unconditional_checkpoint_dependencies.append(base.TrackableReference(name, value))
            self._self_unconditional_dependency_names[name] = value
            super().__setattr__(name, value)
        return value

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        return value.array if isinstance(value, _NumpyWrapper) else value

    def __setattr__(self, name, value):
        if not isinstance(value, (np.ndarray, np.generic)) or name.startswith("_"):
            super().__setattr__(name, value)
            return
        try:
            existing = super().__getattribute__(name)
        except AttributeError:
            existing = _NumpyWrapper(value)
            self._track_trackable(existing, name=name, overwrite=True)
            super().__setattr__(name, existing)
        existing.array = value


class _NumpyWrapper(PythonState):
    """Holds one array."""

    def __init__(self, array):
        self.array = array

    def serialize(self):
        file = io.BytesIO()
        np.save(file, self.array, allow_pickle=False)
        return file.getvalue()

    def deserialize(self, string_value):
        self.array = np.load(io.BytesIO(compat.as_bytes(string_value)), allow_pickle=False)
