"""Legacy feature columns of the combinations of other columns' values."""

import collections

from tensorflow.contrib.layers import sparse_feature_cross_op
from tensorflow.contrib.layers.feature_column_base import (
    _check_checkpoint,
    _get_feature_config,
    _IdColumn,
    _LazyBuilderByColumnsToTensor,
)
from tensorflow.contrib.layers.real_valued_columns import (
    _BucketizedColumn,
)
from tensorflow.contrib.layers.sparse_columns import (
    _SparseColumn,
)

_CrossedColumnFields = collections.namedtuple(
    "_CrossedColumn",
    ["columns", "hash_bucket_size", "hash_key", "combiner", "ckpt_to_load_from", "tensor_name_in_ckpt"],
)


class _CrossedColumn(_IdColumn, _CrossedColumnFields):
    """See `crossed_column`."""

    def __new__(
        cls, columns, hash_bucket_size, hash_key, combiner="sum", ckpt_to_load_from=None, tensor_name_in_ckpt=None
    ):
        for column in columns:
            if not isinstance(column, (_SparseColumn, _CrossedColumn, _BucketizedColumn)):
                raise TypeError(f"columns must hold sparse, crossed or bucketized columns, got {column}")
        if len(columns) < 2:
            raise ValueError(f"columns must contain at least 2 elements, got {columns}")
        if hash_bucket_size < 2:
            raise ValueError(f"hash_bucket_size must be at least 2, got {hash_bucket_size}")
        _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
        ordered = tuple(sorted(columns, key=lambda column: column.name))
        return super().__new__(
            cls, ordered, hash_bucket_size, hash_key, combiner, ckpt_to_load_from, tensor_name_in_ckpt
        )

    @property
    def name(self):
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def config(self):
        config = {}
        for column in self.columns:
            config.update(_get_feature_config(column))
        return config

    @property
    def length(self):
        """Number of ids."""
        return self.hash_bucket_size

    def _checkpoint_path(self):
        return None if self.ckpt_to_load_from is None else (self.ckpt_to_load_from, self.tensor_name_in_ckpt)

    def _leaves(self):
        for column in self.columns:
            if isinstance(column, _CrossedColumn):
                yield from column._leaves()
            else:
                yield column

    def _transform_feature(self, inputs):
        # Of sparse columns the values are crossed, of bucketized ones the ids.
        features = [
            column.to_sparse_tensor(inputs.get(column))
            if isinstance(column, _BucketizedColumn)
            else inputs.get(column.name)
            for column in self._leaves()
        ]
        return sparse_feature_cross_op.sparse_feature_cross(
            features, hashed_output=True, num_buckets=self.hash_bucket_size, hash_key=self.hash_key, name="cross"
        )

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = self._transform_feature(_LazyBuilderByColumnsToTensor(columns_to_tensors))


def crossed_column(
    columns, hash_bucket_size, combiner="sum", ckpt_to_load_from=None, tensor_name_in_ckpt=None, hash_key=None
):
    """The combinations of several categorical features, hashed to ids.

    Args:
      columns: two or more sparse, bucketized or crossed columns.
      hash_bucket_size: number of ids, above 1.
      combiner: "sum", "mean" or "sqrtn": how a linear model combines several ids.
      ckpt_to_load_from, tensor_name_in_ckpt: checkpoint, and tensor in it, from which a linear model's weights start.
      hash_key: key of FingerprintCat64; None takes the older way of combining hashes.

    Returns:
      A sparse column.

    Raises:
      TypeError: if a column cannot be crossed.
      ValueError: if there are fewer than two columns, or ids.
    """
    return _CrossedColumn(
        columns,
        hash_bucket_size,
        hash_key,
        combiner=combiner,
        ckpt_to_load_from=ckpt_to_load_from,
        tensor_name_in_ckpt=tensor_name_in_ckpt,
    )
