"""High-level API for learning: estimators, experiments, data sets, preprocessing.

`tf.estimator` is its successor.
"""

from tensorflow.contrib.learn import (
    datasets,
    graph_actions,
    head,
    learn_runner,
    models,
    monitors,
    ops,
    preprocessing,
    utils,
)
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
    extract_dask_data,
    extract_dask_labels,
    read_batch_examples,
    read_batch_features,
    read_batch_record_features,
    read_keyed_batch_examples,
    read_keyed_batch_examples_shared_queue,
    read_keyed_batch_features,
    read_keyed_batch_features_shared_queue,
)
from tensorflow.contrib.learn.linear import LinearClassifier, LinearEstimator, LinearRegressor
from tensorflow.contrib.learn.metric_spec import MetricSpec
from tensorflow.contrib.learn.model_fn import ModeKeys, ModelFnOps
from tensorflow.contrib.learn.monitors import NanLossDuringTrainingError
from tensorflow.contrib.learn.prediction_key import PredictionKey
from tensorflow.contrib.learn.run_config import RunConfig, TaskType
from tensorflow.contrib.learn.trainable import Trainable
from tensorflow.contrib.learn.utils import InputFnOps, build_parsing_serving_input_fn, make_export_strategy
from tensorflow.contrib.learn.graph_actions import evaluate, infer, run_feeds, run_n, train
from tensorflow.contrib.learn.dynamic_rnn_estimator import DynamicRnnEstimator
from tensorflow.contrib.learn.kmeans import KMeansClustering
from tensorflow.contrib.learn.logistic_regressor import LogisticRegressor
from tensorflow.contrib.learn.svm import SVM


__all__ = [
    "BaseEstimator",
    "DNNClassifier",
    "DNNEstimator",
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
    "DNNRegressor",
    "DynamicRnnEstimator",
    "Estimator",
    "Evaluable",
    "Experiment",
    "ExportStrategy",
    "Head",
    "InputFnOps",
    "KMeansClustering",
    "LinearClassifier",
    "LinearEstimator",
    "LinearRegressor",
    "LogisticRegressor",
    "MetricSpec",
    "ModeKeys",
    "ModelFnOps",
    "NanLossDuringTrainingError",
    "PredictionKey",
    "ProblemType",
    "RunConfig",
    "SKCompat",
    "SVM",
    "TaskType",
    "Trainable",
    "binary_svm_head",
    "build_parsing_serving_input_fn",
    "datasets",
    "evaluate",
    "extract_dask_data",
    "extract_dask_labels",
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "graph_actions",
    "head",
    "infer",
    "infer_real_valued_columns_from_input",
    "infer_real_valued_columns_from_input_fn",
    "io",
    "learn_runner",
    "make_export_strategy",
    "models",
    "monitors",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "no_op_train_fn",
    "ops",
    "poisson_regression_head",
    "preprocessing",
    "read_batch_examples",
    "read_batch_features",
    "read_batch_record_features",
    "read_keyed_batch_examples",
    "read_keyed_batch_examples_shared_queue",
    "read_keyed_batch_features",
    "read_keyed_batch_features_shared_queue",
    "regression_head",
    "run_feeds",
    "run_n",
    "train",
    "utils",
]
