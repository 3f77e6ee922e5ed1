"""`tf.contrib.keras`: `tf.keras`, whose modules answer under contrib's paths too."""

import importlib
import sys
import types

from tensorflow.api_v1.old_paths.contrib_modules import PATHS


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return sys.modules[f"{__name__}.{name}"]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def _module(path: str) -> types.ModuleType:
    """`tensorflow.keras.path`; with its own names where 1.15's contrib had others than 1.15's `tf.keras`."""
    module = importlib.import_module(f"tensorflow.keras.{path}")
    if path not in _DIFFERENT:
        return module
    source, names = _DIFFERENT[path]
    copy = types.ModuleType(f"{__name__}.{path}", module.__doc__)
    copy.__dict__.update({name: value for name, value in vars(module).items() if not name.startswith("__")})
    for name in names:
        setattr(copy, name, getattr(importlib.import_module(source), name))
    return copy


# Keras' own optimizers, with `lr` and `decay`, and not those on the interface of tf.train.
_DIFFERENT = {
    "callbacks": ("tensorflow.contrib.keras.tensorboard_callback", ("TensorBoard",)),
    "metrics": ("tf_keras.src.losses", ("cosine_similarity",)),
    "optimizers": (
        "tf_keras.src.optimizers.optimizer_v1",
        ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam"),
    ),
}

for _path in PATHS["keras"].split():
    if _path.startswith("api.keras."):
        _path = _path[len("api.keras.") :]
        # "api.keras.X" and "X" are one module.
        sys.modules[f"{__name__}.{_path}"] = sys.modules[f"{__name__}.api.keras.{_path}"] = _module(_path)


def __dir__():
    return sorted(
        {name[len(__name__) + 1 :].partition(".")[0] for name in sys.modules if name.startswith(f"{__name__}.")}
    )
