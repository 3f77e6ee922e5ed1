"""High-level API for learning: estimators, experiments, data sets, preprocessing.

What this package of 1.15 had beyond the names below is not there: `tf.estimator` is its successor.
"""

from tensorflow.contrib.learn import datasets, head, learn_runner, monitors, ops, preprocessing, utils
from tensorflow.contrib.learn import learn_io as io
from tensorflow.contrib.learn.constants import ProblemType
from tensorflow.contrib.learn.dnn import DNNClassifier, DNNEstimator, DNNRegressor
from tensorflow.contrib.learn.dnn_linear_combined import (
    DNNLinearCombinedClassifier,
    DNNLinearCombinedEstimator,
    DNNLinearCombinedRegressor,
)
from tensorflow.contrib.learn.estimator import (
    BaseEstimator,
    Estimator,
    SKCompat,
    infer_real_valued_columns_from_input,
    infer_real_valued_columns_from_input_fn,
)
from tensorflow.contrib.learn.evaluable import Evaluable
from tensorflow.contrib.learn.experiment import Experiment
from tensorflow.contrib.learn.export_strategy import ExportStrategy
from tensorflow.contrib.learn.head import (
    Head,
    binary_svm_head,
    multi_class_head,
    multi_head,
    multi_label_head,
    no_op_train_fn,
    poisson_regression_head,
    regression_head,
)
from tensorflow.contrib.learn.learn_io import (
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
    read_batch_features,
    read_batch_record_features,
)
from tensorflow.contrib.learn.linear import LinearClassifier, LinearEstimator, LinearRegressor
from tensorflow.contrib.learn.metric_spec import MetricSpec
from tensorflow.contrib.learn.model_fn import ModeKeys, ModelFnOps
from tensorflow.contrib.learn.monitors import NanLossDuringTrainingError
from tensorflow.contrib.learn.prediction_key import PredictionKey
from tensorflow.contrib.learn.run_config import RunConfig, TaskType
from tensorflow.contrib.learn.trainable import Trainable
from tensorflow.contrib.learn.utils import InputFnOps, build_parsing_serving_input_fn, make_export_strategy

__all__ = [
    "BaseEstimator",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "Estimator",
    "Evaluable",
    "Experiment",
    "ExportStrategy",
    "Head",
    "InputFnOps",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "MetricSpec",
    "ModeKeys",
    "ModelFnOps",
    "NanLossDuringTrainingError",
    "PredictionKey",
    "ProblemType",
    "RunConfig",
    "SKCompat",
    "TaskType",
    "Trainable",
    "binary_svm_head",
    "build_parsing_serving_input_fn",
    "datasets",
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "head",
    "infer_real_valued_columns_from_input",
    "infer_real_valued_columns_from_input_fn",
    "io",
    "learn_runner",
    "make_export_strategy",
    "monitors",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "no_op_train_fn",
    "ops",
    "poisson_regression_head",
    "preprocessing",
    "read_batch_features",
    "read_batch_record_features",
    "regression_head",
    "utils",
]
