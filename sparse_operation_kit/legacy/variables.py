"""Helpers around the layers' variables."""

import contextlib

import tensorflow as tf

from sparse_operation_kit.legacy.table import table_of


class GraphKeys:
    """Names of collections of a graph."""

    SparseOperationKitEmbeddingLayers = "SparseOperationKitEmbeddingLayers"
    SparseOperationKitOptimizer = "SparseOperationKitOptimizer"


def split_embedding_variable_from_others(variables):
    """Splits a list or tuple of variables into `(embedding variables of layers, others)`, in their order.

    Raises:
      ValueError: variables is no list or tuple.
    """
    if not isinstance(variables, (list, tuple)):
        raise ValueError(f"variables must be a list or tuple, got {type(variables).__name__}")
    found, others = [], []
    for variable in variables:
        (others if table_of(variable) is None else found).append(variable)
    return found, others


def OptimizerScope(trainable_variables):
    """A context in which TensorFlow's own optimizers update embedding variables.

    Here these are ordinary variables to TensorFlow everywhere, so the context changes nothing; upstream's needs it.

    Raises:
      RuntimeError: trainable_variables is no list or tuple.
    """
    if not isinstance(trainable_variables, (list, tuple)):
        raise RuntimeError(f"trainable_variables must be a list or tuple, got {type(trainable_variables).__name__}")
    return contextlib.nullcontext()


def get_embedding(name, constructor=None, **kwargs):
    """The layer of that name in the TF1 graph, made by `constructor(name=name, **kwargs)` if there is none.

    Raises:
      ValueError: there is none, and no constructor.
    """
    layers = tf.compat.v1.get_collection_ref(GraphKeys.SparseOperationKitEmbeddingLayers)
    for layer in layers:
        if layer.name == name:
            return layer
    if constructor is None:
        raise ValueError(f"there is no embedding layer {name!r}, and no constructor was given")
    layers.append(constructor(name=name, **kwargs))
    return layers[-1]
