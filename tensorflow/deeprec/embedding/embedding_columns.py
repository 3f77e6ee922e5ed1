"""Dense columns over the categorical columns of `columns`. `public_columns` makes them."""

from tensorflow.deeprec.embedding import adaptive, fusion, getter, tables
from tensorflow.python.feature_column import feature_column as fc_old
from tensorflow.python.feature_column import feature_column_v2 as fc
from tensorflow.python.framework import ops, tensor_shape
from tensorflow.python.ops import embedding_ops, variables
from tensorflow.python.training import checkpoint_utils


class TableEmbeddingColumn(fc.EmbeddingColumn):
    """See `tf.feature_column.embedding_column`."""

    @property
    def variable_shape(self):
        source = tables.source_of(self)
        width = source.width(self.dimension) if hasattr(source, "width") else self.dimension
        return tensor_shape.TensorShape([width])

    @property
    def _variable_shape(self):
        return self.variable_shape

    def create_state(self, state_manager):
        if not isinstance(state_manager, fc._StateManagerImpl):
            raise ValueError(f"{type(state_manager).__name__} cannot make the EmbeddingVariable of {self.name}.")
        super().create_state(state_manager)

    def _old_get_dense_tensor_internal(self, sparse_tensors, weight_collections, trainable):
        table = tables.source_of(self).table(
            "embedding_weights", self.dimension, self.initializer, self.trainable and trainable, weight_collections
        )
        return self._get_dense_tensor_internal_helper(sparse_tensors, table)

    def _get_dense_tensor_internal_helper(self, sparse_tensors, embedding_weights):
        if not isinstance(embedding_weights, adaptive.AdaptiveTable):
            return super()._get_dense_tensor_internal_helper(sparse_tensors, embedding_weights)
        if sparse_tensors.weight_tensor is not None:
            raise ValueError(f"Adaptive embedding takes no weights, got them for {self.name}.")
        return embedding_weights.combined(
            sparse_tensors.id_tensor,
            adaptive.mask_of(tables.source_of(self).key),
            self.combiner,
            f"{self.name}_weights",
            self.max_norm,
        )


class SharedTableEmbeddingColumn(fc_old._SharedEmbeddingColumn):
    """See `tf.feature_column.shared_embedding_columns`."""

    def _get_dense_tensor_internal(self, inputs, weight_collections=None, trainable=None):
        # The variable scope is that of all columns that share the table; their ops have names of their own.
        with ops.name_scope(None, default_name=self.name):
            sparse_tensors = self.categorical_column._get_sparse_tensors(
                inputs, weight_collections=weight_collections, trainable=trainable
            )
            shared = ops.get_collection(self.shared_embedding_collection_name)
            if len(shared) > 1:
                raise ValueError(
                    f"Collection {self.shared_embedding_collection_name!r} must hold the shared embedding alone, got {shared}"
                )
            if shared:
                table = shared[0]
            else:
                table = tables.source_of(self).table(
                    "embedding_weights",
                    self.dimension,
                    self.initializer,
                    self.trainable and trainable,
                    weight_collections,
                )
                ops.add_to_collection(self.shared_embedding_collection_name, table)
            if self.ckpt_to_load_from is not None:
                target = list(table) if isinstance(table, variables.PartitionedVariable) else table
                checkpoint_utils.init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt: target})
            with fusion.of_column(self):
                return embedding_ops.safe_embedding_lookup_sparse(
                    table,
                    sparse_tensors.id_tensor,
                    sparse_tensors.weight_tensor,
                    combiner=self.combiner,
                    name=f"{self.name}_weights",
                    max_norm=self.max_norm,
                )


def check_shareable(sources) -> None:
    def asked(source):
        fields = {k: v for k, v in source._asdict().items() if k not in ("key", "ev_option")}
        option = getattr(source, "ev_option", None)
        return fields, None if option is None else getter.table_config(option)

    if sources[0].needs_mask:
        raise ValueError(f"Adaptive columns cannot share embeddings, got {sources[0]!r}")
    for other in sources[1:]:
        if asked(other) != asked(sources[0]):
            raise ValueError(
                f"Columns that share an embedding must have equal options, got {sources[0]!r} and {other!r}"
            )
