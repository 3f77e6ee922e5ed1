"""Feature columns as bucketized features of BoostedTrees.

A column gives one feature (bucketized), one for each category (indicator), or one for each dimension (any other dense column of
rank 1). Features are numbered through the columns in the order of their names.
"""

from tensorflow.python.feature_column import feature_column as fc_v1
from tensorflow.python.feature_column import feature_column_v2 as fc
from tensorflow.python.framework import dtypes
from tensorflow.python.ops import array_ops, boosted_trees_ops, math_ops
from tensorflow.python.ops import array_ops_stack

_BUCKETIZED = (fc.BucketizedColumn, fc_v1._BucketizedColumn)
_INDICATOR = (fc.IndicatorColumn, fc_v1._IndicatorColumn)
_CATEGORICAL = (fc.CategoricalColumn, fc_v1._CategoricalColumn)
_DENSE = (fc.DenseColumn, fc_v1._DenseColumn)


def sort(columns) -> list:
    return sorted(columns, key=lambda column: column.name)


def is_float(column) -> bool:
    """Whether the column's values have to be cut into buckets by quantiles."""
    return isinstance(column, _DENSE) and not isinstance(column, _BUCKETIZED + _INDICATOR + _CATEGORICAL)


def is_indicator(column) -> bool:
    return isinstance(column, _INDICATOR)


def size(column) -> int:
    """How many features a column gives.

    Raises:
      ValueError: for a column that has no bucketized form.
    """
    if isinstance(column, _INDICATOR):
        return column.categorical_column._num_buckets
    if isinstance(column, _BUCKETIZED):
        return 1
    if isinstance(column, _DENSE):
        shape = column.variable_shape if fc.is_feature_column_v2([column]) else column._variable_shape
        if shape.rank > 1:
            raise ValueError(f"BoostedTrees takes dense columns of rank 1, but {column.name} has shape {shape}.")
        return shape.as_list()[0] if shape.rank else 1
    if isinstance(column, _CATEGORICAL):
        raise ValueError(f"A categorical column must be wrapped by tf.feature_column.indicator_column, got {column}.")
    raise ValueError(f"BoostedTrees takes tf.feature_column columns, got {column!r}.")


def num_features(columns) -> int:
    return sum(size(column) for column in columns)


def names(sorted_columns) -> list[str]:
    """The name of each feature's column; an indicator has that of what it indicates."""
    result = []
    for column in sorted_columns:
        name = column.categorical_column.name if isinstance(column, _INDICATOR) else column.name
        result += [name] * size(column)
    return result


def group_by_buckets(sorted_columns, num_quantiles: int) -> tuple[list[int], list[list[int]]]:
    """Groups features with statistics of one shape.

    Returns:
      Numbers of buckets, and for each the ids of its features. Bucketized columns have the buckets of the largest of them.
    """
    groups: dict[int, list[int]] = {}
    bucketized, most, feature = [], 2, 0
    for column in sorted_columns:
        ids = list(range(feature, feature + size(column)))
        feature += len(ids)
        if isinstance(column, _BUCKETIZED):
            most = max(most, len(column.boundaries) + 1)
            bucketized += ids
        else:
            groups.setdefault(2 if isinstance(column, _INDICATOR) else num_quantiles, []).extend(ids)
    if bucketized:
        groups.setdefault(most, []).extend(bucketized)
    return list(groups), list(groups.values())


def transform(features, columns) -> dict:
    """Column -> its dense or bucketized tensor."""
    new = [column for column in columns if fc.is_feature_column_v2([column])]
    old = [column for column in columns if not fc.is_feature_column_v2([column])]
    result = {}
    if new:
        result = fc._transform_features_v2(features, new, fc._StateManagerImpl(layer=None, trainable=False))
    if old:
        result.update(fc_v1._transform_features(features, old))
    return result


def to_features(tensors: dict, sorted_columns, boundaries: dict | None = None) -> list:
    """The features of transformed columns, each a vector over the batch.

    Args:
      tensors: what `transform` returned.
      sorted_columns: columns in the order of their names.
      boundaries: column name -> bucket boundaries of each of its features. Without it float columns stay floats.
    """
    result = []
    for column in sorted_columns:
        tensor = tensors[column]
        if isinstance(column, _BUCKETIZED):
            feature = array_ops.squeeze(tensor, axis=1)
            if feature.shape.rank is not None and feature.shape.rank > 1:
                raise ValueError(
                    f"BoostedTrees takes bucketized columns with one value a row, but {column.source_column.name} gave {tensor}."
                )
            result.append(feature)
            continue
        if isinstance(column, _INDICATOR):
            tensor = math_ops.cast(tensor, dtypes.int32)
            if tensor.shape.rank is not None and tensor.shape.rank > 2:
                raise ValueError(
                    f"BoostedTrees takes indicator columns of rank 2, but {column.categorical_column.name} gave {tensor}."
                )
        parts = array_ops_stack.unstack(tensor, num=size(column), axis=1)
        if is_float(column) and boundaries is not None:
            parts = boosted_trees_ops.boosted_trees_bucketize(parts, boundaries[column.name])
        result += parts
    return result


def boundaries_by_column(float_columns, boundaries: list) -> dict[str, list]:
    """Splits the boundaries of all streams by column."""
    result, first = {}, 0
    for column in float_columns:
        result[column.name] = boundaries[first : first + size(column)]
        first += size(column)
    return result
