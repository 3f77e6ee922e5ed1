"""Combined sparse lookups of many columns in one op, forward and backward.

A column that the op has no form for (the combiner "tile", tables that are made of several variables, parts on several devices)
is looked up by itself, with the same result.
"""

import dataclasses
import itertools
import numbers
from collections.abc import Iterable

from tensorflow.deeprec import library
from tensorflow.deeprec.embedding import combine, control_flow, fusion, tables
from tensorflow.deeprec.embedding import lookup as lookup_lib
from tensorflow.deeprec.embedding.variable import EmbeddingVariable
from tensorflow.python.framework import dtypes, indexed_slices, ops
from tensorflow.python.ops import array_ops, embedding_ops, math_ops, resource_variable_ops, variables

_DTYPES = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
_PER_COLUMN = (
    "dims",
    "parts",
    "kinds",
    "strategies",
    "combiners",
    "max_norms",
    "prune",
    "fill_empty",
    "default_ids",
    "has_weights",
    "touch_first",
)


@dataclasses.dataclass
class Column:
    """One lookup.

    Attributes:
      params: table, variable, or list or PartitionedVariable of parts.
      ids: SparseTensor of keys, `[d_0, ..., d_n]`.
      weights: SparseTensor of floats, or None.
      combiner: "sum", "mean", "sqrtn" or "tile".
      max_norm: L2 norm to which rows are clipped, or None.
      default_id: what a row without ids reads; None: it is 0.
      prune: whether ids below 0 are left out, and, unless the combiner is "sum", weights that are not positive.
      partition_strategy: of ordinary variables, "mod" or "div".
      fills: whether the lookup this stands for fills rows without ids with id 0, which then gets a gradient of zeros.
    """

    params: object
    ids: object
    weights: object = None
    combiner: str = "mean"
    max_norm: float | None = None
    default_id: int | None = None
    prune: bool = False
    partition_strategy: str = "mod"
    fills: bool = False


def lookup(columns: list[Column], name=None) -> list:
    """Looks all columns up: for each `[d_0, ..., d_{n-1}, dim]`; see Column."""
    results = [None] * len(columns)
    groups = {}
    for i, column in enumerate(columns):
        parts = parts_of(column.params)
        key = group_of(column, parts)
        if key is None:
            results[i] = _alone(column)
        else:
            groups.setdefault(key, []).append((i, column, parts))
    with ops.name_scope(name, "group_embedding_lookup"):
        for members in groups.values():
            for (i, *_), rows in zip(members, _in_one_op(members)):
                results[i] = rows
    return results


def parts_of(params) -> list:
    parts = list(params) if isinstance(params, (list, tuple, variables.PartitionedVariable)) else [params]
    if len(parts) == 1 and isinstance(parts[0], variables.PartitionedVariable):
        parts = list(parts[0])
    return tables.parts_of(parts) if tables.is_table(parts) else parts


def group_of(column: Column, parts):
    """What columns of one op have in common, (device, dtype); None if the op can not do this one."""
    first = parts[0]
    if column.combiner == "tile" or column.partition_strategy not in ("mod", "div"):
        return None
    if column.prune and tables.takes_negative_keys(column.params):
        # The op prunes ids below 0, whatever they mean.
        return None
    if isinstance(first, EmbeddingVariable):
        fits = not first.counts_in_lookups
    else:
        fits = all(
            isinstance(part, (variables.RefVariable, resource_variable_ops.BaseResourceVariable))
            and not tables.is_table(part)
            and part.shape.rank == 2
            and part.shape[1] is not None
            for part in parts
        )
    if not fits or first.dtype.base_dtype not in _DTYPES or column.ids.dtype not in (dtypes.int32, dtypes.int64):
        return None
    devices = {part.device for part in parts}
    return (devices.pop(), first.dtype.base_dtype) if len(devices) == 1 else None


def _alone(column: Column):
    """The composed lookup."""
    arguments = {
        "combiner": column.combiner,
        "default_id": column.default_id,
        "partition_strategy": column.partition_strategy,
        "max_norm": column.max_norm,
    }
    if tables.is_table(column.params) or column.combiner == "tile" or not column.prune:
        return lookup_lib.safe_lookup_sparse(column.params, column.ids, column.weights, prune=column.prune, **arguments)
    with fusion.none():
        return embedding_ops.safe_embedding_lookup_sparse(column.params, column.ids, column.weights, **arguments)


def _table_inputs(parts):
    if isinstance(parts[0], variables.RefVariable):
        return "tensor", [ops.convert_to_tensor(part) for part in parts]
    return "ev" if isinstance(parts[0], EmbeddingVariable) else "resource", [part.handle for part in parts]


def describe(members) -> tuple[dict, dict]:
    """Inputs, lists by their names, and attributes of the op for columns (_, Column, parts)."""
    attributes = {name: [] for name in _PER_COLUMN}
    inputs = {name: [] for name in ("tables", "indices", "values", "shapes", "weights")}
    for _, column, parts in members:
        kind, of_parts = _table_inputs(parts)
        inputs["tables"] += of_parts
        inputs["indices"].append(column.ids.indices)
        inputs["values"].append(math_ops.cast(column.ids.values, dtypes.int64))
        inputs["shapes"].append(column.ids.dense_shape)
        if column.weights is not None:
            inputs["weights"].append(math_ops.cast(column.weights.values, dtypes.float32))
        for name, value in {
            "dims": int(parts[0].shape[-1]),
            "parts": len(parts),
            "kinds": kind,
            "strategies": column.partition_strategy,
            "combiners": column.combiner,
            "max_norms": 0.0 if column.max_norm is None else float(column.max_norm),
            "prune": column.prune,
            "fill_empty": column.default_id is not None,
            "default_ids": column.default_id or 0,
            "has_weights": column.weights is not None,
            "touch_first": column.fills and column.default_id is None and kind != "ev",
        }.items():
            attributes[name].append(value)
    return inputs, attributes


def _in_one_op(members) -> list:
    first = members[0][2][0]
    with ops.device(None), embedding_ops._colocate_with(first):
        inputs, attributes = describe(members)
        for _, column, parts in members:
            for part in parts if isinstance(parts[0], EmbeddingVariable) else ():
                part._count(column.ids.values, None)  # pylint: disable=protected-access
        rows = library.ops().group_embedding_lookup(**inputs, T=first.dtype.base_dtype, **attributes)
    fusion.made(rows[0].op)
    # The caller's device may be another than the tables'.
    return [array_ops.identity(of_column) for of_column in rows]


def attributes_of(op, prefix="") -> dict:
    """The lists of a GroupEmbeddingLookup, or of a mark of one, that have an element for each column."""
    attributes = {name: list(op.get_attr(prefix + name)) for name in _PER_COLUMN}
    for name in ("kinds", "strategies", "combiners"):
        attributes[name] = [value.decode() for value in attributes[name]]
    return attributes


def inputs_of(inputs, attributes) -> dict:
    """The inputs of a GroupEmbeddingLookup as lists by their names."""
    n = len(attributes["parts"])
    inputs = iter(inputs)
    sizes = {
        "tables": sum(attributes["parts"]),
        "indices": n,
        "values": n,
        "shapes": n,
        "weights": sum(attributes["has_weights"]),
    }
    return {name: list(itertools.islice(inputs, size)) for name, size in sizes.items()}


@ops.RegisterGradient("GroupEmbeddingLookup")
def _gradient(op, *grads):
    attributes = attributes_of(op)
    return gradients(op, inputs_of(op.inputs, attributes), attributes, zip(grads, op.outputs))


def gradients(op, inputs, attributes, grads, of_keys=None) -> list:
    """Gradients of the inputs of a lookup.

    Args:
      op: what they are colocated with.
      inputs, attributes: of the lookup.
      grads: pairs (gradient or None, rows) of its outputs.
      of_keys: called with the op that makes the gradients of the tables.
    """
    weights = inputs["weights"]
    kinds = [kind for kind, parts in zip(attributes["kinds"], attributes["parts"]) for _ in range(parts)]
    for kind, table in zip(kinds, inputs["tables"]):
        if kind == "ev":
            control_flow.check_gradient_of_table(table)
    # Where the tables are: a device function would take these ops for a worker's.
    with ops.device(None), ops.colocate_with(op, ignore_existing=True):
        grads = [array_ops.zeros_like(rows) if grad is None else ops.convert_to_tensor(grad) for grad, rows in grads]
        common = dict(grads=grads, **inputs, **attributes)
        keys, row_grads = library.ops().group_embedding_lookup_grad(**common, P=len(inputs["tables"]))
        if of_keys is not None:
            of_keys(keys[0].op)
        of_tables = [
            indexed_slices.IndexedSlices(rows, of_part, _dense_shape(kind, table))
            for kind, table, of_part, rows in zip(kinds, inputs["tables"], keys, row_grads)
        ]
        # A node of its own, which does not run unless somebody wants the weights' gradients.
        of_weights = list(library.ops().group_embedding_lookup_weights_grad(**common)) if weights else []
    return [*of_tables, *[None] * (3 * len(attributes["parts"])), *of_weights]


def _dense_shape(kind, table):
    if kind == "ev":
        return library.ops().kv_variable_shape(table, out_type=dtypes.int32)
    if kind == "resource":
        return resource_variable_ops.variable_shape(table)
    return array_ops.shape(table)


def _checked_column(
    params, sp_ids, sp_weights, combiner, partition_strategy, max_norm=None, default_id=None, **fields
) -> Column:
    """A Column of a user's arguments.

    Raises:
      TypeError: ids or weights are not sparse, max_norm is no number, default_id no whole one.
      ValueError: an argument does not fit.
    """
    lookup_lib.check_strategy(partition_strategy)
    if max_norm is not None and not isinstance(max_norm, numbers.Real):
        raise TypeError(f"max_norm must be a number, or None, got {max_norm!r}")
    if max_norm is not None and not max_norm > 0:
        raise ValueError(f"max_norm must be positive, or None, got {max_norm!r}")
    if default_id is not None and not hasattr(default_id, "__index__"):
        raise TypeError(f"default_id must be a whole number, or None, got {default_id!r}")
    ids, weights = lookup_lib.sparse_arguments(sp_ids, sp_weights)
    return Column(
        params,
        ids,
        weights,
        combine.checked(combiner),
        max_norm=max_norm,
        default_id=default_id,
        partition_strategy=partition_strategy,
        **fields,
    )


def _listed(values) -> list:
    return list(values) if isinstance(values, Iterable) else [values]


def group_embedding_lookup_sparse(params, sp_ids, combiners, partition_strategy="mod", sp_weights=None, name=None):
    """Many `tf.nn.embedding_lookup_sparse` at once, in one op for the tables of a device and dtype.

    Args:
      params: list of n tables or ordinary variables, each whole or partitioned.
      sp_ids: list of n SparseTensors or RaggedTensors of keys, `[rows_i, columns_i]`.
      combiners: list of n of "sum", "mean", "sqrtn" and "tile", or one for all; None: "mean".
      partition_strategy: how the keys of ordinary variables are spread over their parts, "mod" or "div".
      sp_weights: list of n SparseTensors of floats or None, as `sp_ids`; None: 1 for all.
      name: name of the ops.

    Returns:
      List of n Tensors `[rows_i, dim_i]`; a row without ids is 0.

    Raises:
      TypeError: ids or weights are not sparse.
      ValueError: the lists are of different lengths, or an argument does not fit.
    """
    params = list(params) if isinstance(params, (list, tuple)) else [params]
    sp_ids = list(sp_ids) if isinstance(sp_ids, (list, tuple)) else [sp_ids]
    combiners = [combiners] * len(params) if combiners is None or isinstance(combiners, str) else _listed(combiners)
    sp_weights = [None] * len(params) if sp_weights is None else _listed(sp_weights)
    for argument, values in (("sp_ids", sp_ids), ("combiners", combiners), ("sp_weights", sp_weights)):
        if len(values) != len(params):
            raise ValueError(
                f"{argument} must have one element for each of the {len(params)} params, got {len(values)}"
            )
    columns = [
        _checked_column(*of_column, partition_strategy) for of_column in zip(params, sp_ids, sp_weights, combiners)
    ]
    return lookup(columns, name)


def fused_embedding_lookup_sparse(
    params,
    sp_ids,
    sparse_weights=None,
    partition_strategy=None,
    name=None,
    combiner=None,
    max_norm=None,
    default_id=None,
    prune_invalid_ids=False,
    fill_empty_row=True,
    blocknums=None,
):
    """`tf.nn.embedding_lookup_sparse` in one op.

    Args:
      params: table or ordinary variable, whole or partitioned.
      sp_ids: SparseTensor or RaggedTensor of keys, `[rows, columns]`.
      sparse_weights: the same of floats, or None.
      partition_strategy: of ordinary variables, "mod" or "div"; None: "div".
      name: name of the op.
      combiner: "sum", "mean", "sqrtn" or "tile"; None: "mean".
      max_norm: L2 norm to which rows are clipped before they are combined, or None.
      default_id: what a row without ids reads, if `fill_empty_row`; None: such a row is 0.
      prune_invalid_ids: whether ids below 0 are left out, and, unless the combiner is "sum", weights that are not positive.
      fill_empty_row: whether default_id counts.
      blocknums: must be None: for tables of dynamic dimension there is `tf.nn.embedding_lookup_sparse`.

    Returns:
      `[rows, dim]`.

    Raises:
      TypeError: sp_ids or sparse_weights are not sparse, max_norm is no number, default_id no whole one.
      ValueError: an argument does not fit.
    """
    if blocknums is not None:
        raise ValueError(f"blocknums must be None in a fused lookup, got {blocknums!r}")
    column = _checked_column(
        params,
        sp_ids,
        sparse_weights,
        combiner,
        "div" if partition_strategy is None else partition_strategy,
        max_norm,
        default_id=default_id if fill_empty_row else None,
        prune=bool(prune_invalid_ids),
    )
    return lookup([column], name)[0]


def fused_safe_embedding_lookup_sparse(
    embedding_weights,
    sparse_ids,
    sparse_weights=None,
    combiner="mean",
    default_id=None,
    name=None,
    partition_strategy="div",
    max_norm=None,
    prune=True,
):
    """`tf.nn.safe_embedding_lookup_sparse` in one op.

    Args:
      embedding_weights: table or ordinary variable, whole or partitioned.
      sparse_ids: SparseTensor or RaggedTensor of keys, `[d_0, ..., d_n]`.
      sparse_weights: the same of floats, or None.
      combiner, default_id, partition_strategy, max_norm, prune: as there.
      name: name of the op.

    Returns:
      `[d_0, ..., d_{n-1}, dim]`.

    Raises:
      TypeError: sparse_ids or sparse_weights are not sparse, max_norm is no number, default_id no whole one.
      ValueError: an argument does not fit.
    """
    return lookup(
        [
            safe_column(
                embedding_weights, sparse_ids, sparse_weights, combiner, default_id, partition_strategy, max_norm, prune
            )
        ],
        name,
    )[0]


def safe_column(
    embedding_weights, sparse_ids, sparse_weights, combiner, default_id, partition_strategy, max_norm, prune=True
) -> Column:
    """The Column of a `safe_embedding_lookup_sparse`; arguments and errors as there."""
    lookup_lib.check_given(embedding_weights)
    return _checked_column(
        embedding_weights,
        sparse_ids,
        sparse_weights,
        combiner,
        partition_strategy,
        max_norm,
        default_id=default_id,
        prune=bool(prune),
        fills=True,
    )
