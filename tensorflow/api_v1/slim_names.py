"""The private names that tf_slim takes, under the 2.x root, where `moved_names` is not installed as a whole."""

from tensorflow.api_v1 import moved_names
from tensorflow.deeprec import settings

_MODULES = (
    "tensorflow.python.framework.ops",
    "tensorflow.python.ops.array_ops",
    "tensorflow.python.ops.control_flow_ops",
    "tensorflow.python.ops.variable_scope",
)


def install() -> None:
    """Adds the old names of these modules; the 1.x root has them already."""
    if settings.ROOT_API == "2":
        moved_names.install(_MODULES)
