"""Boosted trees trained on a dataset that is one batch."""

import tensorflow.compat.v1 as tf
from tensorflow.api_v1.restored import estimator_boosted_trees


def _repeat(train_input_fn):
    def input_fn():
        result = train_input_fn()
        return result.repeat() if isinstance(result, (tf.data.Dataset, tf.compat.v2.data.Dataset)) else result

    return input_fn


def boosted_trees_classifier_train_in_memory(
    train_input_fn,
    feature_columns,
    model_dir=None,
    n_classes=estimator_boosted_trees._DEFAULT,
    weight_column=None,
    label_vocabulary=None,
    n_trees=100,
    max_depth=6,
    learning_rate=0.1,
    l1_regularization=0.0,
    l2_regularization=0.0,
    tree_complexity=0.0,
    min_node_weight=0.0,
    config=None,
    train_hooks=None,
    center_bias=False,
    pruning_mode="none",
    quantile_sketch_epsilon=0.01,
):
    """Trains and returns a classifier.

    Args:
      train_input_fn: returns all features and labels as one batch, as tensors or a Dataset with one element.
      train_hooks: SessionRunHooks of the training.

    The others, and errors, are those of `tf.estimator.BoostedTreesClassifier`.
    """
    trained = estimator_boosted_trees.BoostedTreesClassifier(
        feature_columns,
        n_batches_per_layer=1,
        model_dir=model_dir,
        n_classes=n_classes,
        weight_column=weight_column,
        label_vocabulary=label_vocabulary,
        n_trees=n_trees,
        max_depth=max_depth,
        learning_rate=learning_rate,
        l1_regularization=l1_regularization,
        l2_regularization=l2_regularization,
        tree_complexity=tree_complexity,
        min_node_weight=min_node_weight,
        config=config,
        center_bias=center_bias,
        pruning_mode=pruning_mode,
        quantile_sketch_epsilon=quantile_sketch_epsilon,
        train_in_memory=True,
    )
    return trained.train(_repeat(train_input_fn), hooks=train_hooks)


def boosted_trees_regressor_train_in_memory(
    train_input_fn,
    feature_columns,
    model_dir=None,
    label_dimension=estimator_boosted_trees._DEFAULT,
    weight_column=None,
    n_trees=100,
    max_depth=6,
    learning_rate=0.1,
    l1_regularization=0.0,
    l2_regularization=0.0,
    tree_complexity=0.0,
    min_node_weight=0.0,
    config=None,
    train_hooks=None,
    center_bias=False,
    pruning_mode="none",
    quantile_sketch_epsilon=0.01,
):
    """Trains and returns a regressor.

    Args:
      train_input_fn: returns all features and labels as one batch, as tensors or a Dataset with one element.
      train_hooks: SessionRunHooks of the training.

    The others, and errors, are those of `tf.estimator.BoostedTreesRegressor`.
    """
    trained = estimator_boosted_trees.BoostedTreesRegressor(
        feature_columns,
        n_batches_per_layer=1,
        model_dir=model_dir,
        label_dimension=label_dimension,
        weight_column=weight_column,
        n_trees=n_trees,
        max_depth=max_depth,
        learning_rate=learning_rate,
        l1_regularization=l1_regularization,
        l2_regularization=l2_regularization,
        tree_complexity=tree_complexity,
        min_node_weight=min_node_weight,
        config=config,
        center_bias=center_bias,
        pruning_mode=pruning_mode,
        quantile_sketch_epsilon=quantile_sketch_epsilon,
        train_in_memory=True,
    )
    return trained.train(_repeat(train_input_fn), hooks=train_hooks)
