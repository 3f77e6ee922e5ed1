"""A categorical column that keeps only so many values of each row."""

import collections

from tensorflow.deeprec.ops import sparse_ops
from tensorflow.python.feature_column import feature_column as fc_old
from tensorflow.python.feature_column import feature_column_v2 as fc
from tensorflow.python.feature_column import serialization

_SIDES = ("right", "left")


@serialization.register_feature_column
class CutoffCategoricalColumn(
    fc.CategoricalColumn,
    fc_old._CategoricalColumn,
    collections.namedtuple(
        "CutoffCategoricalColumn",
        ["categorical_column", "cutoff_length", "cutoff_side", "cutoff_axis", "reverse"],
    ),
):
    """See `cutoff_categorical_column`."""

    # Weights go with their ids: they belong below this column.
    cuts_ids = True

    @property
    def _is_v2_column(self):
        return self.categorical_column._is_v2_column

    @property
    def name(self):
        return f"{self.categorical_column.name}_cutoff"

    @property
    def parse_example_spec(self):
        return self.categorical_column.parse_example_spec

    @property
    def num_buckets(self):
        return self.categorical_column.num_buckets

    def _cut(self, pair):
        def cut(tensor):
            return sparse_ops.sparse_valid_cutoff(
                tensor, self.cutoff_axis, self.cutoff_length, side=self.cutoff_side, reverse=self.reverse
            )

        weights = None if pair.weight_tensor is None else cut(pair.weight_tensor)
        return fc.CategoricalColumn.IdWeightPair(cut(pair.id_tensor), weights)

    def transform_feature(self, transformation_cache, state_manager):
        return self._cut(self.categorical_column.get_sparse_tensors(transformation_cache, state_manager))

    def get_sparse_tensors(self, transformation_cache, state_manager):
        return transformation_cache.get(self, state_manager)

    @property
    def parents(self):
        return [self.categorical_column]

    def get_config(self):
        config = dict(zip(self._fields, self))
        config["categorical_column"] = serialization.serialize_feature_column(self.categorical_column)
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None, columns_by_name=None):
        fc._check_config_keys(config, cls._fields)
        column = serialization.deserialize_feature_column(config["categorical_column"], custom_objects, columns_by_name)
        return cls(**{**config, "categorical_column": column})

    # The same for the older kind of layers.

    @property
    def _parse_example_spec(self):
        return self.categorical_column._parse_example_spec

    @property
    def _num_buckets(self):
        return self.categorical_column._num_buckets

    def _transform_feature(self, inputs):
        return self._cut(self.categorical_column._get_sparse_tensors(inputs))

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        del weight_collections, trainable
        return inputs.get(self)


def cutoff_categorical_column(categorical_column, cutoff_length, cutoff_side="right", cutoff_axis=1, reverse=False):
    """A categorical column with at most `cutoff_length` ids in each row.

    For weights, cut off the weighted column: ids and weights go together.

    Args:
      categorical_column: any categorical column; of a sequence column the sequence is cut.
      cutoff_length: positive int.
      cutoff_side: "right" keeps the first ids; "left" keeps the last ones and moves them to the front.
      cutoff_axis: dimension of the feature along which ids are counted, from 1.
      reverse: whether the ids that are left are reversed.

    Returns:
      A categorical column named `<name>_cutoff`, or a sequence column of one.

    Raises:
      ValueError: an argument is out of range.
    """
    if not isinstance(categorical_column, (fc.CategoricalColumn, fc_old._CategoricalColumn)):
        raise ValueError(f"categorical_column must be a categorical column, got {categorical_column!r}")
    for argument, value in (("cutoff_length", cutoff_length), ("cutoff_axis", cutoff_axis)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{argument} must be a positive integer, got {value!r}")
    if cutoff_side not in _SIDES:
        raise ValueError(f"cutoff_side must be one of {_SIDES}, got {cutoff_side!r}")
    arguments = (cutoff_length, cutoff_side, cutoff_axis, bool(reverse))
    if isinstance(categorical_column, fc.SequenceCategoricalColumn):
        # Layers ask whether a column is one of sequences by its class.
        inner = CutoffCategoricalColumn(categorical_column.categorical_column, *arguments)
        return fc.SequenceCategoricalColumn(inner)
    return CutoffCategoricalColumn(categorical_column, *arguments)
