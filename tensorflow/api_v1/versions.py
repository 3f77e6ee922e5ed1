"""The version that the 1.x API reports."""

import types

# The last release of the 1.x line. The version of the wheel, with its local part, is in the metadata of the installed
# distribution; the runtime's own stays at `tf.compat.v2.__version__`.
VERSION = "1.15.5"


def install(module: types.ModuleType, namespace: types.ModuleType) -> None:
    """Sets `__version__`, `VERSION` and `version.VERSION` of the root and of `tf.compat.v1`."""
    for target in (module, namespace):
        target.__version__ = VERSION
        target.VERSION = VERSION
    module.version.VERSION = VERSION
