"""Default values of arguments of tf.keras that differed in 1.15, and a module that it lacks when SciPy is not installed."""

import functools
import inspect
import types

from tensorflow.api_v1 import import_hooks

_SRC = "tf_keras.src"
# "module:function" or "module:Class.method" -> argument -> value.
DEFAULTS = {
    # Without a progress bar; the model of graph mode has 0.
    f"{_SRC}.engine.training:Model.predict": {"verbose": 0},
    f"{_SRC}.losses:KLDivergence.__init__": {"name": "kullback_leibler_divergence"},
    f"{_SRC}.losses:LogCosh.__init__": {"name": "logcosh"},
    f"{_SRC}.premade_models.linear:LinearModel.__init__": {"kernel_initializer": "glorot_uniform"},
    f"{_SRC}.preprocessing.image:apply_affine_transform": {"row_axis": 0, "col_axis": 1, "channel_axis": 2},
}


def install() -> None:
    """Changes the functions when tf_keras' modules load."""
    for target, values in DEFAULTS.items():
        module, _, path = target.partition(":")
        import_hooks.after_import(module, functools.partial(_change, path, values))
    import_hooks.after_import(f"{_SRC}.preprocessing.image", _scipy)


def _change(path: str, values: dict, module: types.ModuleType) -> None:
    *outer, name = path.split(".")
    owner = functools.reduce(getattr, outer, module)
    setattr(owner, name, with_defaults(getattr(owner, name), values))


def with_defaults(function, values: dict):
    """A function like `function` that has other default values for some arguments."""
    signature = inspect.signature(function)
    places = {name: list(signature.parameters).index(name) for name in values}

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        for name, place in places.items():
            if len(args) <= place:
                kwargs.setdefault(name, values[name])
        return function(*args, **kwargs)

    wrapper.__signature__ = signature.replace(
        parameters=[p.replace(default=values.get(p.name, p.default)) for p in signature.parameters.values()]
    )
    return wrapper


def _scipy(module: types.ModuleType) -> None:
    """The functions that need SciPy ask for this name first, and say what to install when it is None."""
    if not hasattr(module, "scipy"):
        module.scipy = None
