"""ElasticAverage: workers train on their own, tied to a common center."""

from tensorflow.contrib.opt import local_variables
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import cond, control_flow_ops, data_flow_ops, math_ops, nn_ops, state_ops, variables
from tensorflow.python.training import optimizer, saver
from tensorflow.python.training.saving import saveable_object_util

LOCAL_VARIABLE_NAME = "local_center_variable"
GLOBAL_VARIABLE_NAME = local_variables.GLOBAL_VARIABLE_NAME
GLOBAL_STEP = "global_step"


class ElasticAverageCustomGetter(local_variables.CustomGetter):
    """Custom getter for models trained by `ElasticAverageOptimizer`.

    Trainable variables become the worker's own; beside each come the global center "global_center_variable/NAME" and the worker's copy
    of it "local_center_variable/NAME". Use it with `tf.train.replica_device_setter` and `tf.get_variable`.

    Args:
      worker_device: device of the worker.
    """

    def __init__(self, worker_device):
        super().__init__(worker_device)
        self._local_map = {}
        self._global_map = {}

    def _companions(self):
        return (
            (GLOBAL_VARIABLE_NAME, ops.GraphKeys.GLOBAL_VARIABLES, False, self._global_map),
            (LOCAL_VARIABLE_NAME, ops.GraphKeys.LOCAL_VARIABLES, True, self._local_map),
        )


class ElasticAverageOptimizer(optimizer.Optimizer):
    """Elastic averaging SGD (Zhang, Choromanska and LeCun, https://arxiv.org/abs/1412.6651) around any optimizer.

    Every `communication_period` steps of its own, a worker moves its variables and the center towards each other by `moving_rate` of
    their difference.

    Args:
      opt: the optimizer of the worker's variables.
      num_worker: number of workers.
      ea_custom_getter: the `ElasticAverageCustomGetter` under which the model was built.
      communication_period: steps between two meetings.
      moving_rate: default 0.9 / communication_period / num_worker.
      rho: weight of the squared distance to the center in the loss; default moving_rate / learning rate.
      use_locking: whether updates hold locks.
      synchronous: whether workers wait for one another before the first step.
      name: prefix of the ops.
    """

    # Default of the paper.
    BETA = 0.9

    def __init__(
        self,
        opt,
        num_worker,
        ea_custom_getter,
        communication_period=10,
        moving_rate=None,
        rho=None,
        use_locking=True,
        synchronous=False,
        name="ElasticAverageOptimizer",
    ):
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._period = communication_period
        self._local_map = ea_custom_getter._local_map
        self._global_map = ea_custom_getter._global_map
        self._synchronous = synchronous
        self._moving_rate = self.BETA / communication_period / num_worker if moving_rate is None else moving_rate
        self._rho = self._moving_rate / self._opt._learning_rate if rho is None else rho
        self._local_step = local_variables.local_step()
        self._opt._prepare()

    def compute_gradients(
        self,
        loss,
        var_list=None,
        gate_gradients=optimizer.Optimizer.GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        grad_loss=None,
    ):
        """Gradients of the loss plus `rho` times half the squared distance to the center; arguments as for `tf.train.Optimizer`."""
        var_list = var_list or variables.trainable_variables()
        distances = [nn_ops.l2_loss(math_ops.subtract(v, self._local_map[v])) for v in var_list]
        return self._opt.compute_gradients(
            loss + self._rho * math_ops.add_n(distances),
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Updates the worker's variables, and meets the center if it is time. `global_step` counts meetings."""
        grads_and_vars = list(grads_and_vars)
        before = {v.op.name for v in variables.global_variables()}
        update = self._opt.apply_gradients(grads_and_vars)
        local_variables.move_new_globals_to_local(before)
        with ops.control_dependencies([update]):
            step = state_ops.assign_add(self._local_step, 1, name="local_step_update").op
        trained = [v for g, v in grads_and_vars if g is not None]

        def meet():
            centers = [self._global_map[v] for v in trained]
            copies = [self._local_map[v] for v in trained]
            updates = []
            with ops.control_dependencies([copy.assign(center) for copy, center in zip(copies, centers)]):
                differences = []
                for v, copy in zip(trained, copies):
                    with ops.device(v.device):
                        differences.append(math_ops.subtract(v, copy))
                # All differences first: the updates below change what they are taken from.
                with ops.control_dependencies(differences):
                    for v, center, difference in zip(trained, centers, differences):
                        shift = math_ops.multiply(self._moving_rate, difference)
                        with ops.device(v.device):
                            updates.append(state_ops.assign_sub(v, shift))
                        with ops.device(center.device):
                            updates.append(state_ops.assign_add(center, shift))
                if global_step is not None:
                    with ops.colocate_with(global_step):
                        updates.append(state_ops.assign_add(global_step, 1))
            return control_flow_ops.group(*updates)

        with ops.control_dependencies([step]):
            is_time = math_ops.equal(math_ops.mod(self._local_step.read_value(), self._period), 0)
            return cond.cond(is_time, meet, control_flow_ops.no_op)

    def get_init_op(self, task_index):
        """The op that sets the worker's variables to the center; all workers wait for one another if `synchronous`."""
        trained = variables.trainable_variables()
        if not (trained and self._global_map and self._local_map):
            raise ValueError("The model has no variables made under ElasticAverageCustomGetter.")
        assigns = []
        for v in trained:
            assigns += [
                state_ops.assign(v, self._global_map[v]),
                state_ops.assign(self._local_map[v], self._global_map[v]),
            ]
        init = control_flow_ops.group(*assigns)
        return self._wait_for_others(init, task_index) if self._synchronous else init

    def _wait_for_others(self, init, task_index):
        queues = [
            data_flow_ops.FIFOQueue(
                self._num_worker, [dtypes.bool], shapes=[[]], shared_name=f"variable_init_sync_queue{i}"
            )
            for i in range(self._num_worker)
        ]
        with ops.control_dependencies([init]):
            tokens = [queue.enqueue(False) for i, queue in enumerate(queues) if i != task_index]
            return control_flow_ops.group(*tokens, queues[task_index].dequeue_many(len(queues) - 1))

    def make_session_run_hook(self, is_chief, task_index):
        """The hook that runs the init op."""
        return local_variables.InitHook(lambda: self.get_init_op(task_index), is_chief)

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """A saver that writes centers under the names of the worker's variables.

        Args:
          var_list: variables, as for `tf.train.Saver`; trainable ones by default.
          name: name of the saver.
          **kwargs: further arguments of `tf.train.Saver`.

        Raises:
          RuntimeError: if there are no centers.
        """
        if not self._global_map:
            raise RuntimeError("There are no center variables: build the model under ElasticAverageCustomGetter first.")
        if var_list is None:
            var_list = variables.trainable_variables()
        if not isinstance(var_list, dict):
            var_list = saveable_object_util.op_list_to_dict(var_list)
        centers = {v.op.name: center for v, center in self._global_map.items()}
        swapped = {}
        for key, value in var_list.items():
            if isinstance(value, list):
                swapped[key] = [centers.get(part.op.name, part) for part in value]
            else:
                swapped[key] = centers.get(value.op.name, value)
        return saver.Saver(swapped, name=name, **kwargs)
