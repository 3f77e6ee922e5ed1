"""Keras 2 as the Keras of the 1.x root."""

import types

from tensorflow.api_v1 import import_aliases, import_hooks, keras_members, keras_yaml

# Where tf_keras offers its newer optimizers. These create their variables and apply gradients in ways that a session
# never runs: training with them in graph mode silently changes nothing.
_OPTIMIZER_MODULES = ("tf_keras.optimizers", "tf_keras.api._v2.keras.optimizers")


def _bind_session_optimizers(module: types.ModuleType) -> None:
    """Replaces the optimizers of a module by those of the same name that work in a session."""
    from tf_keras.api._v1.keras import optimizers as working

    for name in vars(working):
        if name[0].isupper() and hasattr(module, name):
            setattr(module, name, getattr(working, name))


def install(module: types.ModuleType, namespace: types.ModuleType) -> None:
    """Makes `tensorflow.keras...` importable by path; `tf.keras`, `tf.layers`, `tf.nn.rnn_cell` are lazy already.

    Args:
      module: the `tensorflow` package, filled with the names of `namespace`.
      namespace: `tf.compat.v1`, which resolves its Keras parts to tf_keras' 1.x API at first use.
    """
    for name in ("keras", "layers"):
        setattr(module, name, getattr(namespace, name))
    import_aliases.install()
    keras_members.install()
    keras_yaml.install()
    for name in _OPTIMIZER_MODULES:
        import_hooks.after_import(name, _bind_session_optimizers)
