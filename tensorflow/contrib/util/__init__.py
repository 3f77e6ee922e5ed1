"""Utilities: constant values, tensor protos, the ops that a graph uses."""

from tensorflow.python.framework.meta_graph import ops_used_by_graph_def, stripped_op_list_for_graph
from tensorflow.python.framework.tensor_util import MakeNdarray as make_ndarray
from tensorflow.python.framework.tensor_util import constant_value, make_tensor_proto

__all__ = [
    "constant_value",
    "make_ndarray",
    "make_tensor_proto",
    "ops_used_by_graph_def",
    "stripped_op_list_for_graph",
]
