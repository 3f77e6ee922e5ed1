"""AGN: workers accumulate gradients, and apply their mean to the center."""

from tensorflow.contrib.opt import local_variables
from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, cond, control_flow_ops, math_ops, state_ops, variable_scope, variables
from tensorflow.python.training import optimizer as optimizer_lib

GLOBAL_VARIABLE_NAME = local_variables.GLOBAL_VARIABLE_NAME
GRAD_VARIABLE_NAME = "grad_variable"


class AGNCustomGetter(local_variables.CustomGetter):
    """Custom getter for models trained by `AGNOptimizer`.

    Trainable variables become the worker's own; beside each come the global center "global_center_variable/NAME" and the worker's sum
    of gradients "grad_variable/NAME". Use it with `tf.train.replica_device_setter`.

    Args:
      worker_device: device of the worker.
    """

    def __init__(self, worker_device):
        super().__init__(worker_device)
        self._global_map = {}
        self._grad_map = {}

    def _companions(self):
        return (
            (GLOBAL_VARIABLE_NAME, ops.GraphKeys.GLOBAL_VARIABLES, False, self._global_map),
            (GRAD_VARIABLE_NAME, ops.GraphKeys.LOCAL_VARIABLES, True, self._grad_map),
        )


def _to_local(next_creator, collections=None, **kwargs):
    collections = list(collections or [ops.GraphKeys.GLOBAL_VARIABLES])
    if ops.GraphKeys.GLOBAL_VARIABLES in collections:
        collections.remove(ops.GraphKeys.GLOBAL_VARIABLES)
        collections.append(ops.GraphKeys.LOCAL_VARIABLES)
    return next_creator(collections=collections, **kwargs)


class AGNOptimizer(optimizer_lib.Optimizer):
    """Accumulated gradient normalization (Hermans et al., https://arxiv.org/abs/1710.02368) around any optimizer.

    A worker trains its own variables; every `communication_period` steps it applies the mean of its gradients to the center, and starts
    from the center again.

    Args:
      optimizer: the optimizer, of the worker's variables and of the center.
      num_worker: number of workers.
      custom_getter: the `AGNCustomGetter` under which the model was built.
      communication_period: steps between two meetings.
      use_locking: whether updates hold locks.
      name: prefix of the ops.
    """

    def __init__(
        self,
        optimizer,
        num_worker,
        custom_getter,
        communication_period=10,
        use_locking=True,
        name="AGNOptimizer",
    ):
        super().__init__(use_locking, name)
        self._opt = optimizer
        self._num_worker = num_worker
        self._period = communication_period
        self._global_map = custom_getter._global_map
        self._grad_map = custom_getter._grad_map
        self._local_step = local_variables.local_step()
        self._opt._prepare()

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Updates the worker's variables, and meets the center if it is time. `global_step` counts meetings."""
        grads_and_vars = [(g, v) for g, v in grads_and_vars if g is not None]
        trained = [v for _, v in grads_and_vars]
        sums = [self._grad_map[v] for v in trained]
        with variable_scope.variable_creator_scope(_to_local):
            updates = [self._opt.apply_gradients(grads_and_vars)]
        updates += [state_ops.assign_add(total, g) for total, (g, _) in zip(sums, grads_and_vars)]
        # Slots of the center cannot be made inside the branch.
        centers = [self._global_map[v] for v in trained]
        with ops.init_scope():
            self._opt._create_slots(centers)

        def meet():
            means = [state_ops.assign(total, total / self._period) for total in sums]
            with ops.control_dependencies(means):
                applied = self._opt.apply_gradients([(t.read_value(), c) for t, c in zip(sums, centers)])
            with ops.control_dependencies([applied]):
                after = [state_ops.assign(v, c.read_value()) for v, c in zip(trained, centers)]
                after += [state_ops.assign(total, array_ops.zeros_like(total)) for total in sums]
                if global_step is not None:
                    with ops.colocate_with(global_step):
                        after.append(state_ops.assign_add(global_step, 1))
            return control_flow_ops.group(*after)

        step = state_ops.assign_add(self._local_step, 1, name="local_step_update").op
        with ops.control_dependencies([step]):
            is_time = math_ops.equal(math_ops.mod(self._local_step.read_value(), self._period), 0)
        with ops.control_dependencies(updates):
            return cond.cond(is_time, meet, control_flow_ops.no_op)

    def get_init_op(self, task_index):
        """The op that sets the worker's variables to the center, and its sums to 0."""
        trained = variables.trainable_variables()
        if not (trained and self._global_map and self._grad_map):
            raise ValueError("The model has no variables made under AGNCustomGetter.")
        assigns = [state_ops.assign(v, self._global_map[v]) for v in trained]
        assigns += [state_ops.assign(self._grad_map[v], array_ops.zeros_like(v)) for v in trained]
        return control_flow_ops.group(*assigns)

    def make_session_run_hook(self, is_chief, task_index):
        """The hook that runs the init op."""
        return local_variables.InitHook(lambda: self.get_init_op(task_index), is_chief)
