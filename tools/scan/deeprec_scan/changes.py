"""Names that are there and do something else than in 1.15, or nothing: pattern -> what happens, what to do.

The reasons are those of docs/limits.md.
"""

import fnmatch
from typing import Optional

_NO_TPU = "there is no TPU support in a CPU build"
_NO_STATS = "accepted without effect: tf.data gathers no statistics any more"

CHANGES = {
    "tensorflow.Operation": (
        "cannot be constructed from a NodeDef",
        "use tf.Operation.from_node_def, or tf.import_graph_def",
    ),
    "tensorflow.RaggedTensor": ("cannot be constructed directly", "use tf.RaggedTensor.from_row_splits and the like"),
    "tensorflow.Tensor": ("cannot be constructed directly", "tensors come from ops"),
    "tensorflow.data.experimental.StatsAggregator": (_NO_STATS, "profile with tf.profiler"),
    "tensorflow.data.experimental.StatsOptions": (_NO_STATS, "profile with tf.profiler"),
    "tensorflow.data.experimental.bytes_produced_stats": (_NO_STATS, "profile with tf.profiler"),
    "tensorflow.data.experimental.latency_stats": (_NO_STATS, "profile with tf.profiler"),
    "tensorflow.keras.utils.multi_gpu_model": (
        "returns the model itself: there is no GPU support",
        "leave it, or use tf.distribute",
    ),
    "tensorflow.lite.experimental.nn.*": (
        "raises when used: the op hints were removed",
        "convert Keras layers instead",
    ),
    "tensorflow.load_op_library": (
        "a library built for 1.15 does not load",
        "build it anew with tf.sysconfig.get_compile_flags() and get_link_flags()",
    ),
    "tensorflow.load_library": (
        "a library built for 1.15 does not load",
        "build it anew with tf.sysconfig.get_compile_flags() and get_link_flags()",
    ),
    "tensorflow.raw_ops.*TPUEmbedding*": ("raises when run: " + _NO_TPU, "run that part where the TPU is"),
    "tensorflow.tools.graph_transforms.TransformGraph": (
        "raises: the graph transform tool was removed",
        "use tf.compat.v1.graph_util, or grappler's options",
    ),
    "tensorflow.tpu.initialize_system": ("raises when run: " + _NO_TPU, "run that part where the TPU is"),
    "tensorflow.contrib.tpu.initialize_system": ("raises when run: " + _NO_TPU, "run that part where the TPU is"),
}

STANDALONE_KERAS = (
    "is another package, keras 3 if it is installed",
    "set TF_DEEPREC_KERAS=1 before Python starts",
)


def change_of(name: str) -> Optional[tuple[str, str]]:
    """(what happens, what to do) of a dotted name; None where nothing changed."""
    if name == "keras" or name.startswith("keras."):
        return STANDALONE_KERAS
    for pattern, change in CHANGES.items():
        if fnmatch.fnmatchcase(name, pattern):
            return change
    return None
