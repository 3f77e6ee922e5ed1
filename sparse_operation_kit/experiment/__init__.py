"""The newer of SparseOperationKit's two APIs: `from sparse_operation_kit import experiment as sok`."""

from sparse_operation_kit import communication, raw_ops
from sparse_operation_kit.communication import (
    allgather,
    allreduce,
    alltoall,
    broadcast,
    global_gpu_id,
    id_in_rank,
    local_rank,
    num_gpu_per_rank,
    num_gpus,
    num_ranks,
    rank,
)
from sparse_operation_kit.dump_load import dump, incremental_model_dump, load
from sparse_operation_kit.dynamic_variable import DynamicVariable
from sparse_operation_kit.lookup import all2all_dense_embedding, lookup_sparse
from sparse_operation_kit.optimizers import SGD, OptimizerWrapper
from sparse_operation_kit.runtime import init, set_comm_tool
from sparse_operation_kit.table_access import assign, export, filter_variables, sparse_read_and_evict
from sparse_operation_kit.variables import DistributedVariable, LocalizedVariable, Variable
from sparse_operation_kit.versions import __version__, tf_version

__all__ = [
    "SGD",
    "DistributedVariable",
    "DynamicVariable",
    "LocalizedVariable",
    "OptimizerWrapper",
    "Variable",
    "__version__",
    "all2all_dense_embedding",
    "allgather",
    "allreduce",
    "alltoall",
    "assign",
    "broadcast",
    "communication",
    "dump",
    "export",
    "filter_variables",
    "global_gpu_id",
    "id_in_rank",
    "incremental_model_dump",
    "init",
    "load",
    "local_rank",
    "lookup_sparse",
    "num_gpu_per_rank",
    "num_gpus",
    "num_ranks",
    "rank",
    "raw_ops",
    "set_comm_tool",
    "sparse_read_and_evict",
    "tf_version",
]
