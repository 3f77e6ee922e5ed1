"""BoostedTreesClassifier, BoostedTreesRegressor and BoostedTreesEstimator of 1.15, on the kernels of `core/boosted_trees`.

Gradient boosting of decision trees, layer by layer: each layer of a tree is found from gradients that the layers before it have
changed already. Splits and leaf weights are those of Chen and Guestrin 2016 (XGBoost), section 2.2. Float columns are cut into
buckets by weighted quantiles.
"""

import collections

import numpy as np

from tensorflow.api_v1.restored import boosted_trees_columns as columns_lib
from tensorflow.api_v1.restored import boosted_trees_model, boosted_trees_proto
from tensorflow.api_v1.restored.boosted_trees_growers import TreeParameters
from tensorflow.python.framework import dtypes
from tensorflow.python.ops import array_ops, math_ops
from tensorflow.python.ops.losses import losses
from tensorflow.python.training import checkpoint_utils
from tensorflow_estimator.python.estimator import estimator
from tensorflow_estimator.python.estimator.canned import head as head_lib
from tensorflow_estimator.python.estimator.estimator_export import estimator_export

# A default that is told apart from a given number.
_DEFAULT = object()
_COMMON_ARGUMENTS = """
    Args:
      feature_columns: iterable of dense feature columns: bucketized, indicator, or of floats with rank 1.
      n_batches_per_layer: how many batches are gathered for each layer; the dataset's size over the batch size uses all rows.
      model_dir: folder of checkpoints and summaries.
      weight_column: name of a feature, or numeric column, that holds a weight for each row.
      n_trees: how many trees to grow; training ends then.
      max_depth: layers of a tree.
      learning_rate: factor of the leaf weights.
      l1_regularization: multiplier of the leaf weights' absolute values.
      l2_regularization: multiplier of their squares.
      tree_complexity: what a split must gain to be worth it, with pruning.
      min_node_weight: least hessian, a mean over the batches, of a node that is split.
      config: RunConfig.
      center_bias: whether the first tree starts from the mean of the labels.
      pruning_mode: 'none'; 'pre' does not make splits that gain too little; 'post' removes them from the finished tree.
      quantile_sketch_epsilon: rank error of the buckets of float columns, between 0 and 1; there are 1 / epsilon of them.
"""


def sum_by_name(names, values) -> collections.OrderedDict:
    """Sums values with one name; the largest absolute value comes first."""
    sums: dict[str, float] = {}
    for name, value in zip(names, values, strict=True):
        sums[name] = sums.get(name, 0) + value
    return collections.OrderedDict(sorted(sums.items(), key=lambda item: abs(item[1]), reverse=True))


def feature_importances(ensemble, num_features: int) -> np.ndarray:
    """The gains of each feature's splits, weighted by tree."""
    result = np.zeros(num_features)
    for tree, weight in zip(ensemble.trees, ensemble.tree_weights, strict=True):
        for node in tree.nodes:
            if node.WhichOneof("node") == "bucketized_split":
                result[node.bucketized_split.feature_id] += weight * node.metadata.gain
    return result


def explain(serialized: bytes, names, classification: bool) -> tuple[float, collections.OrderedDict]:
    """Bias and directional feature contributions of a row (Saabas 2014; Palczewska et al. 2013, arXiv 1312.1121).

    Each split on the row's way moves the prediction; the move is put down to the split's feature.
    """
    path = boosted_trees_proto.DebugOutput.FromString(serialized)
    predictions = np.array(path.logits_path)
    if not len(predictions):
        return 0.0, sum_by_name(names, np.zeros(len(names)))
    if classification:
        predictions = 1 / (1 + np.exp(-predictions))
    moves = np.bincount(np.array(path.feature_ids, np.int64), weights=np.diff(predictions), minlength=len(names))
    return predictions[0], sum_by_name(names, moves)


class _BoostedTreesBase(estimator.Estimator):
    """What the three have in common.

    Args:
      model_options: further arguments of `boosted_trees_model.model_fn`.
    """

    def __init__(
        self,
        head,
        feature_columns,
        n_batches_per_layer,
        model_dir,
        config,
        parameters,
        is_classification,
        **model_options,
    ):
        feature_columns = list(feature_columns)

        def model_fn(features, labels, mode, config):
            return boosted_trees_model.model_fn(
                features, labels, mode, head, feature_columns, parameters, n_batches_per_layer, config, **model_options
            )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)
        self._head = head
        self._sorted_feature_columns = columns_lib.sort(feature_columns)
        self._feature_col_names = columns_lib.names(self._sorted_feature_columns)
        self._parameters = parameters
        self._is_classification = is_classification

    def experimental_feature_importances(self, normalize=False):
        """How much the splits of each column gained in the last checkpoint.

        Args:
          normalize: whether the sum is 1.

        Returns:
          OrderedDict column name -> importance, the largest first.

        Raises:
          ValueError: there is no trained ensemble, or nothing to normalize by.
        """
        serialized = checkpoint_utils.load_variable(self._model_dir, "boosted_trees:0_serialized")
        if not serialized:
            raise ValueError(f"The checkpoint in {self._model_dir} holds an empty ensemble: train first.")
        ensemble = boosted_trees_proto.TreeEnsemble.FromString(serialized)
        importances = feature_importances(ensemble, len(self._feature_col_names))
        if normalize:
            if np.any(importances < 0):
                raise ValueError(f"Importances can be normalized if none is negative, got {importances.tolist()}.")
            if importances.sum() <= 0:
                raise ValueError("Importances cannot be normalized: no tree has a split that gained something.")
            importances /= importances.sum()
        return sum_by_name(self._feature_col_names, importances)

    def experimental_predict_with_explanations(self, input_fn, predict_keys=None, hooks=None, checkpoint_path=None):
        """Like `predict`, with "bias" and "dfc" in each prediction.

        "bias" is the prediction before any split, and "dfc" an OrderedDict column name -> contribution, the largest absolute value
        first. Together they sum to the prediction (the probability of class 1 for a classifier).

        Raises:
          ValueError: the estimator was made without center_bias, or its regression head has an inverse link function.
        """
        if not self._parameters.center_bias:
            raise ValueError("experimental_predict_with_explanations needs an estimator made with center_bias=True.")
        if not self._is_classification and getattr(self._head, "_inverse_link_fn", None) not in (
            None,
            array_ops.identity,
        ):
            raise ValueError("experimental_predict_with_explanations knows no inverse_link_fn but the identity.")

        def model_fn(features, labels, mode):
            del labels, mode
            return boosted_trees_model.explanations_fn(
                features, self._head, self._sorted_feature_columns, self._parameters.quantile_sketch_epsilon
            )

        explained = estimator.Estimator(
            model_fn=model_fn, model_dir=self.model_dir, config=self.config, warm_start_from=self._warm_start_settings
        )
        key = boosted_trees_model.EXPLANATION_KEY
        keys = {*predict_keys, key} if predict_keys is not None else None
        for prediction in explained.predict(
            input_fn, predict_keys=keys, hooks=hooks, checkpoint_path=checkpoint_path, yield_single_examples=True
        ):
            prediction["bias"], prediction["dfc"] = explain(
                prediction.pop(key), self._feature_col_names, self._is_classification
            )
            yield prediction


def _logistic_gradients(head):
    """Gradients and hessians of the mean logistic loss, in closed form."""

    def gradients(logits, labels):
        labels = head_lib._check_dense_labels_match_logits_and_reshape(
            math_ops.cast(labels, dtypes.float32), logits, head.logits_dimension
        )
        p = math_ops.reciprocal(math_ops.exp(-logits) + 1.0)
        share = math_ops.reciprocal(math_ops.cast(array_ops.size(p), dtypes.float32))
        return (p - labels) * share, p * (1.0 - p) * share

    return gradients


@estimator_export("estimator.BoostedTreesClassifier")
class BoostedTreesClassifier(_BoostedTreesBase):
    """Classifies into two classes with gradient boosted trees."""

    def __init__(
        self,
        feature_columns,
        n_batches_per_layer,
        model_dir=None,
        n_classes=_DEFAULT,
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
        center_bias=False,
        pruning_mode="none",
        quantile_sketch_epsilon=0.01,
        train_in_memory=False,
    ):
        n_classes = 2 if n_classes is _DEFAULT else n_classes
        if n_classes != 2:
            raise ValueError(f"BoostedTreesClassifier is for two classes, got n_classes={n_classes}.")
        head = head_lib._binary_logistic_head_with_sigmoid_cross_entropy_loss(
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=losses.Reduction.SUM_OVER_BATCH_SIZE,
        )
        super().__init__(
            head,
            feature_columns,
            n_batches_per_layer,
            model_dir,
            config,
            TreeParameters(
                n_trees,
                max_depth,
                learning_rate,
                l1_regularization,
                l2_regularization,
                tree_complexity,
                min_node_weight,
                center_bias,
                pruning_mode,
                quantile_sketch_epsilon,
            ),
            is_classification=True,
            # With weights or a vocabulary only the head knows the labels.
            gradients_fn=_logistic_gradients(head) if weight_column is None and label_vocabulary is None else None,
            weight_column=weight_column,
            train_in_memory=train_in_memory,
        )


@estimator_export("estimator.BoostedTreesRegressor")
class BoostedTreesRegressor(_BoostedTreesBase):
    """Predicts a number with gradient boosted trees and the squared error."""

    def __init__(
        self,
        feature_columns,
        n_batches_per_layer,
        model_dir=None,
        label_dimension=_DEFAULT,
        weight_column=None,
        n_trees=100,
        max_depth=6,
        learning_rate=0.1,
        l1_regularization=0.0,
        l2_regularization=0.0,
        tree_complexity=0.0,
        min_node_weight=0.0,
        config=None,
        center_bias=False,
        pruning_mode="none",
        quantile_sketch_epsilon=0.01,
        train_in_memory=False,
    ):
        label_dimension = 1 if label_dimension is _DEFAULT else label_dimension
        if label_dimension != 1:
            raise ValueError(f"BoostedTreesRegressor predicts one number, got label_dimension={label_dimension}.")
        head = head_lib._regression_head(
            label_dimension=1, weight_column=weight_column, loss_reduction=losses.Reduction.SUM_OVER_BATCH_SIZE
        )
        super().__init__(
            head,
            feature_columns,
            n_batches_per_layer,
            model_dir,
            config,
            TreeParameters(
                n_trees,
                max_depth,
                learning_rate,
                l1_regularization,
                l2_regularization,
                tree_complexity,
                min_node_weight,
                center_bias,
                pruning_mode,
                quantile_sketch_epsilon,
            ),
            is_classification=False,
            weight_column=weight_column,
            train_in_memory=train_in_memory,
        )


@estimator_export("estimator.BoostedTreesEstimator")
class BoostedTreesEstimator(_BoostedTreesBase):
    """Gradient boosted trees with any head of one logit. Weights of rows are the head's, as in 1.15; here they weigh the quantiles."""

    def __init__(
        self,
        feature_columns,
        n_batches_per_layer,
        head,
        model_dir=None,
        weight_column=None,
        n_trees=100,
        max_depth=6,
        learning_rate=0.1,
        l1_regularization=0.0,
        l2_regularization=0.0,
        tree_complexity=0.0,
        min_node_weight=0.0,
        config=None,
        center_bias=False,
        pruning_mode="none",
        quantile_sketch_epsilon=0.01,
    ):
        if head.logits_dimension != 1:
            raise ValueError(
                f"BoostedTreesEstimator needs a head with one logit, got {head.name} with {head.logits_dimension}."
            )
        classification = isinstance(
            head,
            (
                head_lib._BinaryLogisticHeadWithSigmoidCrossEntropyLoss,
                head_lib._MultiClassHeadWithSoftmaxCrossEntropyLoss,
            ),
        )
        super().__init__(
            head,
            feature_columns,
            n_batches_per_layer,
            model_dir,
            config,
            TreeParameters(
                n_trees,
                max_depth,
                learning_rate,
                l1_regularization,
                l2_regularization,
                tree_complexity,
                min_node_weight,
                center_bias,
                pruning_mode,
                quantile_sketch_epsilon,
            ),
            is_classification=classification,
            weight_column=weight_column,
        )


for _class in (BoostedTreesClassifier, BoostedTreesRegressor, BoostedTreesEstimator):
    _class.__doc__ += "\n" + _COMMON_ARGUMENTS
BoostedTreesClassifier.__doc__ += """      n_classes: 2.
      label_vocabulary: the two labels, if these are strings.
      train_in_memory: the input_fn returns the whole dataset as one batch, which is kept bucketized; for training in one process.
"""
BoostedTreesRegressor.__doc__ += """      label_dimension: 1.
      train_in_memory: the input_fn returns the whole dataset as one batch, which is kept bucketized; for training in one process.
"""
BoostedTreesEstimator.__doc__ += "      head: a head with one logit.\n"
