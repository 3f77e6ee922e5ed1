"""`tensorflow.tools.graph_transforms.TransformGraph`: the graph transform tool, whose C++ is still in the runtime."""

from tensorflow.core.framework import graph_pb2
from tensorflow.python.util import _pywrap_transform_graph


def TransformGraph(input_graph_def, inputs, outputs, transforms):
    """Applies transforms by name to a graph.

    Args:
      input_graph_def: a GraphDef.
      inputs, outputs: lists of node names.
      transforms: list of transforms, each `name` or `name(argument=value, ...)`, e.g. "fold_constants(ignore_errors=true)".

    Returns:
      A new GraphDef.

    Raises:
      tf.errors.InvalidArgumentError: an unknown transform or a bad argument.
    """
    result = graph_pb2.GraphDef()
    result.ParseFromString(
        _pywrap_transform_graph.TransformGraphWithStringInputs(
            input_graph_def.SerializeToString(), ",".join(inputs), ",".join(outputs), " ".join(transforms)
        )
    )
    return result
