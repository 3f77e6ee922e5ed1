"""Keras 2 as the Keras of the 1.x root."""

import types

from tensorflow.api_v1 import import_aliases


def install(module: types.ModuleType, namespace: types.ModuleType) -> None:
  """Makes `tensorflow.keras...` importable by path; `tf.keras`, `tf.layers`, `tf.nn.rnn_cell` are lazy already.

  Args:
    module: the `tensorflow` package, filled with the names of `namespace`.
    namespace: `tf.compat.v1`, which resolves its Keras parts to tf_keras' 1.x API at first use. That API binds
      the optimizers that work in a session.
  """
  for name in ("keras", "layers"):
    setattr(module, name, getattr(namespace, name))
  import_aliases.install()
