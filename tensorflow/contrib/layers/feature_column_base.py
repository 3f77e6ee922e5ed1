"""What all legacy feature columns share: the interface of a column, and how its representation is found; see `feature_column`."""

import abc
import collections

from tensorflow.contrib.layers import layers
from tensorflow.python.feature_column import feature_column as fc_core
from tensorflow.python.framework import sparse_tensor
from tensorflow.python.ops import (
    array_ops,
    init_ops,
)
from tensorflow.python.platform import tf_logging as logging

_LinearEmbeddingLookupArguments = collections.namedtuple(
    "_LinearEmbeddingLookupArguments", ["input_tensor", "weight_tensor", "vocab_size", "initializer", "combiner"]
)


_DeepEmbeddingLookupArguments = collections.namedtuple(
    "_DeepEmbeddingLookupArguments",
    [
        "input_tensor",
        "weight_tensor",
        "vocab_size",
        "initializer",
        "combiner",
        "dimension",
        "shared_embedding_name",
        "hash_key",
        "max_norm",
        "trainable",
    ],
)


class _FeatureColumn(metaclass=abc.ABCMeta):
    """A feature, or a set of features made from others."""

    # Whether its features can be parsed from examples.
    _READS_EXAMPLES = True

    @property
    @abc.abstractmethod
    def name(self):
        """Name of the column, or of what it makes of another."""

    @property
    @abc.abstractmethod
    def config(self):
        """Base feature name -> how `tf.parse_example` shall read it."""

    @property
    def key(self):
        """Text by which columns are sorted and told apart."""
        return f"{self}"

    @abc.abstractmethod
    def insert_transformed_feature(self, columns_to_tensors):
        """Adds this column's representation to a dictionary of features (by name) and transformed columns (by column)."""

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        raise ValueError(f"Column {self} has no representation for a network's first layer.")

    def _deep_embedding_lookup_arguments(self, input_tensor):
        raise NotImplementedError(f"Column {self} is not looked up in an embedding.")

    def _wide_embedding_lookup_arguments(self, input_tensor):
        raise NotImplementedError(f"Column {self} is not looked up in a table of weights.")

    def _to_dense_tensor(self, input_tensor):
        raise NotImplementedError(f"Column {self} has no dense representation.")

    def _checkpoint_path(self):
        """None, or (checkpoint, name of a tensor in it) to start from."""
        return None

    def _key_without_properties(self, properties):
        """The key without fields that are functions, whose text differs from run to run."""
        fields = ", ".join(f"{k}={v}" for k, v in zip(self._fields, self) if k not in properties)
        return f"{type(self).__name__}({fields})"


class _IdColumn(_FeatureColumn, fc_core._CategoricalColumn):
    """What columns of ids have in common: how core's layers and linear models see them."""

    @property
    def _parse_example_spec(self):
        return self.config

    @property
    def _num_buckets(self):
        return self.length

    def id_tensor(self, input_tensor):
        """The ids in this column's representation."""
        return input_tensor

    def weight_tensor(self, input_tensor):
        """The weights in this column's representation, or None."""
        return None

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        input_tensor = inputs.get(self)
        return fc_core._CategoricalColumn.IdWeightPair(self.id_tensor(input_tensor), self.weight_tensor(input_tensor))

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        raise ValueError(
            f"{type(self).__name__} is not supported in a network: use embedding_column or one_hot_column. column: {self}"
        )

    def _wide_embedding_lookup_arguments(self, input_tensor):
        return _LinearEmbeddingLookupArguments(
            input_tensor=self.id_tensor(input_tensor),
            weight_tensor=self.weight_tensor(input_tensor),
            vocab_size=self.length,
            initializer=init_ops.zeros_initializer(),
            combiner=self.combiner,
        )


def _with_values(tensor, values):
    return sparse_tensor.SparseTensor(tensor.indices, values, tensor.dense_shape)


def _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt):
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError(
            "ckpt_to_load_from and tensor_name_in_ckpt must both be given or neither, "
            f"got {ckpt_to_load_from!r} and {tensor_name_in_ckpt!r}"
        )


def _reshape_real_valued_tensor(input_tensor, output_rank, column_name=None):
    """Brings a dense tensor to `output_rank`: adds a last dimension of 1, or joins the last ones.

    Raises:
      ValueError: if more than one dimension is missing.
    """
    rank = input_tensor.get_shape().ndims
    if rank is not None:
        if output_rank > rank + 1:
            raise ValueError(
                f"Column {column_name}: the feature has rank {rank}, expected {output_rank} "
                "(3 for sequences, 2 for other features)."
            )
        if output_rank == rank + 1:
            logging.warning("Column %s: rank %d is extended to %d.", column_name, rank, output_rank)
            return array_ops.expand_dims(input_tensor, -1, name="expand_dims")
        if output_rank == rank:
            return input_tensor
    return layers._inner_flatten(input_tensor, output_rank)


class _LazyBuilderByColumnsToTensor:
    """Transforms columns when they are first asked for."""

    def __init__(self, columns_to_tensors):
        self._columns_to_tensors = columns_to_tensors

    def get(self, key):
        """The feature of a name, or a column's representation."""
        if key not in self._columns_to_tensors:
            if isinstance(key, str):
                raise ValueError(f"The features lack {key!r}: they have {sorted(map(str, self._columns_to_tensors))}")
            if not isinstance(key, _FeatureColumn):
                raise TypeError(f"key must be a name or a feature column, got {key!r}")
            key.insert_transformed_feature(self._columns_to_tensors)
        return self._columns_to_tensors[key]


def _get_feature_config(feature_column):
    if not isinstance(feature_column, _FeatureColumn) or not feature_column._READS_EXAMPLES:
        raise TypeError(f"feature_columns must hold columns of tf.contrib.layers, got {feature_column}")
    return dict(feature_column.config)
