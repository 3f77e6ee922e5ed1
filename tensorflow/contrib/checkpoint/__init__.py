"""Object-based checkpoints."""

from tensorflow.contrib.checkpoint.containers import UniqueNameTracker
from tensorflow.contrib.checkpoint.python_state import NumpyState
from tensorflow.contrib.checkpoint.split_dependency import split_dependency
from tensorflow.contrib.checkpoint.visualize import dot_graph_from_checkpoint
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph as CheckpointableObjectGraph
from tensorflow.python.checkpoint import util as _util
from tensorflow.python.checkpoint import graph_view as _graph_view
from tensorflow.python.checkpoint.checkpoint import capture_dependencies, object_metadata
from tensorflow.python.checkpoint.checkpoint_management import CheckpointManager
from tensorflow.python.trackable.autotrackable import AutoTrackable as Checkpointable
from tensorflow.python.trackable.base import Trackable as CheckpointableBase
from tensorflow.python.trackable.data_structures import List, Mapping, NoDependency
from tensorflow.python.trackable.python_state import PythonState as PythonStateWrapper

__all__ = [
    "CheckpointManager",
    "Checkpointable",
    "CheckpointableBase",
    "CheckpointableObjectGraph",
    "List",
    "Mapping",
    "NoDependency",
    "NumpyState",
    "PythonStateWrapper",
    "UniqueNameTracker",
    "capture_dependencies",
    "dot_graph_from_checkpoint",
    "list_objects",
    "object_metadata",
    "split_dependency",
]


def list_objects(root_trackable):
    """All objects that a checkpoint of `root_trackable` holds."""
    return _util.list_objects(_graph_view.ObjectGraphView(root_trackable))
