"""Encoders of sequences of symbol ids."""

from tensorflow.contrib.framework import variables
from tensorflow.contrib.layers import embedding_ops as contrib_embedding_ops
from tensorflow.contrib.layers import sparse_ops
from tensorflow.python.framework import sparse_tensor
from tensorflow.python.ops import embedding_ops, math_ops, variable_scope

__all__ = ["bow_encoder", "embed_sequence"]


def bow_encoder(
    ids,
    vocab_size,
    embed_dim,
    sparse_lookup=True,
    initializer=None,
    regularizer=None,
    trainable=True,
    scope=None,
    reuse=None,
):
    """Averages the embeddings of each example's ids ("bag of words").

    Args:
      ids: int32 or int64 `Tensor` or `SparseTensor` `[batch, length]`.
      vocab_size: number of ids.
      embed_dim: size of an embedding.
      sparse_lookup: makes `ids` sparse first, so that id 0 is padding and does not count.
      initializer, regularizer, trainable: of the variable "embeddings".
      scope: variable scope, "bow_encoder" by default.
      reuse: whether the variable is reused.

    Returns:
      Tensor `[batch, embed_dim]`.

    Raises:
      ValueError: if `vocab_size` or `embed_dim` is missing.
      TypeError: if `ids` is sparse and `sparse_lookup` False.
    """
    if not vocab_size or not embed_dim:
        raise ValueError(f"vocab_size and embed_dim must be given, got {vocab_size!r} and {embed_dim!r}")
    with variable_scope.variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = variables.model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim],
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        is_sparse = isinstance(ids, sparse_tensor.SparseTensor)
        if sparse_lookup:
            sparse_ids = ids if is_sparse else sparse_ops.dense_to_sparse_tensor(ids)
            return contrib_embedding_ops.safe_embedding_lookup_sparse(
                [embeddings], sparse_ids, combiner="mean", default_id=0
            )
        if is_sparse:
            raise TypeError(f"ids must be a dense Tensor if sparse_lookup is False, got {ids}")
        return math_ops.reduce_mean(embedding_ops.embedding_lookup(embeddings, ids), axis=1)


def embed_sequence(
    ids,
    vocab_size=None,
    embed_dim=None,
    unique=False,
    initializer=None,
    regularizer=None,
    trainable=True,
    scope=None,
    reuse=None,
):
    """Looks up the embedding of each id.

    Args:
      ids: int32 or int64 `Tensor` `[batch, length]`.
      vocab_size, embed_dim: shape of the table; may be left out if it is reused.
      unique: looks up each id once.
      initializer, regularizer, trainable: of the variable "embeddings".
      scope: variable scope, "EmbedSequence" by default.
      reuse: whether the variable is reused.

    Returns:
      Tensor `[batch, length, embed_dim]`.

    Raises:
      ValueError: if the shape is missing and `reuse` is not set.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            f"vocab_size and embed_dim must be given unless reuse is set, got {vocab_size!r} and {embed_dim!r}"
        )
    with variable_scope.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        known = embed_dim is not None and not (reuse and vocab_size is None)
        embeddings = variables.model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim] if known else None,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        if unique:
            return contrib_embedding_ops.embedding_lookup_unique(embeddings, ids)
        return embedding_ops.embedding_lookup(embeddings, ids)
