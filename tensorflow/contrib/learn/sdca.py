"""Stochastic dual coordinate ascent (Shalev-Shwartz and Zhang 2013, arXiv:1209.1873) for linear models over legacy columns."""

import collections

import tensorflow as tf
from tensorflow.contrib.layers import feature_column, feature_column_ops
from tensorflow.python.ops import variables as variables_lib
from tensorflow_estimator.python.estimator.canned.linear_optimizer.python.utils import sdca_ops

_BIAS_COLUMN = "tf_virtual_bias_column"


def linear_logits(features, columns):
    """Logits `[batch, 1]` of a linear model in the scope "linear", and what `train_step` needs of it.

    Args:
      features: dict of features.
      columns: columns of `tf.contrib.layers`.

    Returns:
      (logits, dict with transformed features, dict: column -> list of its variables). The bias is a column of ones.

    Raises:
      ValueError: a column has the name of the bias's.
    """
    if any(column.name == _BIAS_COLUMN for column in columns):
        raise ValueError(f"{_BIAS_COLUMN} is a reserved column name.")
    with tf.variable_scope("linear", values=list(features.values())) as scope:
        transformed = dict(features)
        transformed.update(feature_column_ops.transform_features(features, columns))
        logits, column_variables, bias = feature_column_ops.weighted_sum_from_feature_columns(
            columns_to_tensors=transformed, feature_columns=columns, num_outputs=1, scope=scope
        )
        column = feature_column.real_valued_column(_BIAS_COLUMN)
        transformed[column] = tf.ones([tf.shape(logits)[0], 1])
        return logits, transformed, {**column_variables, column: [bias]}


class _Model(sdca_ops._SDCAModel):
    """The model, with its slots under the keys of 1.15's checkpoints."""

    def _create_slots(self):
        self._slots = collections.defaultdict(list)
        for kind in ("sparse_features_weights", "dense_features_weights"):
            for variables in self._variables[kind]:
                several = isinstance(variables, (list, variables_lib.PartitionedVariable))
                slots = [self._slot(variable) for variable in (variables if several else [variables])]
                self._slots["unshrunk_" + kind].append(slots if several else slots[0])

    @staticmethod
    def _slot(variable):
        with tf.colocate_with(variable):
            zeros = tf.zeros_like(variable.initialized_value(), tf.float32)
            return tf.Variable(zeros, name=f"{variable.op.name}_unshrinked/SDCAOptimizer")


def train_step(
    column_variables,
    features,
    labels,
    loss_type,
    example_id_column,
    weight_column_name=None,
    l1_regularization=0.0,
    l2_regularization=1.0,
    num_loss_partitions=1,
):
    """The op of one step over a batch, which increments the global step, and the model that can `update_weights` after it.

    Args:
      column_variables: dict: column -> list of its variables.
      features: dict with transformed features by column, and ids and weights of the examples by name.
      labels: `[batch]` or `[batch, 1]`; 0 or 1 for a classification.
      loss_type: "hinge_loss", "logistic_loss", "squared_loss", "smooth_hinge_loss" or "poisson_loss".
      example_id_column: name of a feature, `[batch]` strings that tell the examples apart.
      weight_column_name: name of the feature by which losses are multiplied.
      l1_regularization: weight of the L1 norm of the model.
      l2_regularization: weight of half the squared L2 norm; must be positive.
      num_loss_partitions: number of train steps that run at the same time.

    Returns:
      (model, train op).

    Raises:
      ValueError: a feature is missing, a column is of no supported kind, or a regularization is out of range.
    """
    if example_id_column not in features:
        raise ValueError(f"example_id_column {example_id_column!r} is not in the features")
    if weight_column_name and weight_column_name not in features:
        raise ValueError(f"weight_column_name {weight_column_name!r} is not in the features")
    labels = tf.cast(tf.reshape(labels, [-1]), tf.float32)
    weights = features[weight_column_name] if weight_column_name else tf.ones_like(labels)
    dense, dense_weights, sparse, sparse_weights = [], [], [], []
    for column in sorted(column_variables, key=lambda column: column.key):
        variables = column_variables[column]
        if isinstance(column, feature_column._RealValuedColumn):
            values = features[column]
            dense.append(tf.reshape(tf.cast(values, tf.float32), [tf.shape(values)[0], -1]))
            dense_weights.append(variables[0])
        else:
            sparse.append(_sparse_features(column, features[column]))
            sparse_weights.append(variables if len(variables) > 1 else variables[0])
    model = _Model(
        examples={
            "sparse_features": sparse,
            "dense_features": dense,
            "example_labels": labels,
            "example_weights": tf.cast(tf.reshape(weights, [-1]), tf.float32),
            "example_ids": tf.reshape(features[example_id_column], [-1]),
        },
        variables={"sparse_features_weights": sparse_weights, "dense_features_weights": dense_weights},
        options={
            "loss_type": loss_type,
            "symmetric_l1_regularization": l1_regularization,
            "symmetric_l2_regularization": l2_regularization,
            "num_loss_partitions": num_loss_partitions,
            "adaptive": True,
        },
    )
    return model, model.minimize(global_step=tf.train.get_global_step())


def _sparse_features(column, transformed):
    """(example, id, value) triples of a column; the values of an id that an example has more than once are added up."""
    if isinstance(column, feature_column._BucketizedColumn):
        one_hot = column._to_dnn_input_layer(transformed)
        places = tf.where(tf.not_equal(one_hot, 0))
        return sdca_ops._SparseFeatureColumn(places[:, 0], places[:, 1], tf.gather_nd(one_hot, places))
    if not isinstance(
        column,
        (feature_column._WeightedSparseColumn, feature_column._CrossedColumn, feature_column._SparseColumn),
    ):
        raise ValueError(f"SDCA does not support columns of type {type(column).__name__}")
    if isinstance(column, feature_column._WeightedSparseColumn):
        ids = column.id_tensor(transformed)
        values = tf.cast(column.weight_tensor(transformed).values, tf.float32)
    else:
        ids = transformed
        values = tf.ones([tf.size(ids.values)])
    known = ids.values >= 0
    examples, ids, values = (tf.boolean_mask(t, known) for t in (ids.indices[:, 0], ids.values, values))
    width = tf.reduce_max(ids) + 1
    pairs, place = tf.unique(examples * width + ids)
    return sdca_ops._SparseFeatureColumn(
        pairs // width, pairs % width, tf.unsorted_segment_sum(values, place, tf.size(pairs))
    )


class UpdateWeightsHook(tf.train.SessionRunHook):
    """Copies the trained weights, shrunk by the L1 norm, into the model's variables after each step.

    Args:
      model: from `train_step`.
      train_op: of the same.
    """

    def __init__(self, model, train_op):
        self._model = model
        self._train_op = train_op

    def begin(self):
        self._update_op = self._model.update_weights(self._train_op)

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._update_op)
