"""Saves and restores variables without a graph."""

import contextlib

import tensorflow as tf
from tensorflow.python.ops import resource_variable_ops
from tensorflow.python.training import saver as saver_module


class Saver:
    """Saves and restores variables by name.

    Args:
      var_list: list of resource variables, or dict: name -> variable.

    Raises:
      ValueError: several variables of one name.
      TypeError: something is no resource variable.
    """

    def __init__(self, var_list):
        variables = list(var_list.values()) if isinstance(var_list, dict) else list(var_list)
        for variable in variables:
            if not resource_variable_ops.is_resource_variable(variable):
                raise TypeError(f"Saver takes resource variables, got {type(variable)}")
        names = [v._shared_name for v in variables]
        if len(set(names)) != len(names):
            raise ValueError(f"Saver: several variables of one name: {sorted(n for n in names if names.count(n) > 1)}")
        self._saver = saver_module.Saver(var_list)

    def save(self, file_prefix, global_step=None):
        """Saves to `file_prefix`[-`global_step`]; returns the path."""
        with tf.device("/device:CPU:0"):
            return self._saver.save(None, file_prefix, write_meta_graph=False, global_step=global_step)

    def restore(self, file_prefix):
        """Restores from a path that `save` returned."""
        with tf.device("/device:CPU:0"):
            self._saver.restore(None, file_prefix)


@contextlib.contextmanager
def restore_variables_on_create(save_path, map_func=None):
    """Variables made in the context get their values from a checkpoint; of several with one name only the first.

    Args:
      save_path: prefix of the files; with None or "" nothing is restored.
      map_func: name of a variable -> its name in the checkpoint; the same by default.

    Raises:
      ValueError: not in eager mode, or `map_func` is no function.
      tf.errors.NotFoundError: when a variable is made that the checkpoint has not.
    """
    if not tf.executing_eagerly():
        raise ValueError("restore_variables_on_create can only be used with eager execution enabled.")
    if map_func is not None and not callable(map_func):
        raise ValueError(f"map_func must be callable, got {map_func!r}")
    if not save_path:
        yield
        return
    reader = tf.train.load_checkpoint(save_path)
    known, restored = reader.get_variable_to_shape_map(), set()
    cls = resource_variable_ops.ResourceVariable
    initialize = cls._init_from_args

    def initialize_and_restore(self, *args, **kwargs):
        initialize(self, *args, **kwargs)
        name = map_func(self._shared_name) if map_func else self._shared_name
        if name not in known:
            raise tf.errors.NotFoundError(None, None, f"{name} not found in checkpoint {save_path}")
        if name not in restored:
            self.assign(reader.get_tensor(name))
            restored.add(name)

    # Not a variable creator: objects made by the class itself do not ask one.
    cls._init_from_args = initialize_and_restore
    try:
        yield
    finally:
        cls._init_from_args = initialize


def get_optimizer_variables(optimizer):
    """The variables that an optimizer has made."""
    return optimizer.variables()
