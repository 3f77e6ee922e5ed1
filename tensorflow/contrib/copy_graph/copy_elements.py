"""Copies of variables and ops from one graph to another."""

from tensorflow.python.client import session
from tensorflow.python.framework import ops, tensor
from tensorflow.python.ops import variable_v1, variables

__all__ = ["copy_op_to_graph", "copy_variable_to_graph", "get_copied_op"]


def _in_scope(name, scope):
    return f"{scope}/{name}" if scope else name


def copy_variable_to_graph(org_instance, to_graph, scope=""):
    """Copies a variable, with its initial value, to another graph.

    Args:
      org_instance: the variable.
      to_graph: the other graph.
      scope: prefix of the copy's name, and of its collections but those of all and of trainable variables.

    Returns:
      The copy.

    Raises:
      TypeError: if `org_instance` is no variable.
    """
    if not isinstance(org_instance, variables.Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    graph = org_instance.graph
    everywhere = (ops.GraphKeys.GLOBAL_VARIABLES, ops.GraphKeys.TRAINABLE_VARIABLES)

    def holds(key):
        return any(item is org_instance for item in graph.get_collection_ref(key))

    keys = [key for key in graph.get_all_collection_keys() if holds(key)]
    with graph.as_default(), session.Session() as sess:
        value = sess.run(org_instance.initialized_value())
    with to_graph.as_default():
        return variable_v1.VariableV1(
            value,
            ops.GraphKeys.TRAINABLE_VARIABLES in keys,
            name=_in_scope(org_instance.op.name, scope),
            collections=[key if key in everywhere else _in_scope(key, scope) for key in keys],
            validate_shape=False,
        )


def copy_op_to_graph(org_instance, to_graph, variables, scope=""):
    """Copies an op, or the op of a tensor, and all that it needs, to another graph.

    Args:
      org_instance: an `Operation` or `Tensor`.
      to_graph: the other graph.
      variables: copies, made by `copy_variable_to_graph`, of the variables that it needs.
      scope: prefix of the copies' names and collections.

    Returns:
      The copy; what is there under its name already is not copied again.

    Raises:
      TypeError: if `org_instance` is something else.
    """
    if not isinstance(org_instance, (ops.Operation, tensor.Tensor)):
        raise TypeError(f"Could not copy instance: {org_instance}")
    name = _in_scope(org_instance.name, scope)
    for v in variables:
        if v.name == name:
            return to_graph.get_tensor_by_name(name)
    try:
        return to_graph.as_graph_element(name, allow_tensor=True, allow_operation=True)
    except (KeyError, ValueError):
        # Not there yet.
        pass
    if isinstance(org_instance, tensor.Tensor):
        copied = copy_op_to_graph(org_instance.op, to_graph, variables, scope).outputs[org_instance.value_index]
        for key in org_instance.graph.get_all_collection_keys():
            if any(item is org_instance for item in org_instance.graph.get_collection_ref(key)):
                to_graph.add_to_collection(_in_scope(key, scope), copied)
        return copied
    return _copy_op(org_instance, to_graph, variables, scope)


def _copy_op(op, to_graph, variables, scope):
    controls = [copy_op_to_graph(c, to_graph, variables, scope) for c in op.control_inputs]
    inputs = [copy_op_to_graph(i, to_graph, variables, scope) for i in op.inputs]
    attributes = {name: value for name, value in op.node_def.attr.items()}
    with to_graph.as_default(), ops.control_dependencies(controls), ops.device(op.device or None):
        return to_graph._create_op_internal(
            op.type,
            inputs,
            [output.dtype for output in op.outputs],
            # The slash keeps the name as it is, whatever scope is open.
            name=_in_scope(op.name, scope) + "/",
            attrs=attributes,
        )


def get_copied_op(org_instance, graph, scope=""):
    """The copy of an op, tensor or variable in a graph, as an op or tensor.

    Raises:
      KeyError: if there is none.
    """
    return graph.as_graph_element(_in_scope(org_instance.name, scope), allow_tensor=True, allow_operation=True)
