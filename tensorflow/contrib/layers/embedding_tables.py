"""The tables of embedding columns: made or shared, looked up, and started from a checkpoint."""

from tensorflow.contrib.framework import checkpoint_utils
from tensorflow.contrib.framework import variables as contrib_variables
from tensorflow.contrib.layers import embedding_ops, layers
from tensorflow.deeprec.embedding import fusion, group_lookup, tables
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import (
    resource_variable_ops,
    variables,
)


def table_source(column):
    """The sparse column below weights and embeddings if it makes its own embedding, found by key; else None."""
    while column is not None and not hasattr(column, "table"):
        column = getattr(column, "sparse_id_column", None)
    return column


def _is_variable(v):
    return isinstance(v, (variables.Variable, resource_variable_ops.ResourceVariable))


def _shared_table(args, make):
    """The variable of a shared embedding, made once for each graph."""
    collection_name = "SHARED_EMBEDDING_COLLECTION_" + args.shared_embedding_name.upper()
    collection = ops.get_default_graph().get_collection_ref(collection_name)
    if not collection:
        collection.append(make(args.shared_embedding_name))
        return collection[0]
    if len(collection) > 1:
        raise ValueError(f"Collection {collection_name} must hold one variable, got {len(collection)}.")
    shape = [args.vocab_size, args.dimension]
    if tables.is_table(collection[0]):
        shape = [args.dimension]
        found = tables.parts_of(collection[0])[0].shape
    else:
        found = collection[0].get_shape()
    if found != shape:
        raise ValueError(
            f"The shared embedding {args.shared_embedding_name} exists with shape {found}, "
            f"but {shape} is needed: use another shared_embedding_name."
        )
    return collection[0]


def _embeddings_from_arguments(column, args, weight_collections, trainable, output_rank=2, blocknums=None):
    """Creates or finds a column's embedding and looks it up; a tensor of `output_rank`."""
    source = table_source(column)
    ids = layers._inner_flatten(args.input_tensor, output_rank)
    weights = None if args.weight_tensor is None else layers._inner_flatten(args.weight_tensor, output_rank)

    def make(name, shape=(args.vocab_size, args.dimension)):
        if source is not None:
            return source.table(
                name, args.dimension, args.initializer, trainable and args.trainable, weight_collections
            )
        return contrib_variables.model_variable(
            name=name,
            shape=list(shape),
            dtype=dtypes.float32,
            initializer=args.initializer,
            trainable=trainable and args.trainable,
            collections=weight_collections,
        )

    if args.hash_key:
        return embedding_ops.scattered_embedding_lookup_sparse(
            make("weights", [args.vocab_size]),
            ids,
            args.dimension,
            hash_key=args.hash_key,
            combiner=args.combiner,
            name="lookup",
        )
    embeddings = make("weights") if args.shared_embedding_name is None else _shared_table(args, make)
    if not tables.is_composite(embeddings):
        embeddings = [embeddings] if _is_variable(embeddings) else list(embeddings)
    elif column._checkpoint_path() is not None:
        raise ValueError(f"ckpt_to_load_from must be None for {column.name}, whose embedding has blocks.")
    _maybe_restore_from_checkpoint(column._checkpoint_path(), embeddings)
    if getattr(column, "fusion_scope", None) is not None and blocknums is None:
        with fusion.of_column(column):
            return group_lookup.fused_safe_embedding_lookup_sparse(
                embeddings, ids, weights, args.combiner, name=column.name + "weights", max_norm=args.max_norm
            )
    return embedding_ops.safe_embedding_lookup_sparse(
        embeddings,
        ids,
        sparse_weights=weights,
        combiner=args.combiner,
        name=column.name + "weights",
        max_norm=args.max_norm,
        blocknums=blocknums,
    )


def _maybe_restore_from_checkpoint(checkpoint_path, variable):
    if checkpoint_path is not None:
        path, tensor_name = checkpoint_path
        checkpoint_utils.init_from_checkpoint(path, {tensor_name: variable[0] if len(variable) == 1 else variable})
