"""`tf.nn.embedding_lookup` and its sparse forms with DeepRec's arguments.

Ordinary variables go to the released functions, which know nothing of this; tables, and what the released ones cannot do,
go to `lookup`.
"""

import functools
import inspect

from tensorflow.deeprec.embedding import fusion, tables
from tensorflow.python.ops import embedding_ops, nn

_NAMES = ("embedding_lookup", "embedding_lookup_sparse", "safe_embedding_lookup_sparse")


def _only_for_tables(params, **arguments) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"{name} is for EmbeddingVariables, got it with {params!r}")


def _embedding_lookup(released):
    def embedding_lookup(
        params,
        ids,
        partition_strategy="mod",
        name=None,
        validate_indices=True,
        max_norm=None,
        ev_init_value=None,
        blocknums=None,
        counts=None,
    ):
        if not tables.is_table(params):
            _only_for_tables(params, ev_init_value=ev_init_value, blocknums=blocknums, counts=counts)
            return released(params, ids, partition_strategy, name, validate_indices, max_norm)
        from tensorflow.deeprec.embedding import lookup

        return lookup.lookup(
            params,
            ids,
            partition_strategy=partition_strategy,
            name=name,
            max_norm=max_norm,
            ev_init_value=ev_init_value,
            blocknums=blocknums,
            counts=counts,
        )

    return embedding_lookup


def _embedding_lookup_sparse(released):
    def embedding_lookup_sparse(
        params,
        sp_ids,
        sp_weights,
        partition_strategy="mod",
        name=None,
        combiner=None,
        max_norm=None,
        blocknums=None,
        allow_fast_lookup=False,
    ):
        if isinstance(blocknums, bool):
            # The 2.x form of the function passes its last argument by position.
            blocknums, allow_fast_lookup = None, blocknums
        if not tables.is_table(params):
            _only_for_tables(params, blocknums=blocknums)
            if combiner != "tile":
                return released(
                    params, sp_ids, sp_weights, partition_strategy, name, combiner, max_norm, allow_fast_lookup
                )
        from tensorflow.deeprec.embedding import lookup

        return lookup.lookup_sparse(params, sp_ids, sp_weights, partition_strategy, name, combiner, max_norm, blocknums)

    return embedding_lookup_sparse


def _safe_embedding_lookup_sparse(released):
    def safe_embedding_lookup_sparse(
        embedding_weights,
        sparse_ids,
        sparse_weights=None,
        combiner="mean",
        default_id=None,
        name=None,
        partition_strategy="div",
        max_norm=None,
        prune=True,
        allow_fast_lookup=False,
        blocknums=None,
    ):
        arguments = (embedding_weights, sparse_ids, sparse_weights, combiner, default_id, name)
        if fusion.is_on() and blocknums is None:
            from tensorflow.deeprec.embedding import group_lookup

            return group_lookup.fused_safe_embedding_lookup_sparse(*arguments, partition_strategy, max_norm, prune)
        if not tables.is_table(embedding_weights):
            _only_for_tables(embedding_weights, blocknums=blocknums)
            if combiner != "tile" and prune:
                rows = released(*arguments, partition_strategy, max_norm, allow_fast_lookup)
                from tensorflow.deeprec.embedding import lookup_marks

                lookup_marks.mark(rows, *arguments[:-1], partition_strategy, max_norm)
                return rows
        from tensorflow.deeprec.embedding import lookup

        return lookup.safe_lookup_sparse(*arguments, partition_strategy, max_norm, prune, blocknums)

    return safe_embedding_lookup_sparse


def install() -> None:
    """Puts them where the released functions are."""
    from tensorflow._api.v2.compat.v1 import nn as api

    makers = (_embedding_lookup, _embedding_lookup_sparse, _safe_embedding_lookup_sparse)
    for name, make in zip(_NAMES, makers):
        released = getattr(embedding_ops, name)
        function = make(released)
        signature = inspect.signature(function)
        # With the released one's dispatchers, which ragged tensors and other packages register with.
        functools.update_wrapper(function, released)
        function.__signature__ = signature
        for module in (embedding_ops, nn, api):
            setattr(module, name, function)
