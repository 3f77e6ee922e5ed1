"""Legacy feature columns that make vectors of sparse ones: one-hot, embedded, and scattered embeddings."""

import collections
import math

from tensorflow.contrib.layers import layers
from tensorflow.contrib.layers.embedding_tables import (
    _embeddings_from_arguments,
    table_source,
)
from tensorflow.contrib.layers.feature_column_base import (
    _check_checkpoint,
    _DeepEmbeddingLookupArguments,
    _FeatureColumn,
    _get_feature_config,
    _LazyBuilderByColumnsToTensor,
)
from tensorflow.contrib.layers.sparse_columns import (
    _SparseColumn,
    _WeightedSparseColumn,
)
from tensorflow.deeprec.embedding import fusion
from tensorflow.python.feature_column import feature_column as fc_core
from tensorflow.python.framework import dtypes, tensor_shape
from tensorflow.python.ops import (
    array_ops,
    init_ops,
    math_ops,
    parsing_ops,
    sparse_ops,
)


class _OneHotColumn(
    _FeatureColumn, fc_core._DenseColumn, collections.namedtuple("_OneHotColumn", ["sparse_id_column"])
):
    """See `one_hot_column`."""

    @property
    def name(self):
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def length(self):
        """Number of ids."""
        return self.sparse_id_column.length

    @property
    def config(self):
        return _get_feature_config(self.sparse_id_column)

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = _LazyBuilderByColumnsToTensor(columns_to_tensors).get(self.sparse_id_column)

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=False, output_rank=2):
        ids = layers._inner_flatten(self.sparse_id_column.id_tensor(input_tensor), output_rank)
        weights = self.sparse_id_column.weight_tensor(input_tensor)
        if weights is not None:
            return self._weighted(ids, weights)
        dense_ids = sparse_ops.sparse_tensor_to_dense(ids, default_value=-1)
        one_hot = array_ops.one_hot(dense_ids, depth=self.length, on_value=1.0, off_value=0.0)
        return math_ops.reduce_sum(one_hot, axis=[output_rank - 1])

    def _weighted(self, ids, weights):
        merged = sparse_ops.sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=self.length)
        # Drops entries whose id is -1.
        merged = sparse_ops.sparse_slice(merged, array_ops.zeros_like(merged.dense_shape), merged.dense_shape)
        dense = sparse_ops.sparse_tensor_to_dense(merged)
        return array_ops.reshape(dense, array_ops.concat([array_ops.shape(dense)[:-1], [self.length]], axis=0))

    @property
    def _variable_shape(self):
        return tensor_shape.TensorShape([self.length])

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return inputs.get(self)

    def _transform_feature(self, inputs):
        return self._to_dnn_input_layer(inputs.get(self.sparse_id_column))

    @property
    def _parse_example_spec(self):
        return self.config


class _EmbeddedColumn(_FeatureColumn, fc_core._DenseColumn):
    """What columns with an embedding have in common."""

    @property
    def key(self):
        return self._key_without_properties(["initializer"])

    @property
    def _variable_shape(self):
        return tensor_shape.TensorShape([self.dimension])

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        arguments = self._deep_embedding_lookup_arguments(inputs.get(self))
        return _embeddings_from_arguments(self, arguments, weight_collections, trainable)

    @property
    def _parse_example_spec(self):
        return self.config


_EmbeddingColumnFields = collections.namedtuple(
    "_EmbeddingColumn",
    [
        "sparse_id_column",
        "dimension",
        "combiner",
        "initializer",
        "ckpt_to_load_from",
        "tensor_name_in_ckpt",
        "shared_embedding_name",
        "shared_vocab_size",
        "max_norm",
        "trainable",
    ],
)


def _check_initializer(initializer, column_name):
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable, got {initializer!r}. column_name: {column_name}")


class _EmbeddingColumn(_EmbeddedColumn, _EmbeddingColumnFields):
    """See `embedding_column` and `shared_embedding_columns`."""

    def __new__(
        cls,
        sparse_id_column,
        dimension,
        combiner="mean",
        initializer=None,
        ckpt_to_load_from=None,
        tensor_name_in_ckpt=None,
        shared_embedding_name=None,
        shared_vocab_size=None,
        max_norm=None,
        trainable=True,
    ):
        _check_initializer(initializer, sparse_id_column.name)
        _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
        if initializer is None:
            # An embedding found by key has no number of ids.
            stddev = 1 / math.sqrt(dimension if table_source(sparse_id_column) else sparse_id_column.length)
            initializer = init_ops.truncated_normal_initializer(mean=0.0, stddev=stddev)
        return super().__new__(
            cls,
            sparse_id_column,
            dimension,
            combiner,
            initializer,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            shared_embedding_name,
            shared_vocab_size,
            max_norm,
            trainable,
        )

    @property
    def name(self):
        kind = "embedding" if self.shared_embedding_name is None else "shared_embedding"
        return f"{self.sparse_id_column.name}_{kind}"

    @property
    def length(self):
        """Number of ids."""
        return self.sparse_id_column.length if self.shared_vocab_size is None else self.shared_vocab_size

    @property
    def config(self):
        return _get_feature_config(self.sparse_id_column)

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = _LazyBuilderByColumnsToTensor(columns_to_tensors).get(self.sparse_id_column)

    def _deep_embedding_lookup_arguments(self, input_tensor):
        return _DeepEmbeddingLookupArguments(
            input_tensor=self.sparse_id_column.id_tensor(input_tensor),
            weight_tensor=self.sparse_id_column.weight_tensor(input_tensor),
            vocab_size=self.length,
            dimension=self.dimension,
            initializer=self.initializer,
            combiner=self.combiner,
            shared_embedding_name=self.shared_embedding_name,
            hash_key=None,
            max_norm=self.max_norm,
            trainable=self.trainable,
        )

    def _checkpoint_path(self):
        return None if self.ckpt_to_load_from is None else (self.ckpt_to_load_from, self.tensor_name_in_ckpt)

    def _wide_embedding_lookup_arguments(self, input_tensor):
        raise ValueError(f"Column {self} is not supported in linear models: use its sparse column.")

    def _transform_feature(self, inputs):
        return inputs.get(self.sparse_id_column)


def one_hot_column(sparse_id_column):
    """A sparse column as a multi-hot vector, for networks; its `combiner` does not matter.

    Raises:
      ValueError: if the column has no number of ids.
    """
    if table_source(sparse_id_column) is not None:
        raise ValueError(f"Column {sparse_id_column.name} has no number of ids: use embedding_column.")
    return _OneHotColumn(sparse_id_column)


def embedding_column(
    sparse_id_column,
    dimension,
    combiner="mean",
    initializer=None,
    ckpt_to_load_from=None,
    tensor_name_in_ckpt=None,
    max_norm=None,
    trainable=True,
    do_fusion=False,
):
    """A sparse column looked up in an embedding, for networks.

    Args:
      sparse_id_column: a sparse, weighted or crossed column; its `combiner` does not matter.
      dimension: size of an embedding.
      combiner: "mean", "sqrtn" or "sum": how several embeddings of an example are combined.
      initializer: of the table; default a truncated normal of standard deviation `1 / sqrt(number of ids)`.
      ckpt_to_load_from, tensor_name_in_ckpt: checkpoint, and tensor in it, from which the table starts.
      max_norm: l2 norm to which embeddings are clipped.
      trainable: whether the table is trained.
      do_fusion: without effect, with a warning: the lookups of columns are not fused.

    Returns:
      An embedding column.

    Raises:
      ValueError: if `initializer` is not callable, or only one of the checkpoint arguments is given.
    """
    column = _EmbeddingColumn(
        sparse_id_column,
        dimension,
        combiner,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm=max_norm,
        trainable=trainable,
    )
    return fusion.mark(column, do_fusion)


def _shared_name(columns):
    """Name of a shared embedding; the order of the columns does not matter."""
    plain = sorted(c for c in columns if isinstance(c, _SparseColumn))
    weighted = sorted((c for c in columns if not isinstance(c, _SparseColumn)), key=lambda c: c.name)
    names = [column.name for column in plain + weighted]
    others = f"_plus_{len(names) - 3}_others" if len(names) > 3 else ""
    return "_".join(names[:3]) + others + "_shared_embedding"


def shared_embedding_columns(
    sparse_id_columns,
    dimension,
    combiner="mean",
    shared_embedding_name=None,
    initializer=None,
    ckpt_to_load_from=None,
    tensor_name_in_ckpt=None,
    max_norm=None,
    trainable=True,
    do_fusion=False,
):
    """Several sparse columns looked up in one embedding.

    Args:
      sparse_id_columns: sparse or weighted columns with the same vocabulary.
      shared_embedding_name: name of the variable; made of the columns' names by default.
      dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable, do_fusion: as for
        `embedding_column`.

    Returns:
      A tuple of embedding columns (a list if there is one).

    Raises:
      TypeError: if `sparse_id_columns` is no sequence of sparse columns.
      ValueError: if it is empty, or the columns are not compatible.
    """
    if not isinstance(sparse_id_columns, collections.abc.Sequence) or isinstance(sparse_id_columns, str):
        raise TypeError(f"sparse_id_columns must be a list or tuple, got {type(sparse_id_columns)}")
    if not sparse_id_columns:
        raise ValueError("sparse_id_columns must have at least one element")
    for column in sparse_id_columns:
        if not isinstance(column, (_SparseColumn, _WeightedSparseColumn)):
            raise TypeError(f"sparse_id_columns must hold sparse or weighted columns, got {column}")

    def embedded(column, name, vocab_size=None):
        made = _EmbeddingColumn(
            column,
            dimension,
            combiner,
            initializer,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            name,
            vocab_size,
            max_norm=max_norm,
            trainable=trainable,
        )
        return fusion.mark(made, do_fusion)

    first, *others = sparse_id_columns
    if not others:
        return [embedded(first, shared_embedding_name)]
    for column in others:
        weighted_first = isinstance(first, _WeightedSparseColumn)
        if not (first.is_compatible(column) if weighted_first else column.is_compatible(first)):
            raise ValueError(f"sparse_id_columns are not compatible: {first} and {column}")
    name = shared_embedding_name or _shared_name(sparse_id_columns)
    return tuple(embedded(column, name, first.length) for column in sparse_id_columns)


_ScatteredEmbeddingColumnFields = collections.namedtuple(
    "_ScatteredEmbeddingColumn", ["column_name", "size", "dimension", "hash_key", "combiner", "initializer"]
)


class _ScatteredEmbeddingColumn(_EmbeddedColumn, _ScatteredEmbeddingColumnFields):
    """See `scattered_embedding_column`."""

    def __new__(cls, column_name, size, dimension, hash_key, combiner="sqrtn", initializer=None):
        _check_initializer(initializer, column_name)
        if initializer is None:
            initializer = init_ops.truncated_normal_initializer(mean=0.0, stddev=0.1)
        return super().__new__(cls, column_name, size, dimension, hash_key, combiner, initializer)

    @property
    def name(self):
        return f"{self.column_name}_scattered_embedding"

    @property
    def config(self):
        return {self.column_name: parsing_ops.VarLenFeature(dtypes.string)}

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = columns_to_tensors[self.column_name]

    def _deep_embedding_lookup_arguments(self, input_tensor):
        return _DeepEmbeddingLookupArguments(
            input_tensor=input_tensor,
            weight_tensor=None,
            vocab_size=self.size,
            initializer=self.initializer,
            combiner=self.combiner,
            dimension=self.dimension,
            shared_embedding_name=None,
            hash_key=self.hash_key,
            max_norm=None,
            trainable=True,
        )

    def _transform_feature(self, inputs):
        return inputs.get(self.column_name)


def scattered_embedding_column(column_name, size, dimension, hash_key, combiner="mean", initializer=None):
    """A string feature embedded by hashing each component into one vector of parameters.

    Args:
      column_name: name of the feature.
      size: number of parameters.
      dimension: size of an embedding.
      hash_key: key of FingerprintCat64, such as `tf.contrib.layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY`.
      combiner: "mean", "sqrtn" or "sum".
      initializer: of the parameters; default a truncated normal of standard deviation 0.1.

    Returns:
      A column.

    Raises:
      ValueError: if `size` or `dimension` is not positive, or `combiner` unknown.
    """
    if dimension < 1 or size < 1:
        raise ValueError(f"dimension and size must be above 0, got {dimension} and {size}. column_name: {column_name}")
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(
            f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner!r}. column_name: {column_name}"
        )
    return _ScatteredEmbeddingColumn(column_name, size, dimension, hash_key, combiner, initializer)
