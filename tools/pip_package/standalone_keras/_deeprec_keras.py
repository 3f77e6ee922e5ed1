"""`import keras` before `import tensorflow`, with TF_DEEPREC_KERAS=1: tensorflow is imported first.

deeprec_keras.pth imports this module when Python starts, if the variable is set. After tensorflow's import the package's own
table serves keras: tensorflow/api_v1/standalone_keras.py.
"""

import importlib
import importlib.machinery
import importlib.util
import os
import sys


class KerasFinder:
    """An import finder and loader for the name keras alone. It steps back as soon as tensorflow is there."""

    def __init__(self):
        self._loader = None

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "keras" or "tensorflow" in sys.modules:
            return None
        # A program that only asks whether there is a keras does not pay for tensorflow.
        return importlib.machinery.ModuleSpec("keras", self, is_package=True)

    def create_module(self, spec):
        try:
            importlib.import_module("tensorflow")
        except ImportError as error:
            raise ImportError(
                f"TF_DEEPREC_KERAS=1: keras is the Keras of tensorflow, which cannot be imported: {error}", name="keras"
            ) from error
        real = importlib.util.find_spec("keras")
        if real is None:
            raise ModuleNotFoundError("No module named 'keras'", name="keras")
        self._loader = real.loader
        module = real.loader.create_module(real)
        spec.loader_state = real.loader_state
        spec.submodule_search_locations = real.submodule_search_locations
        return module

    def exec_module(self, module):
        self._loader.exec_module(module)


def install():
    """Puts the finder in front of the others, once; not for the 2.x root, whose keras is its own matter."""
    if os.environ.get("TF_DEEPREC_ROOT") != "2" and not any(isinstance(f, KerasFinder) for f in sys.meta_path):
        sys.meta_path.insert(0, KerasFinder())
