"""Members and base classes that classes of 1.15 had and those of 2.21 lack."""

import types

from tensorflow.api_v1 import import_hooks, moved_names

# Settings of tf.data that do nothing any more: class of data.ops.options -> names.
_IGNORED_OPTIONS = {
    "Options": ("experimental_stats", "experimental_stateful_whitelist"),
    "OptimizationOptions": (
        "autotune",
        "autotune_algorithm",
        "autotune_buffers",
        "autotune_cpu_budget",
        "filter_with_random_uniform_fusion",
        "hoist_random_uniform",
        "map_vectorization",
    ),
}


def install() -> None:
    """Adds the members, to classes that are loaded now or when their module is."""
    for name, hook in _HOOKS.items():
        import_hooks.after_import(f"tensorflow.python.{name}", hook)


class _Ignored:
    """A setting that is kept and has no effect; setting it gives one warning."""

    def __init__(self, owner: str, name: str):
        self._owner, self._name = owner, name
        self.__doc__ = "Kept for old programs; has no effect."

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        if self._name == "map_vectorization" and self._name not in instance.__dict__:
            # Programs set attributes of it.
            from tensorflow.api_v1.restored import data_options

            instance.__dict__[self._name] = data_options.MapVectorizationOptions()
        return instance.__dict__.get(self._name)

    def __set__(self, instance, value):
        moved_names.warn_once(f"tf.data: {self._owner}.{self._name} has no effect in this runtime")
        instance.__dict__[self._name] = value


def _data_options(module: types.ModuleType) -> None:
    for owner, names in _IGNORED_OPTIONS.items():
        for name in names:
            setattr(getattr(module, owner), name, _Ignored(owner, name))
    policy = module.AutoShardPolicy

    def get(self):
        return self.auto_shard_policy != policy.OFF

    def put(self, value):
        self.auto_shard_policy = policy.AUTO if value else policy.OFF

    module.DistributeOptions.auto_shard = property(get, put, doc="Whether auto_shard_policy is not OFF.")


def _optional(module: types.ModuleType) -> None:
    base = module.Optional
    base.value_structure = property(lambda self: self.element_spec, doc="The structure of the value: element_spec.")
    base.none_from_structure = staticmethod(lambda value_structure: base.empty(value_structure))


def _strategies(module: types.ModuleType) -> None:
    def experimental_run_v2(self, fn, args=(), kwargs=None):
        """Runs fn on each replica: the name of `run` in 1.15."""
        return self.run(fn, args, kwargs or {})

    module.StrategyBase.experimental_run_v2 = experimental_run_v2


def _operation(module: types.ModuleType) -> None:
    def traceback_with_start_lines(self):
        """Like `traceback`; the frames of this runtime know no first line of their function, their own stands for it."""
        from tensorflow.api_v1.restored import stack_frames

        return stack_frames.convert_stack(self.traceback, include_func_start_lineno=True)

    module.Operation.traceback_with_start_lines = property(traceback_with_start_lines)
    # Private, but what code that changes graphs asks for.
    module.Operation._inputs = property(lambda self: list(self.inputs))
    module.Operation._outputs = property(lambda self: list(self.outputs))
    module.SymbolicTensor._consumers = property(lambda self: self.consumers())
    module.SymbolicTensor._value_index = property(lambda self: self.value_index)


def _resource_variables(module: types.ModuleType) -> None:
    """In 1.15 they derive from tf.Variable, which programs ask for."""
    from tensorflow.python.ops import variable_v1

    variable_v1.VariableV1.register(module.BaseResourceVariable)


def _tensor(module: types.ModuleType) -> None:
    # Tensors of a graph have these; on the class of the API they exist for code that looks at the class.
    for name in ("op", "graph", "device", "value_index"):
        if not hasattr(module.Tensor, name):

            def undefined(self, name=name):
                raise AttributeError(f"{name} of a tensor is defined in graph mode only")

            setattr(module.Tensor, name, property(undefined))
    if not hasattr(module.Tensor, "consumers"):

        def consumers(self):
            """Operations that take the tensor as an input."""
            raise NotImplementedError("consumers of a tensor are defined in graph mode only")

        module.Tensor.consumers = consumers


def _unknown_error(module: types.ModuleType) -> None:
    original = module.UnknownError.__init__

    def __init__(self, node_def, op, message, error_code=module.UNKNOWN, *args):
        # The runtime passes its payloads, a dict, in this place.
        payloads = (error_code, *args) if isinstance(error_code, dict) else args
        original(self, node_def, op, message, *payloads)
        if not isinstance(error_code, dict):
            self._error_code = error_code

    module.UnknownError.__init__ = __init__


def _estimator_names(module: types.ModuleType) -> None:
    # tf_export keeps the names of each API in attributes of its own; it has forgotten the estimator's.
    names, constants = "_estimator_api_names", "_estimator_api_constants"
    module.API_ATTRS.setdefault("estimator", module._Attributes(names, constants))
    module.API_ATTRS_V1.setdefault("estimator", module._Attributes(f"{names}_v1", f"{constants}_v1"))


_HOOKS = {
    "data.ops.optional_ops": _optional,
    "data.ops.options": _data_options,
    "distribute.distribute_lib": _strategies,
    "framework.errors_impl": _unknown_error,
    "framework.ops": _operation,
    "framework.tensor": _tensor,
    "ops.resource_variable_ops": _resource_variables,
    "util.tf_export": _estimator_names,
}
