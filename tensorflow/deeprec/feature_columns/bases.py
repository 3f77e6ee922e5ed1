"""What feature columns have in common, in both interfaces of the released ones. Each is to stand before their classes."""

from tensorflow.python.feature_column import feature_column_v2 as fc
from tensorflow.python.framework import dtypes
from tensorflow.python.ops import parsing_ops


class OfOneFeature:
    """A column that reads one feature. Subclasses are named tuples with fields `key` and `dtype`."""

    @property
    def _is_v2_column(self):
        return True

    @property
    def name(self):
        return self.key

    @property
    def parse_example_spec(self):
        return {self.key: parsing_ops.VarLenFeature(self.dtype)}

    @property
    def _parse_example_spec(self):
        return self.parse_example_spec

    @property
    def parents(self):
        return [self.key]

    def get_config(self):
        return {**dict(zip(self._fields, self)), "dtype": self.dtype.name}

    @classmethod
    def from_config(cls, config, custom_objects=None, columns_by_name=None):
        del custom_objects, columns_by_name
        fc._check_config_keys(config, cls._fields)
        kwargs = fc._standardize_and_copy_config(config)
        return cls(**{**kwargs, "dtype": dtypes.as_dtype(config["dtype"])})


class OfIds:
    """A categorical column whose ids are those that `_ids(value)` makes of the value of its one parent."""

    def transform_feature(self, transformation_cache, state_manager):
        return self._ids(transformation_cache.get(self.parents[0], state_manager))

    def get_sparse_tensors(self, transformation_cache, state_manager):
        return fc.CategoricalColumn.IdWeightPair(transformation_cache.get(self, state_manager), None)

    # The same for the older kind of layers.

    @property
    def _num_buckets(self):
        return self.num_buckets

    def _transform_feature(self, inputs):
        return self._ids(inputs.get(self.parents[0]))

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        del weight_collections, trainable
        return fc.CategoricalColumn.IdWeightPair(inputs.get(self), None)
