"""ModelAverage: workers train on their own, and take the mean of all from time to time."""

from tensorflow.contrib.opt import local_variables
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import (
    array_ops,
    cond,
    control_flow_ops,
    data_flow_ops,
    math_ops,
    state_ops,
    variable_v1,
    variables,
)
from tensorflow.python.training import optimizer

GLOBAL_VARIABLE_NAME = local_variables.GLOBAL_VARIABLE_NAME


class ModelAverageCustomGetter(local_variables.CustomGetter):
    """Custom getter for models trained by `ModelAverageOptimizer`.

    Trainable variables become the worker's own; beside each comes the global one, "global_center_variable/NAME". Use it with
    `tf.train.replica_device_setter` and `tf.get_variable`.

    Args:
      worker_device: device of the worker.
    """

    def __init__(self, worker_device):
        super().__init__(worker_device)
        self._local_2_global = {}

    def _companions(self):
        return ()

    def __call__(self, getter, name, trainable, collections, *args, **kwargs):
        local = super().__call__(getter, name, trainable, collections, *args, **kwargs)
        if trainable and kwargs.get("reuse") is not True:
            self._local_2_global[local] = variable_v1.VariableV1(
                name=f"{GLOBAL_VARIABLE_NAME}/{name}",
                initial_value=local.initialized_value(),
                trainable=False,
                collections=[ops.GraphKeys.GLOBAL_VARIABLES],
            )
        return local


class ModelAverageOptimizer(optimizer.Optimizer):
    """Wraps an optimizer; every `interval_steps` steps, all workers take the mean of their variables.

    Workers wait for one another there.

    Args:
      opt: the optimizer of the worker's variables.
      num_worker: number of workers.
      is_chief: whether this is the chief, which writes the mean.
      ma_custom_getter: the `ModelAverageCustomGetter` under which the model was built.
      interval_steps: steps between two means.
      use_locking: whether updates hold locks.
      name: prefix of the ops.
    """

    def __init__(
        self,
        opt,
        num_worker,
        is_chief,
        ma_custom_getter,
        interval_steps=100,
        use_locking=True,
        name="ModelAverageOptimizer",
    ):
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._is_chief = is_chief
        self._local_2_global = ma_custom_getter._local_2_global
        self._interval_steps = interval_steps
        self._accumulator_list = []
        self._chief_init_op = None
        self._local_step = local_variables.local_step()
        self._opt._prepare()

    def compute_gradients(self, *args, **kwargs):
        """As for the wrapped optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def _local_vars_update(self, var_list):
        """The op that sets the worker's variables to the global ones."""
        if not var_list:
            raise ValueError("The list of local_variables should not be empty")
        assigns = []
        for v in var_list:
            with ops.device(v.device):
                assigns.append(state_ops.assign(v, self._local_2_global[v].read_value()))
        return control_flow_ops.group(*assigns)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Updates the worker's variables, and takes the mean if it is time. `global_step`, required, counts means.

        Raises:
          ValueError: if there are no variables, or no `global_step`.
        """
        grads_and_vars = list(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        update = self._opt.apply_gradients(grads_and_vars)
        with ops.control_dependencies([update]):
            step = state_ops.assign_add(self._local_step, 1, name="local_step_update").op
        trained = [v for g, v in grads_and_vars if g is not None]
        self._make_accumulators(trained, global_step)
        with ops.control_dependencies([step]):
            is_time = math_ops.equal(math_ops.mod(self._local_step.read_value(), self._interval_steps), 0)
            result = cond.cond(is_time, lambda: self._take_mean(trained, global_step), control_flow_ops.no_op)
        resets = []
        for accumulator, device in self._accumulator_list:
            with ops.device(device):
                resets.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
        self._chief_init_op = control_flow_ops.group(*resets)
        return result

    def _make_accumulators(self, trained, global_step):
        # Outside the branch, since the init op uses them too.
        with ops.colocate_with(global_step):
            self._sync_queue = data_flow_ops.FIFOQueue(-1, [dtypes.bool], shapes=[[]], shared_name="sync_queue")
        for v in trained:
            center = self._local_2_global[v]
            with ops.device(center.device):
                accumulator = data_flow_ops.ConditionalAccumulator(
                    v.dtype.base_dtype, shape=v.get_shape(), shared_name=center.name + "/var_accum"
                )
            self._accumulator_list.append((accumulator, center.device))

    def _take_mean(self, trained, global_step):
        centers = [self._local_2_global[v] for v in trained]
        added, means = [], []
        for v, center, (accumulator, device) in zip(trained, centers, self._accumulator_list):
            with ops.device(device):
                added.append(accumulator.apply_grad(v.read_value(), local_step=global_step))
                if self._is_chief:
                    means.append(accumulator.take_grad(self._num_worker))
        if self._is_chief:
            with ops.control_dependencies(added):
                updates = [state_ops.assign(center, mean) for center, mean in zip(centers, means)]
                with ops.device(global_step.device):
                    updates.append(state_ops.assign_add(global_step, 1))
            with ops.control_dependencies(updates), ops.device(global_step.device):
                tokens = array_ops.fill([self._num_worker - 1], False)
                synced = self._sync_queue.enqueue_many(tokens)
        else:
            with ops.control_dependencies(added), ops.device(global_step.device):
                synced = self._sync_queue.dequeue()
        with ops.control_dependencies([synced]):
            return self._local_vars_update(trained)

    def get_init_op(self):
        """The op that sets the worker's variables to the global ones."""
        return self._local_vars_update(variables.trainable_variables())

    def make_session_run_hook(self):
        """The hook that runs the init op, and on the chief readies the accumulators."""

        def init():
            ready = [self._chief_init_op] if self._is_chief else []
            return control_flow_ops.group(self.get_init_op(), *ready)

        return local_variables.InitHook(init, self._is_chief)
