"""What folding and quantizing share: the step that delays are counted in, and walks along a graph."""

import tensorflow as tf

_STEP = "quantization_step"

ADD_TYPES = frozenset(("Add", "AddV2"))
LAYER_TYPES = frozenset(("Conv2D", "DepthwiseConv2dNative", "MatMul"))


def CreateOrGetQuantizationStep():
    """The number of runs so far that used it, int64: a variable "quantization_step" that each use in a run counts up.

    It is apart from the global step, which a model need not have.
    """
    graph = tf.get_default_graph()
    scope = tf.get_variable_scope().name
    try:
        return graph.get_tensor_by_name(f"{scope}/{_STEP}/AssignAdd:0".lstrip("/"))
    except KeyError:
        pass
    with graph.name_scope(None):
        variable = tf.get_variable(
            _STEP,
            shape=[],
            dtype=tf.int64,
            initializer=tf.zeros_initializer(),
            trainable=False,
            collections=[tf.GraphKeys.GLOBAL_VARIABLES],
            use_resource=False,
        )
        with graph.name_scope(variable.op.name + "/"):
            # The lookup above goes by the name of this op.
            return tf.assign_add(variable, 1)


def context_of(name: str) -> str:
    """The scope that an op's name lies in, "" at the top."""
    return name.rpartition("/")[0]


def is_weight_read(tensor) -> bool:
    """Whether a tensor is the value of a variable, or of one in parts."""
    op = tensor.op
    if op.type in ("Variable", "VariableV2", "ReadVariableOp"):
        return True
    if op.type == "Identity":
        return is_weight_read(op.inputs[0])
    return op.type == "ConcatV2" and all(is_weight_read(part) for part in op.inputs[:-1])
