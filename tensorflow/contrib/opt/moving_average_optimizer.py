"""MovingAverage: keeps averages of the variables, and saves them in their place."""

from tensorflow.python.framework import ops
from tensorflow.python.ops import control_flow_ops, variables
from tensorflow.python.training import moving_averages, optimizer, saver
from tensorflow.python.training.saving import saveable_object_util


class MovingAverageOptimizer(optimizer.Optimizer):
    """Wraps an optimizer, and keeps exponential averages of the variables that it trains.

        opt = tf.contrib.opt.MovingAverageOptimizer(tf.train.AdamOptimizer(rate))
        train = opt.minimize(loss)
        saver = opt.swapping_saver()  # for training; evaluation uses a plain one

    Args:
      opt: the optimizer.
      average_decay: decay of the averages.
      num_updates: as for `tf.train.ExponentialMovingAverage`.
      sequential_update: averages after the update; False: beside it, with benign races.
    """

    def __init__(self, opt, average_decay=0.9999, num_updates=None, sequential_update=True):
        # No call of the base class: everything goes to the wrapped optimizer.
        self._optimizer = opt
        self._ema = moving_averages.ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped_variable_name_map = None
        self._sequential_update = sequential_update

    def compute_gradients(self, *args, **kwargs):
        """As for the wrapped optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Applies gradients, and updates the averages."""
        grads_and_vars = list(grads_and_vars)
        train = self._optimizer.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        var_list = [v for g, v in grads_and_vars if g is not None]
        with ops.control_dependencies([train] if self._sequential_update else []):
            average = self._ema.apply(var_list)
        self._swapped_variable_name_map = {}
        for v in var_list:
            other = self._ema.average(v)
            self._swapped_variable_name_map[v.op.name] = other.op.name
            self._swapped_variable_name_map[other.op.name] = v.op.name
        return control_flow_ops.group(train, average, name="train_with_avg")

    def _swapped(self, by_name, name, variable):
        """What is saved under the name of a variable."""
        other = self._swapped_variable_name_map.get(name)
        if other is None:
            return variable
        if other not in by_name:
            raise ValueError(f"Variable to swap {other} is not part of variables to save.")
        return by_name[other]

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """A saver that writes averages under the variables' names, and the reverse.

        Args:
          var_list: variables, as for `tf.train.Saver`; all by default.
          name: name of the saver.
          **kwargs: further arguments of `tf.train.Saver`.

        Raises:
          RuntimeError: if `apply_gradients` or `minimize` was not called before.
          ValueError: if `var_list` has a variable without its average.
        """
        if self._swapped_variable_name_map is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        if var_list is None:
            var_list = variables.global_variables()
        if not isinstance(var_list, dict):
            var_list = saveable_object_util.op_list_to_dict(var_list)
        by_name = {}
        for key, value in var_list.items():
            if isinstance(value, (list, variables.PartitionedVariable)):
                by_name.update((part.op.name, part) for part in value)
            else:
                by_name[key] = value
        swapped = {}
        for key, value in var_list.items():
            if isinstance(value, list):
                swapped[key] = [self._swapped(by_name, part.op.name, part) for part in value]
            else:
                swapped[key] = self._swapped(by_name, key, value)
        return saver.Saver(swapped, name=name, **kwargs)
