"""Released functions that take the whole value of variables: what they do about EmbeddingVariables, which have none."""

import functools

from tensorflow.deeprec.embedding.variable import EmbeddingVariable
from tensorflow.python.framework import convert_to_constants, graph_util_impl
from tensorflow.python.ops import control_flow_ops, variables


def _assert_variables_initialized(released):
    @functools.wraps(released)
    def assert_variables_initialized(var_list=None):
        if var_list is None:
            var_list = variables.global_variables() + variables.local_variables()
        tables = [v for v in var_list if isinstance(v, EmbeddingVariable)]
        if not tables:
            return released(var_list)
        others = [v for v in var_list if not isinstance(v, EmbeddingVariable)]
        # Fails as a read of a variable does.
        checks = [table.total_count() for table in tables]
        return control_flow_ops.group(*([released(others)] if others else []), *checks)

    return assert_variables_initialized


def _convert_variables_to_constants(released):
    @functools.wraps(released)
    def convert_variables_to_constants(
        sess, input_graph_def, output_node_names, variable_names_whitelist=None, variable_names_blacklist=None
    ):
        needed = graph_util_impl.extract_sub_graph(input_graph_def, output_node_names)
        tables = sorted(node.name for node in needed.node if node.op == "KvVarHandleOp")
        if tables:
            raise ValueError(
                f"output_node_names need the EmbeddingVariables {', '.join(tables)}, which have no value as a whole and "
                "can not become constants: export a SavedModel."
            )
        return released(sess, input_graph_def, output_node_names, variable_names_whitelist, variable_names_blacklist)

    return convert_variables_to_constants


def install() -> None:
    """Puts ours where the released functions are."""
    from tensorflow._api.v2.compat import v1 as api

    for name, wrapper, modules in (
        ("assert_variables_initialized", _assert_variables_initialized, (variables, api)),
        (
            "convert_variables_to_constants",
            _convert_variables_to_constants,
            (convert_to_constants, api.graph_util),
        ),
    ):
        function = wrapper(getattr(modules[0], name))
        for module in modules:
            setattr(module, name, function)
