"""Wide & Deep (Cheng et al., 2016, arXiv:1606.07792) on Criteo columns, in tf.feature_column and tf.layers.

wide:  sum over C1..C26 of one weight per hash bucket
deep:  [13 scaled numbers, 26 embeddings] -> relu layers -> 1
logit = wide + deep
"""

from typing import Dict, NamedTuple, Optional, Tuple

import tensorflow as tf

from common import criteo, criteo_columns

# The columns the full-size model gives twice the dimension.
_LARGE = frozenset(("C3", "C4", "C10", "C12", "C16", "C21", "C24", "C26"))
_WIDE_SCOPE, _DEEP_SCOPE = "linear", "deep"


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
    ev_option: Optional["tf.EmbeddingVariableOption"] = None,
) -> tf.Tensor:
    """float32 [B] logits of a batch of Criteo features (see criteo_reader.Batch).

    With ev_option the embeddings of the deep part are EmbeddingVariables: a row for each value that occurs.
    """
    categories = [
        tf.feature_column.categorical_column_with_hash_bucket(name, size.hash_buckets) for name in criteo.CATEGORICAL
    ]
    with tf.variable_scope(_WIDE_SCOPE, partitioner=input_layer_partitioner):
        wide = tf.feature_column.linear_model(features, categories)

    deep_columns = criteo_columns.numeric_columns()
    embedded = categories
    if ev_option is not None:
        embedded = [
            tf.feature_column.categorical_column_with_embedding(name, ev_option=ev_option)
            for name in criteo.CATEGORICAL
        ]
    deep_columns += [
        tf.feature_column.embedding_column(category, size.dimension(category.name)) for category in embedded
    ]
    with tf.variable_scope(_DEEP_SCOPE):
        with tf.variable_scope("input", partitioner=input_layer_partitioner):
            net = tf.feature_column.input_layer(features, deep_columns)
        with tf.variable_scope("dnn", partitioner=dense_layer_partitioner):
            for layer, units in enumerate(size.hidden_units):
                net = tf.layers.dense(net, units, activation=tf.nn.relu, name=f"hidden_{layer}")
            deep = tf.layers.dense(net, 1, name="logits")
    return tf.squeeze(wide + deep, axis=1, name="logits")


def train_op(
    loss: tf.Tensor, wide_optimizer: tf.train.Optimizer, deep_optimizer: tf.train.Optimizer, global_step: tf.Variable
) -> tf.Operation:
    """One step of both optimizers, each on its own part; raises global_step once, after both."""
    parts = [
        optimizer.minimize(loss, var_list=tf.trainable_variables(scope + "/"))
        for scope, optimizer in ((_WIDE_SCOPE, wide_optimizer), (_DEEP_SCOPE, deep_optimizer))
    ]
    with tf.control_dependencies(parts):
        return tf.assign_add(global_step, 1).op
