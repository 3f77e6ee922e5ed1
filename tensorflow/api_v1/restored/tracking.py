"""Names of 1.15's `training.tracking` that the move to `trackable` and `checkpoint` left behind."""

from tensorflow.python.checkpoint.checkpoint import *  # noqa: F403
from tensorflow.python.checkpoint.checkpoint import CheckpointV1
from tensorflow.python.checkpoint import graph_view
from tensorflow.python.trackable import base
from tensorflow.python.training.saving import saveable_object
import tensorflow as tf

OBJECT_GRAPH_PROTO_KEY = base.OBJECT_GRAPH_PROTO_KEY
VARIABLE_VALUE_KEY = base.VARIABLE_VALUE_KEY
ObjectGraphView = graph_view.ObjectGraphView


class PythonStringStateSaveable(saveable_object.SaveableObject):
    """Saves a Python string in a checkpoint.

    Args:
      name: of the checkpoint entry.
      state_callback: function without arguments that returns the string (bytes or str).
      restore_callback: function that gets the saved bytes; None leaves the state alone.
    """

    optional_restore = True

    def __init__(self, name, state_callback, restore_callback=None):
        self._state_callback = state_callback
        self._restore_callback = restore_callback
        with tf.device("/cpu:0"):
            state = tf.py_func(lambda: state_callback(), [], tf.string, stateful=True)
            state.set_shape([])
        spec = saveable_object.SaveSpec(state, "", name, dtype=tf.string)
        super().__init__(state, [spec], name)

    def feed_dict_additions(self):
        return {self.op: self._state_callback()}

    def restore(self, restored_tensors, restored_shapes):
        del restored_shapes
        return self.python_restore(restored_tensors)

    def python_restore(self, restored_strings):
        [value] = restored_strings
        if self._restore_callback is None:
            return tf.no_op()

        def call(saved):
            self._restore_callback(saved)
            return 0

        return tf.py_func(call, [value], tf.int64, stateful=True).op


# `training.tracking.util.Checkpoint` was the class of 1.x.
Checkpoint = CheckpointV1
