"""Embeddings of columns that hash each value in several ways."""

import collections
import math

from tensorflow.deeprec.embedding import fusion, lookup_multi_dim, tables
from tensorflow.python.feature_column import feature_column as fc_old
from tensorflow.python.feature_column import feature_column_v2 as fc
from tensorflow.python.feature_column import utils as fc_utils
from tensorflow.python.framework import dtypes, ops, sparse_tensor, tensor_shape
from tensorflow.python.ops import array_ops, init_ops, math_ops, sparse_ops, variable_scope, variables
from tensorflow.python.training import checkpoint_utils

_COMBINERS = ("mean", "sum", "sqrtn")
_HASH_COMBINERS = (*_COMBINERS, "max", "min")


class SharedMultiHashEmbeddingColumn(
    fc_old._DenseColumn,
    fc_old._SequenceDenseColumn,
    collections.namedtuple(
        "SharedMultiHashEmbeddingColumn",
        [
            "categorical_column",
            "dimension",
            "shared_name",
            "hash_combiner",
            "combiner",
            "initializer",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
            "max_norm",
            "trainable",
        ],
    ),
):
    """See `multi_hash_embedding_column`. Like other shared columns it has the older interface alone."""

    @property
    def name(self):
        return f"{self.categorical_column.name}_multi_hash_embedding"

    @property
    def _var_scope_name(self):
        return self.shared_name

    @property
    def _parse_example_spec(self):
        return self.categorical_column._parse_example_spec

    def _transform_feature(self, inputs):
        return inputs.get(self.categorical_column)

    @property
    def _variable_shape(self):
        return tensor_shape.TensorShape([self.dimension])

    def _table(self, weight_collections, trainable):
        # Kept by the graph, as collections are; collections cannot hold what is no tensor when a graph is saved.
        graph = ops.get_default_graph()
        if not hasattr(graph, "_multi_hash_tables"):
            graph._multi_hash_tables = {}
        known = graph._multi_hash_tables
        if self.shared_name in known:
            table, first = known[self.shared_name]
            if self._asked() != first._asked():
                raise ValueError(
                    f"Columns of shared_name {self.shared_name!r} must agree in {', '.join(first._asked())}, got "
                    f"{self._asked()} and {first._asked()}"
                )
            return table
        if weight_collections and ops.GraphKeys.GLOBAL_VARIABLES not in weight_collections:
            weight_collections.append(ops.GraphKeys.GLOBAL_VARIABLES)
        table = variable_scope.get_variable(
            "embedding_weights",
            shape=[self.categorical_column._num_buckets, self.dimension],
            dtype=dtypes.float32,
            initializer=self.initializer,
            trainable=self.trainable and trainable,
            collections=weight_collections,
        )
        known[self.shared_name] = table, self
        if self.ckpt_to_load_from is not None:
            target = list(table) if isinstance(table, variables.PartitionedVariable) else table
            checkpoint_utils.init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt: target})
        return table

    def _asked(self) -> dict:
        """What columns that share a table say about it. (Initializers are made anew for each column.)"""
        names = ("dimension", "ckpt_to_load_from", "tensor_name_in_ckpt", "trainable")
        return {"hash_bucket_size": self.categorical_column._num_buckets, **{n: getattr(self, n) for n in names}}

    def _embedded(self, pair, kept, weight_collections, trainable):
        """Embeddings with the first `kept` dimensions of the ids."""
        ids, weights = pair
        shape = math_ops.cast(ids.dense_shape, dtypes.int32)
        # The values of a row, or of a step, are one dimension, and their hashes the next.
        target = array_ops.concat([shape[:kept], [math_ops.reduce_prod(shape[kept:-1])], shape[-1:]], 0)
        ids = _ranked(sparse_ops.sparse_reshape(ids, target), kept + 2)
        if weights is not None:
            weights = _ranked(sparse_ops.sparse_reshape(weights, target), kept + 2)
        # The variable scope is that of all columns that share the table; their ops have names of their own.
        with ops.name_scope(None, default_name=self.name):
            return lookup_multi_dim.safe_embedding_lookup_multi_dim(
                self._table(weight_collections, trainable),
                ids,
                weights,
                combiners=[self.combiner, self.hash_combiner],
                name=f"{self.name}_weights",
                max_norm=self.max_norm,
                weight_axis=-2,
            )

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        column = self.categorical_column
        if isinstance(column, fc.SequenceCategoricalColumn):
            raise ValueError(f"{column!r} is a sequence column: use sequence_input_layer.")
        pair = column._get_sparse_tensors(inputs, weight_collections, trainable)
        return self._embedded(pair, 1, weight_collections, trainable)

    def _get_sequence_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        column = self.categorical_column
        if not isinstance(column, fc.SequenceCategoricalColumn):
            raise ValueError(f"{column!r} is no sequence column: use sequence_categorical_column_with_*.")
        # Below the sequence column ids of a step still have their hashes apart.
        pair = column.categorical_column._get_sparse_tensors(inputs)
        return fc.SequenceDenseColumn.TensorSequenceLengthPair(
            dense_tensor=self._embedded(pair, 2, weight_collections, trainable),
            sequence_length=fc_utils.sequence_length_from_sparse_tensor(pair.id_tensor),
        )


def _ranked(tensor, rank):
    """With the static rank that a reshape to a computed shape loses."""
    tensor.indices.set_shape([None, rank])
    shape = array_ops.ensure_shape(tensor.dense_shape, [rank])
    return sparse_tensor.SparseTensor(tensor.indices, tensor.values, shape)


def multi_hash_embedding_column(
    categorical_column,
    dimension,
    shared_name,
    hash_combiner="mean",
    combiner="mean",
    initializer=None,
    ckpt_to_load_from=None,
    tensor_name_in_ckpt=None,
    max_norm=None,
    trainable=True,
    coalesced_scope=None,
):
    """A dense column of the embeddings of a multi-hash column.

    The rows of a value's hashes are combined by `hash_combiner`, and the values of a row by `combiner`.

    Args:
      categorical_column: a `categorical_column_with_multi_hash_bucket`, its weighted form, one of them cut off, or a sequence
        column of one.
      dimension: positive int: elements of an embedding.
      shared_name: columns of one name in a graph have one table, which the first makes, the variable `<shared_name>/embedding_weights` of
        `[hash_bucket_size, dimension]`.
      hash_combiner: "mean", "sum", "sqrtn", "max" or "min".
      combiner: "mean", "sum" or "sqrtn", which know weights, as for `embedding_column`.
      initializer: of the table; None: truncated normal of standard deviation 1 / sqrt(dimension).
      ckpt_to_load_from, tensor_name_in_ckpt: checkpoint and tensor that the table starts from; both or none.
      max_norm: L2 norm to which rows are clipped, or None.
      trainable: whether optimizers find the table.
      coalesced_scope: a `coalesced_embedding_scope`, or None; it does not change how these columns are looked up.

    Returns:
      A dense column, for `input_layer`, `linear_model`, `sequence_input_layer` and estimators.

    Raises:
      ValueError: an argument is out of range.
    """
    if not tables.has_several_ids(categorical_column):
        raise ValueError(
            "categorical_column must be a categorical_column_with_multi_hash_bucket or its weighted form, got "
            f"{categorical_column!r}"
        )
    if isinstance(dimension, bool) or not isinstance(dimension, int) or dimension < 1:
        raise ValueError(f"dimension must be a positive integer, got {dimension!r}")
    if not isinstance(shared_name, str) or not shared_name:
        raise ValueError(f"shared_name must be a string, not empty, got {shared_name!r}")
    for argument, value, allowed in (
        ("hash_combiner", hash_combiner, _HASH_COMBINERS),
        ("combiner", combiner, _COMBINERS),
    ):
        if value not in allowed:
            raise ValueError(f"{argument} must be one of {allowed}, got {value!r}")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError(
            "ckpt_to_load_from and tensor_name_in_ckpt must be given together, got "
            f"{ckpt_to_load_from!r} and {tensor_name_in_ckpt!r}"
        )
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable, got {initializer!r}")
    if initializer is None:
        initializer = init_ops.truncated_normal_initializer(stddev=1 / math.sqrt(dimension))
    column = SharedMultiHashEmbeddingColumn(
        categorical_column,
        dimension,
        shared_name,
        hash_combiner,
        combiner,
        initializer() if isinstance(initializer, type) else initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )
    return fusion.mark(column, False, coalesced_scope)
