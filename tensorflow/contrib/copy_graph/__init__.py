"""Copies of variables and ops from one graph to another."""

from tensorflow.contrib.copy_graph.copy_elements import copy_op_to_graph, copy_variable_to_graph, get_copied_op

__all__ = ["copy_op_to_graph", "copy_variable_to_graph", "get_copied_op"]
