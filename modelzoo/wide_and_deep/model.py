"""Wide & Deep (Cheng et al., 2016, arXiv:1606.07792) on Criteo columns, in tf.feature_column and tf.layers.

wide:  sum over C1..C26 of one weight per hash bucket
deep:  [13 scaled numbers, 26 embeddings] -> relu layers -> 1
logit = wide + deep
"""

import argparse
from typing import Dict, NamedTuple, Optional, Tuple

import tensorflow as tf

from common import criteo, criteo_columns, ev_flags, model_flags
from common.embeddings import Embeddings
from common.parts import minimize_parts

# The columns the full-size model gives twice the dimension.
_LARGE = frozenset(("C3", "C4", "C10", "C12", "C16", "C21", "C24", "C26"))
_WIDE_SCOPE, _DEEP_SCOPE = "linear", "deep"
_PLAIN = argparse.Namespace(group_embedding=False, emb_fusion=False, **dict.fromkeys(ev_flags.KINDS, False))


class Size(NamedTuple):
    """hash_buckets: per C column. embedding_dim: of a C column, doubled for the large ones if `widen_large`."""

    hash_buckets: int = 10_000
    embedding_dim: int = 16
    widen_large: bool = False
    hidden_units: Tuple[int, ...] = (256, 128, 64)

    def dimension(self, column: str) -> int:
        return self.embedding_dim * (2 if self.widen_large and column in _LARGE else 1)


DEFAULT_SIZE = Size()
FULL_SIZE = Size(embedding_dim=64, widen_large=True, hidden_units=(1024, 512, 256))


def logits(
    features: Dict[str, tf.Tensor],
    size: Size,
    input_layer_partitioner=None,
    dense_layer_partitioner=None,
    embeddings: Optional[Embeddings] = None,
    layer_dtype: tf.DType = tf.float32,
) -> tf.Tensor:
    """float32 [B] logits of a batch of Criteo features (see text_reader.Batch).

    embeddings: what makes those of the deep part; None: hashed ones, each looked up by itself. layer_dtype: what the hidden layers
    compute in.
    """
    categories = [
        tf.feature_column.categorical_column_with_hash_bucket(name, size.hash_buckets) for name in criteo.CATEGORICAL
    ]
    with tf.variable_scope(_WIDE_SCOPE, partitioner=input_layer_partitioner):
        wide = tf.feature_column.linear_model(features, categories)

    numeric = criteo_columns.numeric_columns()
    embeddings = embeddings or Embeddings(_PLAIN)
    with embeddings.scope():
        columns = [
            embeddings.column(name, size.hash_buckets, dimension=size.dimension(name)) for name in criteo.CATEGORICAL
        ]
    with tf.variable_scope(_DEEP_SCOPE):
        with tf.variable_scope("input", partitioner=input_layer_partitioner):
            outputs = embeddings.look_up(features, columns, numeric)
            net = tf.concat([outputs[column] for column in sorted(outputs, key=lambda column: column.name)], 1)
        with tf.variable_scope("dnn", partitioner=dense_layer_partitioner), model_flags.layers_in(layer_dtype):
            net = model_flags.mlp(net, size.hidden_units, "hidden")
            deep = tf.layers.dense(net, 1, name="logits")
    return tf.squeeze(wide + deep, axis=1, name="logits")


def train_op(
    loss: tf.Tensor, wide_optimizer: tf.train.Optimizer, deep_optimizer: tf.train.Optimizer, global_step: tf.Variable
) -> tf.Operation:
    """One step of both optimizers, each on its own part; raises global_step once, after both."""
    return minimize_parts(loss, {_WIDE_SCOPE: wide_optimizer, _DEEP_SCOPE: deep_optimizer}, global_step)
