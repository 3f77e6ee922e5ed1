"""Embeddings of a network's categories, of the kind that the flags ask for."""

import argparse
import contextlib
import math
import os
from typing import Dict, NamedTuple, Sequence

import tensorflow as tf

from common import ev_flags
from common.parts import partitioner

# --dynamic_ev: a row has this many blocks, the first of them until its value was trained this many times.
_BLOCKS = 2
_FREQUENT = 3
_STRING_KEYS = 2**63 - 1


class _DynamicColumn(NamedTuple):
    """A category whose rows grow. table: name of the variable, which others may share."""

    name: str
    table: str
    dimension: int
    combiner: str


class Embeddings:
    """Makes the columns that the flags ask for, and looks them up.

    Use: `with embeddings.scope(): columns = [embeddings.column("a"), ...]`, then `embeddings.look_up(features, columns)` within
    `embeddings.variable_scope(...)`.
    """

    def __init__(self, args: argparse.Namespace):
        self._args = args
        self._kind = ev_flags.kind(args)
        self._option = ev_flags.option(args)
        self._fusion = {"do_fusion": True} if args.emb_fusion else {}
        self._masked = {}
        if self._kind == "dynamic_ev":
            # The frequencies decide how many blocks a row has. Read when the variables are made.
            os.environ["TF_RECORD_FREQ"] = "1"

    def scope(self):
        if self._args.group_embedding:
            return tf.feature_column.group_embedding_column_scope()
        return contextlib.nullcontext()

    def category(self, name: str, buckets=None, dtype=tf.string):
        """A categorical column for weights of its values, EmbeddingVariables or hashed; `buckets` instead of --hash_buckets."""
        if self._kind == "ev":
            return tf.feature_column.categorical_column_with_embedding(name, dtype, ev_option=self._option)
        return tf.feature_column.categorical_column_with_hash_bucket(name, buckets or self._args.hash_buckets, dtype)

    def levels(self, name: str, count: int):
        """An embedding column of a feature that is one of the numbers below `count`."""
        return self.of(tf.feature_column.categorical_column_with_identity(name, count))

    def column(self, name: str, buckets=None, dtype=tf.string, dimension=None, combiner="mean", several=False):
        """A column of the embeddings of a category. several: a row may have several values, or none."""
        dimension = dimension or self._args.embedding_dim
        if self._kind == "dynamic_ev":
            return _DynamicColumn(name, name, dimension, combiner)
        if self._kind == "adaptive_emb" and not several:
            category = tf.feature_column.categorical_column_with_adaptive_embedding(
                name, buckets or self._args.hash_buckets, dtype, ev_option=self._option
            )
            column = self.of(category, dimension, combiner)
            self._masked[column] = name
            return column
        return self.of(self._wide_category(name, buckets, dtype), dimension, combiner)

    def _wide_category(self, name, buckets, dtype):
        """One for embeddings: also of two small tables instead of a large one."""
        if self._kind != "multihash":
            return self.category(name, buckets, dtype)
        rows = math.isqrt((buckets or self._args.hash_buckets) - 1) + 1
        return tf.feature_column.categorical_column_with_multihash(name, (rows, rows), operation="add", dtype=dtype)

    def of(self, category, dimension=None, combiner="mean"):
        """An embedding column of a categorical column."""
        return tf.feature_column.embedding_column(
            category, dimension or self._args.embedding_dim, combiner=combiner, **self._fusion
        )

    def shared(self, names, buckets=None, dtype=tf.string, dimension=None, combiner="mean"):
        """Columns of several features with one table."""
        if self._kind == "dynamic_ev":
            dimension = dimension or self._args.embedding_dim
            return [_DynamicColumn(name, "_".join(names), dimension, combiner) for name in names]
        return self.shared_of([self._wide_category(name, buckets, dtype) for name in names], dimension, combiner)

    def shared_of(self, categories, dimension=None, combiner="mean"):
        """Embedding columns of several categorical columns with one table."""
        return tf.feature_column.shared_embedding_columns(
            categories, dimension or self._args.embedding_dim, combiner=combiner, **self._fusion
        )

    def variable_scope(self, name: str):
        return tf.variable_scope(name, partitioner=partitioner(self._args.input_layer_partitioner, 2**20))

    def look_up(self, features: Dict[str, tf.Tensor], columns: Sequence, others: Sequence = ()) -> Dict:
        """Column -> float32 [B, dim], within a `variable_scope`. others: columns that are no embeddings."""
        dynamic = [column for column in columns if isinstance(column, _DynamicColumn)]
        outputs = {column: _dynamic_rows(column, features[column.name]) for column in dynamic}
        rest = [*others, *(column for column in columns if column not in outputs)]
        # As in DeepRec's scripts: every value has a row of its own, which starts as its bucket's.
        masks = {
            name: tf.ones([tf.shape(features[name])[0]], tf.int32)
            for column, name in self._masked.items()
            if column in columns
        }
        if rest:
            options = {"adaptive_mask_tensors": masks} if masks else {}
            tf.feature_column.input_layer(features, rest, cols_to_output_tensors=outputs, **options)
        return outputs


def _dynamic_rows(column: _DynamicColumn, values) -> tf.Tensor:
    if not isinstance(values, tf.SparseTensor):
        values = values[:, None] if values.shape.ndims == 1 else values
        there = tf.where(tf.not_equal(values, ""))
        values = tf.SparseTensor(there, tf.gather_nd(values, there), tf.shape(values, out_type=tf.int64))
    keys = tf.strings.to_hash_bucket_fast(values.values, _STRING_KEYS)
    with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE):
        table = tf.get_dynamic_dimension_embedding_variable(
            f"{column.table}_embedding", column.dimension // _BLOCKS, _BLOCKS
        )
    frequent = table.blocks[0].get_frequency(keys) >= _FREQUENT
    blocks = tf.where_v2(frequent, _BLOCKS, 1)
    ids = tf.SparseTensor(values.indices, keys, values.dense_shape)
    rows = tf.nn.safe_embedding_lookup_sparse(table, ids, None, combiner=column.combiner, blocknums=blocks)
    return tf.reshape(rows, [-1, column.dimension])
