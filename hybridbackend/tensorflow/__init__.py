"""HybridBackend's names, of its versions 0.5 to 1.0: reading data, context and options.

They stand on `tensorflow.deeprec`; a name of HybridBackend that is not there yet says so when it is used.
"""

import tensorflow as _tensorflow  # noqa: F401 (the kernels)
from hybridbackend.tensorflow import data
from hybridbackend.tensorflow.framework.buildinfo import buildinfo
from hybridbackend.tensorflow.framework.context import (
    Context,
    context,
    context_scope,
    get_session_config,
    wraps_session_config,
)
from hybridbackend.tensorflow.framework.seeds import enable_deterministic

__all__ = (
    "Context",
    "buildinfo",
    "context",
    "context_scope",
    "data",
    "enable_deterministic",
    "get_session_config",
    "wraps_session_config",
)
__version__ = buildinfo()

# Of HybridBackend's training.
_NOT_THERE = frozenset(
    """
    distribute embedding_scope enable_optimization disable_optimization dense_features estimator feature_column floormod_partition
    floormod_shuffle floormod_shuffle_n function keras layers math metrics pipeline saved_model scope train wraps export export_all
    """.split()
)


def __getattr__(name):
    if name in _NOT_THERE:
        raise AttributeError(
            f"hybridbackend.tensorflow.{name} is not in this wheel: it has HybridBackend's data part (hb.data), hb.context and its "
            "options. For embeddings and training see docs/embedding_variable.md"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
