"""Saves variables without a graph."""

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


def get_optimizer_variables(optimizer):
    """The variables that an optimizer has made."""
    return optimizer.variables()
