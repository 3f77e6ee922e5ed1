"""Containers of objects in object-based checkpoints."""

from tensorflow.python.trackable import base, data_structures


class UniqueNameTracker(data_structures.TrackableDataStructure):
    """Tracks objects under names that are made unique: "x", "x_1" ..."""

    def __init__(self):
        super().__init__()
        self._maybe_initialize_trackable()
        self._name_counts = {}

    @property
    def _values(self):
        return [reference.ref for reference in self._self_unconditional_checkpoint_dependencies]

    def track(self, trackable, base_name):
        """Tracks an object.

        Args:
          trackable: the object.
          base_name: its name, or the start of it.

        Returns:
          `trackable`.

        Raises:
          ValueError: if it cannot be tracked.
        """
        if not isinstance(trackable, base.Trackable):
            raise ValueError(f"Expected a trackable value, got {trackable} which does not inherit from Trackable.")
        count = self._name_counts.get(base_name, 0)
        name = f"{base_name}_{count}" if count else base_name
        while self._lookup_dependency(name) is not None:
            count += 1
            name = f"{base_name}_{count}"
        self._name_counts[base_name] = count + 1
        self._track_value(trackable, name=name)
        return trackable
