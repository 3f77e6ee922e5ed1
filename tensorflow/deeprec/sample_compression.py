"""`tf.graph_optimizer.enable_sample_awared_graph_compression`: the user's side of a ranking model runs once for all candidates.

A request ranks many items for one user. What depends on the user's inputs alone is computed on the single row that they have;
where it meets what depends on the items, the row is repeated.
"""

from tensorflow.deeprec import rewiring
from tensorflow.python.framework import composite_tensor, dtypes, ops
from tensorflow.python.framework import tensor as tensor_lib
from tensorflow.python.ops import array_ops, math_ops
from tensorflow.python.util import nest

# Their results are about the number of rows, or about which rows there are, and not rows themselves.
_ABOUT_ROWS = ("Shape", "ShapeN", "Size", "Unique", "UniqueV2", "UniqueWithCounts", "Where")


def enable_sample_awared_graph_compression(user_tensors, item_tensors, item_size) -> None:
    """Makes the default graph rank `item_size` items for one user in a run.

    Call it when the graph is built, before a session runs it. Then feed the user's inputs with one row and the items' with
    `item_size` rows; what depends on items has `item_size` rows, what depends on the user alone has one.

    Args:
      user_tensors: inputs of the user's side, tensors and SparseTensors `[1, ...]`, or a nest of them.
      item_tensors: inputs of the items' side, likewise `[item_size, ...]`.
      item_size: number of items, an int or an integer scalar tensor.

    Raises:
      TypeError: something else is among the tensors.
      ValueError: there are no tensors of a side, a tensor is on both, or something of the user's side that has no rows to repeat
        (sparse indices, a shape) is read together with an item.
    """
    users, items = _operations("user_tensors", user_tensors), _operations("item_tensors", item_tensors)
    if users & items:
        raise ValueError(
            f"user_tensors and item_tensors must differ, got {sorted(op.name for op in users & items)} in both"
        )
    size = ops.convert_to_tensor(item_size, name="item_size")
    if not size.dtype.is_integer or size.shape.rank not in (0, None):
        raise ValueError(f"item_size must be an integer scalar, got {size.dtype.name} of shape {size.shape}")
    of_items, of_users = _reached(items), _reached(users)
    sparse = _sparse_parts(user_tensors)
    about_rows = _reached({op for op in of_users if op.type in _ABOUT_ROWS} | sparse)
    edges = {}
    for op in of_users - of_items:
        for tensor in op.outputs:
            readers = [reader for reader in tensor.consumers() if reader in of_items]
            if readers:
                _check_rows(tensor, readers[0], op in about_rows, op in sparse)
                if tensor.shape.rank != 0:
                    edges[tensor.ref()] = readers
    with rewiring.opened(size.graph), ops.name_scope("sample_compression/"):
        rows = array_ops.zeros([math_ops.cast(size, dtypes.int32)], dtypes.int32)
        for reference, readers in edges.items():
            tensor = reference.deref()
            repeated = array_ops.gather(tensor, rows)
            for reader in readers:
                rewiring.redirect(reader, tensor, repeated)


def _operations(argument: str, tensors) -> set:
    """The operations of the tensors in a nest."""
    found = set()
    for tensor in nest.flatten(tensors, expand_composites=True):
        if not isinstance(tensor, tensor_lib.Tensor):
            raise TypeError(f"{argument} must be tensors or SparseTensors, got {tensor!r}")
        found.add(tensor.op)
    if not found:
        raise ValueError(f"{argument} must be at least one tensor, got {tensors!r}")
    return found


def _sparse_parts(tensors) -> set:
    composites = [t for t in nest.flatten(tensors) if isinstance(t, composite_tensor.CompositeTensor)]
    return {part.op for part in nest.flatten(composites, expand_composites=True)}


def _reached(operations: set) -> set:
    """These operations and all that depend on them."""
    found, stack = set(operations), list(operations)
    while stack:
        for tensor in stack.pop().outputs:
            for reader in tensor.consumers():
                if reader not in found:
                    found.add(reader)
                    stack.append(reader)
    return found


def _check_rows(tensor, reader, about_rows: bool, sparse: bool) -> None:
    """Floats of any origin, and texts and numbers that are rows as they were fed, can be repeated."""
    shape = tensor.shape
    fits = shape.rank == 0 or (shape.rank is not None and shape.dims[0].value in (None, 1))
    if sparse or not fits or (about_rows and not tensor.dtype.is_floating):
        raise ValueError(
            f"{tensor.name}, of the user's side, is read by {reader.name} together with items, and is not one row for the user: "
            f"got {tensor.dtype.name} of shape {shape}{', of a SparseTensor or a shape' if sparse or about_rows else ''}; expected "
            "a tensor whose first dimension are rows"
        )
