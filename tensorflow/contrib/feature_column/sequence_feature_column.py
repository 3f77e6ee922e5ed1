"""Feature columns of sequences are core's; the layer that builds recurrent networks' input is 1.15's."""

from tensorflow.python.feature_column import feature_column as fc
from tensorflow.python.feature_column import feature_column_v2 as fc_v2
from tensorflow.python.feature_column import feature_column_v2_types as fc_types
from tensorflow.python.feature_column.sequence_feature_column import (
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    sequence_numeric_column,
)
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, check_ops, variable_scope

__all__ = [
    "concatenate_context_input",
    "sequence_categorical_column_with_hash_bucket",
    "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file",
    "sequence_categorical_column_with_vocabulary_list",
    "sequence_input_layer",
    "sequence_numeric_column",
]


def sequence_input_layer(features, feature_columns, weight_collections=None, trainable=True):
    """The input of a recurrent network: columns' sequences side by side, in the order of the columns' names.

    Args:
      features: dict of (sparse) features by name.
      feature_columns: iterable of `sequence_numeric_column`s, and of embedding or indicator columns over
        `sequence_categorical_column_with_*`.
      weight_collections: collections to which the variables are added.
      trainable: whether the variables are trained.

    Returns:
      `(input_layer, sequence_length)`: float tensor `[batch, time, n]` and int tensor `[batch]`.

    Raises:
      ValueError: if a column is not for sequences.
    """
    feature_columns = _normalized(feature_columns)
    for column in feature_columns:
        if not isinstance(column, (fc._SequenceDenseColumn, fc_v2.SequenceDenseColumn)):
            raise ValueError(
                "All feature_columns must be for sequences: wrap a sequence_categorical_column in an embedding_column or "
                f"indicator_column. Got {type(column).__name__}: {column}"
            )
    ordered = sorted(feature_columns, key=lambda column: column.name)
    with variable_scope.variable_scope(None, default_name="sequence_input_layer", values=features.values()):
        cache, old_cache = fc_v2.FeatureTransformationCache(features), fc._LazyBuilder(features)
        outputs, lengths = [], []
        for column in ordered:
            scope = getattr(column, "_var_scope_name", column.name)
            with variable_scope.variable_scope(None, default_name=scope):
                if isinstance(column, fc._SequenceDenseColumn):
                    dense, length = column._get_sequence_dense_tensor(
                        old_cache, weight_collections=weight_collections, trainable=trainable
                    )
                    size = column._variable_shape.num_elements()
                else:
                    dense, length = column.get_sequence_dense_tensor(cache, None)
                    size = column.variable_shape.num_elements()
                shape = array_ops.shape(dense)
                outputs.append(array_ops.reshape(dense, shape=[shape[0], shape[1], size]))
                lengths.append(length)
        fc._verify_static_batch_size_equality(outputs, ordered)
        fc._verify_static_batch_size_equality(lengths, ordered)
        return array_ops.concat(outputs, -1), _assert_all_equal_and_return(lengths)


def _normalized(feature_columns) -> list:
    """The columns as a list, each of the newer interface or, as shared ones are, of the older alone."""
    if isinstance(feature_columns, (dict, fc._FeatureColumn, fc_types.FeatureColumn)):
        return fc_v2._normalize_feature_columns(feature_columns)
    columns = list(feature_columns)
    old = [c for c in columns if isinstance(c, fc._FeatureColumn) and not isinstance(c, fc_types.FeatureColumn)]
    new = [c for c in columns if c not in old]
    return (fc_v2._normalize_feature_columns(new) if new or not old else []) + (
        fc._normalize_feature_columns(old) if old else []
    )


def concatenate_context_input(context_input, sequence_input):
    """Adds the features of an example to each of its steps.

    Args:
      context_input: float32 tensor `[batch, n]`.
      sequence_input: float32 tensor `[batch, time, m]`.

    Returns:
      float32 tensor `[batch, time, m + n]`.

    Raises:
      ValueError, TypeError: if a rank or type is another.
    """
    checks = [
        check_ops.assert_rank(
            sequence_input, 3, message="sequence_input must have rank 3", data=[array_ops.shape(sequence_input)]
        ),
        check_ops.assert_type(sequence_input, dtypes.float32, message="sequence_input must be float32"),
        check_ops.assert_rank(
            context_input, 2, message="context_input must have rank 2", data=[array_ops.shape(context_input)]
        ),
        check_ops.assert_type(context_input, dtypes.float32, message="context_input must be float32"),
    ]
    with ops.control_dependencies(checks):
        steps = array_ops.shape(sequence_input)[1]
        tiled = array_ops.tile(array_ops.expand_dims(context_input, 1), array_ops.concat([[1], [steps], [1]], 0))
    return array_ops.concat([sequence_input, tiled], 2)


def _assert_all_equal_and_return(tensors, name=None):
    """The first tensor, readable if all are equal."""
    with ops.name_scope(name, "assert_all_equal", tensors):
        if len(tensors) == 1:
            return tensors[0]
        checks = [check_ops.assert_equal(tensors[0], other) for other in tensors[1:]]
        with ops.control_dependencies(checks):
            return array_ops.identity(tensors[0])
