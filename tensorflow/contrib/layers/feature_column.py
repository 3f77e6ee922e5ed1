"""Legacy feature columns: descriptions of features that layers, linear models and the old estimators turn into tensors.

A column is an immutable tuple of its settings, so columns with equal settings are one column. Its `key` is the text of these
settings; builders visit columns in the order of their keys, and so variable names and the order of inputs follow from it. For this reason
class names and the order of fields are those of TF 1.15.

How a column becomes a tensor:

    insert_transformed_feature   raw features -> the column's own representation (ids, buckets, crosses), once per dictionary
    _wide_embedding_lookup_arguments / _to_dense_tensor    that -> what a linear model needs
    _deep_embedding_lookup_arguments / _to_dnn_input_layer    that -> what a network's first layer needs
"""

import collections

from tensorflow.contrib.framework.experimental import experimental  # noqa: F401
from tensorflow.contrib.layers.crossed_columns import (  # noqa: F401
    _CrossedColumn,
    _CrossedColumnFields,
    crossed_column,
)
from tensorflow.contrib.layers.embedding_columns import (  # noqa: F401
    _check_initializer,
    _EmbeddedColumn,
    _EmbeddingColumn,
    _EmbeddingColumnFields,
    _OneHotColumn,
    _ScatteredEmbeddingColumn,
    _ScatteredEmbeddingColumnFields,
    _shared_name,
    embedding_column,
    one_hot_column,
    scattered_embedding_column,
    shared_embedding_columns,
)
from tensorflow.contrib.layers.embedding_tables import (  # noqa: F401
    _embeddings_from_arguments,
    _is_variable,
    _maybe_restore_from_checkpoint,
    _shared_table,
    table_source,
)
from tensorflow.contrib.layers.feature_column_base import (  # noqa: F401
    _check_checkpoint,
    _DeepEmbeddingLookupArguments,
    _FeatureColumn,
    _get_feature_config,
    _IdColumn,
    _LazyBuilderByColumnsToTensor,
    _LinearEmbeddingLookupArguments,
    _reshape_real_valued_tensor,
    _with_values,
)
from tensorflow.contrib.layers.real_valued_columns import (  # noqa: F401
    _BucketizedColumn,
    _BucketizedColumnFields,
    _default_values,
    _real_valued_var_len_column,
    _RealValuedColumn,
    _RealValuedColumnFields,
    _RealValuedVarLenColumn,
    _RealValuedVarLenColumnFields,
    bucketized_column,
    real_valued_column,
)
from tensorflow.contrib.layers.sparse_columns import (  # noqa: F401
    _SparseColumn,
    _SparseColumnFields,
    _SparseColumnHashed,
    _SparseColumnIntegerized,
    _SparseColumnKeys,
    _SparseColumnVocabulary,
    _SparseIdLookupConfig,
    _SparseIdLookupConfigFields,
    _WeightedSparseColumn,
    _WeightedSparseColumnFields,
    sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature,
    sparse_column_with_keys,
    sparse_column_with_vocabulary_file,
    weighted_sparse_column,
)
from tensorflow.python.feature_column import feature_column as fc_core
from tensorflow.python.framework import dtypes
from tensorflow.python.ops import (
    array_ops,
    math_ops,
    parsing_ops,
)
from tensorflow.python.platform import tf_logging as logging

InputLayer = fc_core.InputLayer


class DataFrameColumn(_FeatureColumn, collections.namedtuple("DataFrameColumn", ["column_name", "series"])):
    """A feature made from a series of a `tf.contrib.learn` DataFrame.

    Args:
      column_name: name of the column.
      series: the series; its base features are replaced by predefined ones already.
    """

    _READS_EXAMPLES = False

    @property
    def name(self):
        return self.column_name

    @property
    def config(self):
        return self.series.required_base_features()

    @property
    def key(self):
        """Text by which columns are sorted and told apart."""
        return self.name

    def insert_transformed_feature(self, columns_to_tensors):
        # Later builds from this dictionary reuse what the series makes now.
        columns_to_tensors[self] = self.series.build(columns_to_tensors)

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        return _reshape_real_valued_tensor(math_ops.cast(input_tensor, dtypes.float32), output_rank, self.name)

    def _to_dense_tensor(self, input_tensor):
        return self._to_dnn_input_layer(input_tensor)


def create_feature_spec_for_parsing(feature_columns):
    """How `tf.parse_example` shall read the features that columns need.

    Args:
      feature_columns: iterable of columns, or a dict with columns as values.

    Returns:
      dict: feature name -> `VarLenFeature`, `FixedLenFeature` or `FixedLenSequenceFeature`.
    """
    if isinstance(feature_columns, dict):
        feature_columns = feature_columns.values()
    features = {}
    for column in feature_columns:
        features.update(_get_feature_config(column))
    return features


def _create_sequence_feature_spec_for_parsing(sequence_feature_columns, allow_missing_by_default=False):
    """`create_feature_spec_for_parsing` for the sequences of a SequenceExample: fixed lengths become sequences.

    A sequence has no default value; a feature with one may be missing instead.

    Raises:
      TypeError: if a feature is of another kind than the columns of this module need.
    """
    spec = {}
    for key, feature in create_feature_spec_for_parsing(sequence_feature_columns).items():
        if isinstance(feature, parsing_ops.VarLenFeature):
            spec[key] = feature
        elif isinstance(feature, (parsing_ops.FixedLenFeature, parsing_ops.FixedLenSequenceFeature)):
            has_default = feature.default_value is not None
            if has_default:
                logging.warning("Default value %s of feature %s is not used.", feature.default_value, key)
            spec[key] = parsing_ops.FixedLenSequenceFeature(
                shape=feature.shape, dtype=feature.dtype, allow_missing=has_default or allow_missing_by_default
            )
        else:
            raise TypeError(f"Feature {key} is of a type that sequences do not support: {type(feature).__name__}")
    return spec


def make_place_holder_tensors_for_base_features(feature_columns):
    """Placeholders for the features that columns need.

    Args:
      feature_columns: iterable of columns.

    Returns:
      dict: feature name -> placeholder, sparse for `VarLenFeature`, else `[batch, dimension]`.
    """
    placeholders = {}
    for name, feature in create_feature_spec_for_parsing(feature_columns).items():
        if isinstance(feature, parsing_ops.VarLenFeature):
            placeholders[name] = array_ops.sparse_placeholder(feature.dtype, name=f"Placeholder_{name}")
        else:
            placeholders[name] = array_ops.placeholder(
                feature.dtype, shape=(None, feature.shape[0]), name=f"Placeholder_{name}"
            )
    return placeholders
