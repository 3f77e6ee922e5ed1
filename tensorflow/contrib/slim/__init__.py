"""TF-Slim: layers, argument scopes, data providers, training and evaluation loops, networks."""

from tensorflow.contrib import layers as _layers
from tensorflow.contrib import losses, lookup, metrics
from tensorflow.contrib.layers import *  # noqa: F403 (slim has all public layers)
from tensorflow.contrib.layers import gen_sparse_feature_cross_op
from tensorflow.contrib.util import loader
from tensorflow.contrib.slim.data import (
    data_decoder,
    data_provider,
    dataset,
    dataset_data_provider,
    parallel_reader,
    prefetch_queue,
    tfexample_decoder,
)
from tensorflow.contrib.slim import evaluation, learning, model_analyzer, queues
from tensorflow.contrib.framework.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scope_func_key,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from tensorflow.contrib.framework.experimental import experimental
from tensorflow.contrib.framework.variables import (
    VariableDeviceChooser,
    add_model_variable,
    assert_global_step,
    assert_or_get_global_step,
    assign_from_checkpoint,
    assign_from_checkpoint_fn,
    assign_from_values,
    assign_from_values_fn,
    create_global_step,
    filter_variables,
    get_global_step,
    get_local_variables,
    get_model_variables,
    get_or_create_global_step,
    get_trainable_variables,
    get_unique_variable,
    get_variable_full_name,
    get_variables,
    get_variables_by_name,
    get_variables_by_suffix,
    get_variables_to_restore,
    global_variable,
    local_variable,
    model_variable,
    variable,
    zero_initializer,
)
from tensorflow.contrib.layers.bucketization_op import bucketize
from tensorflow.contrib.layers.embedding_ops import (
    embedding_lookup_sparse_with_distributed_aggregation,
    scattered_embedding_lookup,
    scattered_embedding_lookup_sparse,
)
from tensorflow.contrib.layers.feature_column import DataFrameColumn
from tensorflow.contrib.layers.layers import pool
from tensorflow.contrib.layers.optimizers import adaptive_clipping_fn
from tensorflow.contrib.layers.sparse_feature_cross_op import sparse_feature_cross
from tensorflow.contrib.layers.summaries import summarize_biases, summarize_variables, summarize_weights
from tensorflow.contrib.layers.target_column import ProblemType, binary_svm_target, get_default_binary_metrics_for_eval
from tensorflow.python.feature_column.feature_column import InputLayer
from tensorflow.python.util.deprecation import deprecated, deprecated_arg_values

__all__ = [
    "DataFrameColumn",
    "InputLayer",
    "ProblemType",
    "VariableDeviceChooser",
    "adaptive_clipping_fn",
    "add_arg_scope",
    "add_model_variable",
    "arg_scope",
    "arg_scope_func_key",
    "arg_scoped_arguments",
    "assert_global_step",
    "assert_or_get_global_step",
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "binary_svm_target",
    "bucketize",
    "create_global_step",
    "current_arg_scope",
    "data_decoder",
    "data_provider",
    "dataset",
    "dataset_data_provider",
    "deprecated",
    "deprecated_arg_values",
    "embedding_lookup_sparse_with_distributed_aggregation",
    "evaluation",
    "experimental",
    "filter_variables",
    "gen_sparse_feature_cross_op",
    "get_default_binary_metrics_for_eval",
    "get_global_step",
    "get_local_variables",
    "get_model_variables",
    "get_or_create_global_step",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
    "global_variable",
    "has_arg_scope",
    "learning",
    "loader",
    "local_variable",
    "lookup",
    "losses",
    "metrics",
    "model_analyzer",
    "model_variable",
    "parallel_reader",
    "pool",
    "prefetch_queue",
    "queues",
    "scattered_embedding_lookup",
    "scattered_embedding_lookup_sparse",
    "sparse_feature_cross",
    "summarize_biases",
    "summarize_variables",
    "summarize_weights",
    "tfexample_decoder",
    "variable",
    "zero_initializer",
]
# All of layers but its modules.
__all__ += [name for name in _layers.__all__ if name not in ("feature_column", "summaries")]
