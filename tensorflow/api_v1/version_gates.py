"""Packages that look at `tf.__version__`, refuse 1.15.5, and work.

What they need is there: the runtime is 2.21 and `tf.compat.v2` is whole. Only the number that they ask for is the API's and not
the runtime's. A package whose code does need the 2.x root is not listed: for it there is TF_DEEPREC_ROOT=2.
"""

import types

from tensorflow.api_v1 import import_hooks, versions

# Module that holds the gate -> name of its constant with the lowest version that passes.
_GATES = {
    "tensorflow_datasets.core.utils.lazy_imports_utils": "MIN_TF_VERSION",
}


def _lower(constant: str):
    def hook(module: types.ModuleType) -> None:
        if hasattr(module, constant):
            setattr(module, constant, versions.VERSION)

    return hook


def install() -> None:
    """Lowers each gate when its module is imported."""
    for name, constant in _GATES.items():
        import_hooks.after_import(name, _lower(constant))
