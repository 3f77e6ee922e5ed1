"""Old import paths, served by one import finder from one table.

`from tensorflow.keras.layers import Dense` must give the class that `tf.keras.layers.Dense` is. A path in the table is not a
second copy of a module but the same module object under one more name.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from typing import Optional

# Import path -> the module it stands for; submodules follow their parent.
PATHS = {
    "tensorflow.keras": "tf_keras.api._v1.keras",
    "tensorflow.layers": "tf_keras.api._v1.keras.__internal__.legacy.layers",
    "tensorflow.nn.rnn_cell": "tf_keras.api._v1.keras.__internal__.legacy.rnn_cell",
    "tensorflow.compat.v1.keras": "tf_keras.api._v1.keras",
    "tensorflow.compat.v1.layers": "tf_keras.api._v1.keras.__internal__.legacy.layers",
    "tensorflow.compat.v1.nn.rnn_cell": "tf_keras.api._v1.keras.__internal__.legacy.rnn_cell",
    "tensorflow.compat.v2.keras": "tf_keras.api._v2.keras",
}


class AliasFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Resolves the paths of the table to modules that exist under another name."""

    def find_spec(self, fullname, path=None, target=None):
        if not fullname.startswith("tensorflow."):
            return None
        real = real_name(fullname)
        if real is None or importlib.util.find_spec(real) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=real)

    def create_module(self, spec):
        module = importlib.import_module(spec.origin)
        # The import system is about to overwrite the module's own spec with the alias's; see exec_module.
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = module.__spec__.loader_state


def real_name(fullname: str) -> Optional[str]:
    """The module that an import path of the table stands for; None for a path that is not in it."""
    for alias, real in PATHS.items():
        if fullname == alias or fullname.startswith(alias + "."):
            return real + fullname[len(alias) :]
    return None


def install() -> None:
    """Puts the finder in front of the others, once."""
    if not any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, AliasFinder())
