"""DLRM (Naumov et al., 2019, arXiv:1906.00091) on Criteo columns.

bottom: 13 scaled numbers -> relu layers, the last as wide as an embedding
interaction: of the bottom's output and the 26 embeddings: their dot products in pairs, or side by side ("cat")
top: [bottom, interaction] -> relu layers -> 1
"""

from typing import Dict, NamedTuple, Tuple

import tensorflow as tf

from common import criteo, model_flags


class Size(NamedTuple):
    """Units of the hidden layers; the bottom gets one more, of the embeddings' dimension."""

    bottom: Tuple[int, ...] = (512, 256, 64)
    top: Tuple[int, ...] = (512, 256)


def logits(
    features: Dict[str, tf.Tensor], args, size: Size, interaction_op: str, embeddings: model_flags.Embeddings
) -> tf.Tensor:
    """float32 [B] logits of a batch of Criteo features (see criteo_reader.Batch)."""
    numbers = [
        tf.feature_column.numeric_column(name, normalizer_fn=_scaler(minimum, span))
        for name, minimum, span in zip(criteo.NUMERIC, criteo.NUMERIC_MINIMUM, criteo.NUMERIC_RANGE)
    ]
    with embeddings.scope():
        columns = [embeddings.column(name) for name in criteo.CATEGORICAL]
    outputs = {}
    with embeddings.variable_scope("embeddings"):
        tf.feature_column.input_layer(features, columns, cols_to_output_tensors=outputs)
    vectors = [outputs[column] for column in columns]
    with model_flags.dense_scope(args, "bottom"):
        net = tf.feature_column.input_layer(features, numbers)
        bottom = model_flags.mlp(net, (*size.bottom, args.embedding_dim), "hidden")
    with model_flags.dense_scope(args, "top"):
        net = tf.concat([bottom, interaction([bottom, *vectors], interaction_op)], 1)
        net = model_flags.mlp(net, size.top, "hidden")
        return tf.squeeze(tf.layers.dense(net, 1, name="logits"), 1)


def interaction(vectors, op: str) -> tf.Tensor:
    """[B, n] of vectors [B, dim]: "cat", all but the first side by side; "dot", the dot product of each pair."""
    if op == "cat":
        return tf.concat(vectors[1:], 1)
    stacked = tf.stack(vectors, 1)
    products = tf.matmul(stacked, stacked, transpose_b=True)
    pairs = [(i, j) for i in range(len(vectors)) for j in range(i)]
    flat = tf.reshape(products, [-1, len(vectors) ** 2])
    return tf.gather(flat, [i * len(vectors) + j for i, j in pairs], axis=1)


def _scaler(minimum: float, span: float):
    return lambda x: (x - minimum) / span
