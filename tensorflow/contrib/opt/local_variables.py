"""What the optimizers for asynchronous replicas have in common: variables of the worker's own, and their global counterparts."""

from tensorflow.python.framework import ops
from tensorflow.python.ops import variable_scope, variables
from tensorflow.python.training import session_run_hook

GLOBAL_VARIABLE_NAME = "global_center_variable"


def parts(variable, partitioner):
    """The variable, or its parts, as a list."""
    return [variable] if partitioner is None else list(variable)


class CustomGetter:
    """A custom getter that keeps trainable variables on the worker, in the local collection, and makes `_companions` beside each.

    `_companions` are rows (prefix of the name, collection, whether on the worker, dict: variable -> companion).

    Args:
      worker_device: device of the worker.
    """

    def __init__(self, worker_device):
        self._worker_device = worker_device

    def _companions(self):
        raise NotImplementedError()

    def __call__(self, getter, name, trainable, collections, *args, **kwargs):
        if not trainable:
            kwargs.update(trainable=trainable, collections=collections)
            if collections and ops.GraphKeys.LOCAL_VARIABLES in collections:
                with ops.device(self._worker_device):
                    return getter(name, *args, **kwargs)
            return getter(name, *args, **kwargs)
        local_keys = [ops.GraphKeys.LOCAL_VARIABLES]
        with ops.device(self._worker_device):
            local = getter(name, *args, trainable=True, collections=local_keys, **kwargs)
        if kwargs.get("reuse") is True:
            return local
        # A companion has no synchronization or aggregation of its own that makes it trainable again.
        partitioner = kwargs.get("partitioner")
        for prefix, collection, on_worker, mapping in self._companions():
            with ops.device(self._worker_device if on_worker else None):
                other = getter(f"{prefix}/{name}", *args, trainable=False, collections=[collection], **kwargs)
            mapping.update(zip(parts(local, partitioner), parts(other, partitioner)))
        return local


def local_step():
    """A counter of the worker's own."""
    return variable_scope.get_variable(
        initializer=0, trainable=False, collections=[ops.GraphKeys.LOCAL_VARIABLES], name="local_step"
    )


def move_new_globals_to_local(before):
    """Moves variables that are not in `before` (names) from the global to the local collection: an optimizer's own."""
    collection = ops.get_default_graph().get_collection_ref(ops.GraphKeys.GLOBAL_VARIABLES)
    moved = [v for v in collection if v.op.name not in before]
    collection[:] = [v for v in collection if v.op.name in before]
    for v in moved:
        ops.add_to_collection(ops.GraphKeys.LOCAL_VARIABLES, v)


class InitHook(session_run_hook.SessionRunHook):
    """Runs an optimizer's init op in each new session.

    Args:
      make_init_op: function that returns the op; called when the graph is complete.
      is_chief: whether this is the chief.
    """

    def __init__(self, make_init_op, is_chief):
        self._make_init_op = make_init_op
        self._is_chief = is_chief

    def begin(self):
        self._local_init_op = variables.local_variables_initializer()
        self._global_init_op = variables.global_variables_initializer() if self._is_chief else None
        self._variable_init_op = self._make_init_op()

    def after_create_session(self, session, coord):
        session.run(self._variable_init_op)
