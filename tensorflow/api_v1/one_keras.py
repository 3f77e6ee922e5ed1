"""Keeps the runtime's own copy of Keras out, so that there is one Keras: tf_keras.

The released package still carries a Keras of its own at `tensorflow.python.keras`. Its modules for the API are not those of
`tf.keras`, so `isinstance` fails between the two. Outside of itself the runtime uses three things of that copy:

  * `ops.rnn_cell_impl` re-exports the RNN cells,
  * `feature_column` derives four private layers from the base layer of `tf.layers`,
  * `training.learning_rate_decay` calls its schedules, which build plain ops.

While the runtime's Python loads, the first two get stand-ins and the third is loaded as it is (four small files). Afterwards
the stand-ins are swapped for tf_keras' classes at first use: tf_keras imports tensorflow and cannot be there earlier. The import
paths below `tensorflow.python.keras` are served by `import_aliases`. Import time falls by the 113 modules that are not loaded.
"""

import contextlib
import importlib.util
import os
import sys
import types

_COPY = "tensorflow.python.keras"
# Modules that get a stand-in while the runtime loads, all parents included.
_STAND_INS = (
    f"{_COPY}.engine",
    f"{_COPY}.engine.input_spec",
    f"{_COPY}.layers",
    f"{_COPY}.layers.legacy_rnn",
    f"{_COPY}.layers.legacy_rnn.rnn_cell_impl",
    f"{_COPY}.layers.rnn_cell_wrapper_v2",
    f"{_COPY}.legacy_tf_layers",
    f"{_COPY}.legacy_tf_layers.base",
)
# Modules of the released package that hold nothing but re-exports of the copy. They are forgotten, and import_aliases
# serves their paths.
_RE_EXPORTS = ("tensorflow.python.layers.base",)
# Modules that hold such re-exports beside their own names: old_paths.names says where these come from.
_WITH_RE_EXPORTS = ("tensorflow.python.ops.rnn_cell_impl", "tensorflow._api.v2.compat.v2.nn")


class _StandIn(types.ModuleType):
    """A module with any attribute: each is a class that stands for the one of that name in tf_keras."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = type(name, (DeferredBase,), {}) if name == "Layer" else _Unresolved()
        setattr(self, name, value)
        return value


class _Unresolved:
    """What the re-exports hold until they are removed."""


class DeferredBase:
    """Base of the feature columns' layers until the first of them is made, which gives them the base of `tf.layers`."""

    def __new__(cls, *args, **kwargs):
        from tf_keras.src.legacy_tf_layers import base

        for derived in DeferredBase.__subclasses__()[0].__subclasses__():
            derived.__bases__ = (base.Layer,)
        return cls.__new__(cls, *args, **kwargs)


@contextlib.contextmanager
def without_the_copy():
    """While the runtime's Python loads: its Keras is made of stand-ins, and gone at the end."""
    package = types.ModuleType(_COPY)
    # The schedules of learning_rate_decay are found here, without running the package's own __init__.
    package.__path__ = [os.path.join(os.path.dirname(sys.modules["tensorflow"].__file__), "python", "keras")]
    package.__spec__ = importlib.util.spec_from_loader(_COPY, loader=None, is_package=True)
    sys.modules[_COPY] = package
    for name in _STAND_INS:
        module = _StandIn(name)
        module.__path__ = []
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        setattr(sys.modules[parent], child, module)
    try:
        yield
    finally:
        for name in [n for n in sys.modules if n == _COPY or n.startswith(_COPY + ".")]:
            _forget(name)
        for name in _RE_EXPORTS:
            _forget(name)
        for name in _WITH_RE_EXPORTS:
            _drop_stand_ins(sys.modules.get(name))
        # The module of the API whose place `tf.nn.rnn_cell` takes, and the like.
        for name in ("tensorflow._api.v2.compat.v1.nn.rnn_cell", "tensorflow._api.v2.compat.v1.layers"):
            sys.modules.pop(name, None)


def _forget(name: str) -> None:
    sys.modules.pop(name, None)
    parent, _, child = name.rpartition(".")
    if parent in sys.modules:
        sys.modules[parent].__dict__.pop(child, None)


def _drop_stand_ins(module: types.ModuleType | None) -> None:
    """Removes the stand-ins that a module has taken over; None, after a failed import, is left to that error."""
    for key, value in list(vars(module).items()) if module else ():
        if isinstance(value, (_StandIn, _Unresolved)):
            delattr(module, key)
