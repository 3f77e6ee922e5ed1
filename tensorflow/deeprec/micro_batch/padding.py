"""What `padded_batch` has padded the rows of an iterator with: batches of other inner sizes are made equal by the same value."""

from tensorflow.python.framework import dtypes, tensor_util

_TYPES = ("PaddedBatchDataset", "PaddedBatchDatasetV2")


def values(graph) -> dict:
    """Dtype -> padding value, for the dtypes that all `padded_batch` of the graph and its functions pad with the same constant."""
    found = {}
    for op in graph.get_operations():
        if op.type in _TYPES:
            _note(found, op.node_def, [tensor_util.constant_value(tensor) for tensor in op.inputs])
    # One-shot iterators make their dataset in a function, `bucket_by_sequence_length` its batches.
    for function in (known.cached_definition for known in graph._functions.values()):
        if any(node.op in _TYPES for node in function.node_def):
            constants = {
                node.name: tensor_util.MakeNdarray(node.attr["value"].tensor)
                for node in function.node_def
                if node.op == "Const"
            }
            for node in function.node_def:
                if node.op in _TYPES:
                    inputs = [name for name in node.input if not name.startswith("^")]
                    _note(found, node, [constants.get(name.split(":")[0]) for name in inputs])
    return {dtype: next(iter(seen)) for dtype, seen in found.items() if len(seen) == 1 and None not in seen}


def _note(found: dict, node, inputs: list) -> None:
    """Adds the values of one op to `found`, dtype -> set of values, None for an unknown one. `inputs`: constants or None."""
    kinds, shapes = node.attr["Toutput_types"].list.type, node.attr["output_shapes"].list.shape
    # Before them: the dataset, the batch size, a shape for each component.
    for kind, shape, value in zip(kinds, shapes, inputs[2 + len(kinds) :]):
        if shape.unknown_rank or any(dim.size < 0 for dim in shape.dim[1:]):
            found.setdefault(dtypes.as_dtype(kind), set()).add(None if value is None else value.item())
