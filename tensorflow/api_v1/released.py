"""The released 2.x root: what `import tensorflow` gives with TF_DEEPREC_ROOT=2.

The wheel keeps upstream's root module under the name `released_root.py`. Running it in place of ours, in the namespace of
the package, leaves a program with the same module that the released wheel would have given it.
"""

import importlib.machinery
import os
import types


def populate(module: types.ModuleType) -> None:
    """Runs upstream's root module in `module`'s namespace and loads our kernels."""
    path = os.path.join(os.path.dirname(module.__file__), "released_root.py")
    importlib.machinery.SourceFileLoader(module.__name__, path).exec_module(module)
    from tensorflow.deeprec import library

    library.load()
