"""Embeddings of ids."""

from tensorflow.python.framework import ops
from tensorflow.python.ops import array_ops, embedding_ops, math_ops, variable_scope


def embedding_lookup(params, ids, name="embedding_lookup"):
    """Embeddings of ids of any rank.

    Args:
      params: tensor `[vocab, dim]`, or list of its parts.
      ids: integer tensor.
      name: name of the ops.

    Returns:
      Tensor `ids.shape + [dim]`.
    """
    with ops.name_scope(name, "embedding_lookup", [params, ids]):
        params, ids = ops.convert_to_tensor(params), ops.convert_to_tensor(ids)
        shape = array_ops.shape(ids)
        flat = array_ops.reshape(ids, math_ops.reduce_prod(shape, keepdims=True))
        embeddings = embedding_ops.embedding_lookup(params, flat)
        result = array_ops.reshape(embeddings, array_ops.concat([shape, [-1]], 0))
        result.set_shape(ids.get_shape().concatenate(params.get_shape()[1:]))
        return result


def categorical_variable(tensor_in, n_classes, embedding_size, name):
    """Embeddings of ids in a variable of its own, "NAME/NAME_embeddings".

    Args:
      tensor_in: integer tensor.
      n_classes: number of ids.
      embedding_size: size of an embedding.
      name: variable scope.
    """
    with variable_scope.variable_scope(name):
        embeddings = variable_scope.get_variable(f"{name}_embeddings", [n_classes, embedding_size])
        return embedding_lookup(embeddings, tensor_in)
