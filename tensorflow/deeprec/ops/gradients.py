"""Gradients of the ops in this folder. The wrappers of ops are made when the first gradient is."""

from tensorflow.deeprec import library
from tensorflow.python.framework import indexed_slices, ops
from tensorflow.python.ops import array_ops, math_ops

_WITHOUT = (
    "DenseDecode",
    "FusedL2NormalizeGrad",
    "FusedLayerNormGrad",
    "GeluGrad",
    "KV2DenseDecode",
    "KV2SparseDecode",
    "LogicalSum",
    "SparseDecode",
    "SparseInnerFlatten",
    "StringSplitAndPad",
    "StringToHash",
    "StringToHash64",
    "TransCsvID2Dense",
    "TransCsvID2Sparse",
    "TransCsvKV2Dense",
    "TransCsvKV2Sparse",
    "TransCsvToDense",
)


def _gelu(op, grad):
    return library.ops().gelu_grad(grad, op.inputs[0], approximate=op.get_attr("approximate"))


def _l2_normalize(op, grad):
    attributes = {name: op.get_attr(name) for name in ("axis", "epsilon")}
    return library.ops().fused_l2_normalize_grad(grad, op.inputs[0], **attributes)


def _layer_norm(op, grad, *_):
    # mean and rvariance are there for this function alone.
    x, gamma, _ = op.inputs
    return list(library.ops().fused_layer_norm_grad(grad, x, op.outputs[1], op.outputs[2], gamma))


def _dice(op, grad):
    x, mean, rvar, gamma = op.inputs
    gate = math_ops.sigmoid((x - mean) * rvar)
    slope = grad * x * (1 - gamma) * gate * (1 - gate)  # of the argument of the sigmoid

    def columns(of_elements):
        return math_ops.reduce_sum(array_ops.reshape(of_elements, [-1, array_ops.shape(gamma)[0]]), 0)

    return [
        grad * (gate + (1 - gate) * gamma) + slope * rvar,
        columns(-slope * rvar),
        columns(slope * (x - mean)),
        columns(grad * x * (1 - gate)),
    ]


def _stitch(op, grad):
    if isinstance(grad, indexed_slices.IndexedSlices):
        grad = ops.convert_to_tensor(grad)
    indices = op.inputs[: op.get_attr("N")]
    return [None] * len(indices) + [array_ops.gather(grad, i) for i in indices]


def _choice(positions_of):
    """The gradient of an op that chooses among the values; `positions_of(op, positions)` chooses likewise."""

    def gradient(op, _, grad, __):
        count = array_ops.size(op.inputs[1], out_type="int64")
        chosen = positions_of(op, math_ops.range(count))
        return None, math_ops.unsorted_segment_sum(grad, chosen, count), None

    return gradient


def _cut_positions(op, positions):
    attributes = {name: op.get_attr(name) for name in ("axis", "length", "side")}
    return library.ops().sparse_valid_cutoff(op.inputs[0], positions, op.inputs[2], **attributes)[1]


def _reversed_positions(op, positions):
    return library.ops().sparse_reverse(op.inputs[0], positions, op.inputs[2], axis=op.get_attr("axis"))[1]


def register() -> None:
    """Registers all of them; once."""
    for name, function in {
        "Dice": _dice,
        "DynamicStitchFast": _stitch,
        "FusedL2Normalize": _l2_normalize,
        "FusedLayerNorm": _layer_norm,
        "Gelu": _gelu,
        "SparseReverse": _choice(_reversed_positions),
        "SparseValidCutoff": _choice(_cut_positions),
    }.items():
        ops.RegisterGradient(name)(function)
    for name in _WITHOUT:
        ops.NotDifferentiable(name)
