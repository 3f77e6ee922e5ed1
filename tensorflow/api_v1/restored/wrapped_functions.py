"""Functions of the SWIG module of 1.15."""

from tensorflow.core.framework import graph_pb2
from tensorflow.python.util._pywrap_transform_graph import TransformGraphWithStringInputs  # noqa: F401

# The text of an import error; there is none when this can be read.
msg = ""


def EqualGraphDefWrapper(actual, expected) -> bytes:
    """Compares two serialized GraphDefs, node order aside; b"" if they are equal, else what differs."""
    graphs = []
    for data in (actual, expected):
        graph = graph_pb2.GraphDef()
        graph.ParseFromString(data)
        graphs.append({node.name: node for node in graph.node})
    for name in graphs[1].keys() - graphs[0].keys():
        return f"Did not find expected node '{name}'".encode()
    for name in graphs[0].keys() - graphs[1].keys():
        return f"Found unexpected node '{name}'".encode()
    for name, node in graphs[1].items():
        if node != graphs[0][name]:
            return f"Node named '{name}' differs: expected {node} got {graphs[0][name]}".encode()
    return b""
