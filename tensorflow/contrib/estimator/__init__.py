"""`tf.contrib.estimator`: heads, RNN estimators, boosted trees in memory, and ways to extend an estimator."""

from tensorflow.contrib.estimator.boosted_trees import (
    boosted_trees_classifier_train_in_memory,
    boosted_trees_regressor_train_in_memory,
)
from tensorflow.contrib.estimator.dnn_with_layer_annotations import (
    DNNClassifierWithLayerAnnotations,
    DNNRegressorWithLayerAnnotations,
)
from tensorflow.contrib.estimator.export import export_all_saved_models, export_saved_model_for_mode
from tensorflow.contrib.estimator.extenders import add_metrics, clip_gradients_by_norm, forward_features
from tensorflow.contrib.estimator.head import (
    binary_classification_head,
    logistic_regression_head,
    multi_class_head,
    multi_label_head,
    poisson_regression_head,
    regression_head,
)
from tensorflow.contrib.estimator.logit_fns import call_logit_fn, dnn_logit_fn_builder, linear_logit_fn_builder
from tensorflow.contrib.estimator.multi_head import multi_head
from tensorflow.contrib.estimator.replicate_model_fn import TowerOptimizer, replicate_model_fn
from tensorflow.contrib.estimator.rnn import RNNClassifier, RNNEstimator
from tensorflow_estimator.python.estimator.canned.saved_model_estimator import SavedModelEstimator
from tensorflow_estimator.python.estimator.export.export import (
    build_raw_supervised_input_receiver_fn,
    build_supervised_input_receiver_fn_from_input_fn,
)

__all__ = [
    "DNNClassifierWithLayerAnnotations",
    "DNNRegressorWithLayerAnnotations",
    "RNNClassifier",
    "RNNEstimator",
    "SavedModelEstimator",
    "TowerOptimizer",
    "add_metrics",
    "binary_classification_head",
    "boosted_trees_classifier_train_in_memory",
    "boosted_trees_regressor_train_in_memory",
    "build_raw_supervised_input_receiver_fn",
    "build_supervised_input_receiver_fn_from_input_fn",
    "call_logit_fn",
    "clip_gradients_by_norm",
    "dnn_logit_fn_builder",
    "export_all_saved_models",
    "export_saved_model_for_mode",
    "forward_features",
    "linear_logit_fn_builder",
    "logistic_regression_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
    "replicate_model_fn",
]
