"""SparseOperationKit on the CPU: embedding tables spread over the processes or replicas of a training job.

`import sparse_operation_kit as sok` has the names of the older API (`Init`, layers, `OptimizerScope`, `Saver`) and of the newer one (`init`,
`Variable`, `lookup_sparse`), which `sparse_operation_kit.experiment` has by itself.
"""

from sparse_operation_kit import experiment, optimizers, peers, raw_ops, tf, transports
from sparse_operation_kit.experiment import *  # noqa: F403
from sparse_operation_kit.experiment import __all__ as _newer
from sparse_operation_kit.legacy.backend import Init
from sparse_operation_kit.legacy.layers import All2AllDenseEmbedding, DistributedEmbedding
from sparse_operation_kit.legacy.saver import Saver
from sparse_operation_kit.legacy.variables import (
    GraphKeys,
    OptimizerScope,
    get_embedding,
    split_embedding_variable_from_others,
)
from sparse_operation_kit.versions import __version__

__all__ = [
    "All2AllDenseEmbedding",
    "DistributedEmbedding",
    "GraphKeys",
    "Init",
    "OptimizerScope",
    "Saver",
    "__version__",
    "experiment",
    "get_embedding",
    "optimizers",
    "raw_ops",
    "split_embedding_variable_from_others",
    "tf",
    *[name for name in _newer if name not in ("__version__", "raw_ops")],
]

if transports.launched_size() > 1:
    # Horovod's own default is to wait for ever.
    peers.limit_stalls()
