"""Batch normalization in one op: `tf.nn.moments` and `tf.nn.batch_normalization` of one tensor, as `tf.layers.batch_normalization` has them.

Of matrices the layer makes nine small ops, and twenty for its gradient, each of which reads and writes the whole batch. With a mark
beside them (`deeprec/marks`) one op does it, and one its gradient: see `core/nn/batch_norm.h`. `training` may be a tensor. Left as
they are: moments of other axes, of other types than float32, and the ops that images have already (`fused_batch_norm`).
"""

import functools
import itertools
from typing import List, NamedTuple, Optional, Tuple

from tensorflow.deeprec import library, settings
from tensorflow.deeprec.marks import mark as marks
from tensorflow.deeprec.stage.uncounted import uncounted
from tensorflow.python.framework import constant_op, dtypes, ops, tensor_util
from tensorflow.python.framework.tensor import Tensor
from tensorflow.python.ops import array_ops, gen_resource_variable_ops, math_ops, nn_impl

KIND = "batch_norm"

# Looked through for where gamma and beta come from.
_MOST_OPS = 200

# Attribute of a graph: from a mean's reference to (x, mean, variance) of a call of `moments` that a normalization may belong to.
_MOMENTS = "_deeprec_moments"


def replacements() -> list:
    """Pairs (released function, what takes its place)."""
    if {KIND, "all"} & settings.DISABLED_FUSIONS:
        return []
    return [
        (nn_impl.moments, _moments(nn_impl.moments)),
        (nn_impl.batch_normalization, _batch_normalization(nn_impl.batch_normalization)),
    ]


def _moments(released):
    @functools.wraps(released)
    def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
        mean, variance = released(x, axes, shift, name, keep_dims, keepdims)
        if marks.may_put() and _are_of_columns(x, axes, mean):
            graph = ops.get_default_graph()
            if not hasattr(graph, _MOMENTS):
                setattr(graph, _MOMENTS, {})
            getattr(graph, _MOMENTS)[mean.ref()] = (x, mean, variance)
        return mean, variance

    return moments


def _are_of_columns(x, axes, mean) -> bool:
    """Whether the axes are all but the last, and the moments a vector."""
    if not isinstance(x, Tensor) or x.dtype != dtypes.float32 or mean.shape.rank != 1:
        return False
    axes = tensor_util.constant_value(axes) if isinstance(axes, Tensor) else axes
    if axes is None or x.shape.rank is None or x.shape.rank < 2:
        return False
    axes = axes.ravel().tolist() if hasattr(axes, "ravel") else [axes] if isinstance(axes, int) else list(axes)
    if not all(isinstance(axis, int) for axis in axes):
        return False
    return sorted({axis % x.shape.rank for axis in axes}) == list(range(x.shape.rank - 1))


def _batch_normalization(released):
    @functools.wraps(released)
    def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
        y = released(x, mean, variance, offset, scale, variance_epsilon, name)
        if marks.may_put() and isinstance(variance_epsilon, float):
            moments = _read(x, mean, variance)
            vectors = moments and _vectors(y, x, offset is not None, scale is not None)
            if vectors is not None:
                _mark(y, x, moments, vectors, variance_epsilon)
        return y

    return batch_normalization


class _Moments(NamedTuple):
    """Of a batch; and, where a condition chooses between them and moving ones, those, its predicate with them."""

    mean: Tensor
    variance: Tensor
    moving: Tuple = ()
    training: Tuple = ()


def _read(x, mean, variance) -> Optional[_Moments]:
    """Where the arguments of a normalization come from: `moments` of the same tensor, maybe through a condition."""
    known = getattr(ops.get_default_graph(), _MOMENTS, {})
    choices = [_choice(tensor) if isinstance(tensor, Tensor) else None for tensor in (mean, variance)]
    if None in choices:
        return None
    found = known.get(choices[0].of_batch.ref())
    if not found or found[0] is not x or found[2] is not choices[1].of_batch or choices[0].pred is not choices[1].pred:
        return None
    if choices[0].pred is None:
        return _Moments(mean, variance)
    with uncounted(ops.get_default_graph()), ops.name_scope("batch_norm"):
        moving = tuple(
            gen_resource_variable_ops.read_variable_op(choice.moving, dtypes.float32)
            if choice.moving.dtype == dtypes.resource
            else choice.moving
            for choice in choices
        )
    if any(tensor.shape.rank != 1 or tensor.dtype != dtypes.float32 for tensor in moving):
        return None
    return _Moments(found[1], found[2], moving, (choices[0].pred,))


class _Choice(NamedTuple):
    """of_batch, or moving (the tensor, or the handle of its variable) if pred is false; the latter two are None without a condition."""

    of_batch: Tensor
    moving: Optional[Tensor] = None
    pred: Optional[Tensor] = None


def _choice(tensor) -> Optional[_Choice]:
    """What tf.cond made of two tensors from outside of it."""
    if tensor.op.type != "Merge":
        return _Choice(tensor)
    if len(tensor.op.inputs) != 2:
        return None
    if_not, if_so = (_switched(branch) for branch in tensor.op.inputs)
    if if_not is None or if_so is None or (if_not.value_index, if_so.value_index) != (0, 1):
        return None
    # Each condition has an Identity of its own of its predicate.
    preds = [_past(("Identity",), branch.op.inputs[1]) for branch in (if_not, if_so)]
    return _Choice(if_so.op.inputs[0], if_not.op.inputs[0], preds[0]) if preds[0] is preds[1] else None


def _switched(tensor) -> Optional[Tensor]:
    """The output of a Switch that a branch hands on, or reads a variable from, without waiting for anything on the way."""
    while tensor.op.type in ("Identity", "ReadVariableOp"):
        if not all(map(_is_pivot, tensor.op.control_inputs)):
            # An update of moving averages, which the one op would leave out.
            return None
        tensor = tensor.op.inputs[0]
    return tensor if tensor.op.type == "Switch" else None


def _is_pivot(op) -> bool:
    """Whether it stands for a branch as a whole."""
    return op.type == "Identity" and op.inputs[0].op.type == "Switch"


def _past(types, tensor) -> Tensor:
    while tensor.op.type in types:
        tensor = tensor.op.inputs[0]
    return tensor


def _vectors(y, x, shifted: bool, scaled: bool) -> Optional[Tuple[List, List]]:
    """The tensors that scale and offset became, in y = x inv + (offset - mean inv)."""
    if y.op.type != "AddV2" or [tensor.op.type for tensor in y.op.inputs] != ["Mul", "Sub" if shifted else "Mul"]:
        return None
    product, summand = (tensor.op for tensor in y.op.inputs)
    inverse = product.inputs[1].op
    if product.inputs[0] is not x or inverse.type != ("Mul" if scaled else "Rsqrt"):
        return None
    scale, offset = [inverse.inputs[1]] if scaled else [], [summand.inputs[0]] if shifted else []
    if any(vector.shape.rank != 1 or vector.dtype != x.dtype for vector in scale + offset):
        return None
    # Batch renormalization scales by what it computes of the moments: the op would wait for itself.
    return (scale, offset) if _come_from_elsewhere(scale + offset, x) else None


def _come_from_elsewhere(vectors, x) -> bool:
    """Whether no op on the way to `vectors` reads x. Where they are no variables or little more, nobody looks further."""
    found, ahead = set(), [vector.op for vector in vectors]
    while ahead:
        op = ahead.pop()
        if op in found:
            continue
        found.add(op)
        if len(found) > _MOST_OPS or any(tensor is x for tensor in op.inputs):
            return False
        ahead.extend(tensor.op for tensor in op.inputs)
    return True


def _mark(y, x, moments: _Moments, vectors, epsilon: float) -> None:
    parts = [*vectors, moments.moving, moments.training]
    with ops.name_scope("batch_norm"):
        marks.put(
            KIND,
            [y, moments.mean, moments.variance],
            [x, *(tensor for part in parts for tensor in part)],
            {"epsilon": epsilon, "sizes": [len(part) for part in parts]},
        )


@marks.register(KIND)
def _gradient(mark, *grads):
    reads = iter(marks.reads_of(mark))
    x, *parts = (list(itertools.islice(reads, size)) for size in (1, *mark.get_attr(marks.attribute(KIND, "sizes"))))
    moments = mark.outputs[1:3]
    grads = [
        array_ops.zeros_like(tensor) if grad is None else ops.convert_to_tensor(grad)
        for grad, tensor in zip(grads, (*x, *moments))
    ]
    of = library.ops().batch_normalization_grad(
        *grads, *moments, *x, *parts, epsilon=mark.get_attr(marks.attribute(KIND, "epsilon"))
    )
    return [of.x_grad, *of.gamma_grad, *of.beta_grad, *of.moving_grad, *[None] * len(parts[-1])]


@ops.RegisterGradient("BatchNormalizationGrad")
def _second_derivative(op, *grads):
    from tensorflow.python.ops import gradients_impl

    inputs = list(op.inputs)
    pairs = [(result, grad) for result, grad in zip(_composed(op), grads) if grad is not None]
    results, grads = zip(*pairs)
    # The moments are inputs of their own here: how they depend on x is the mark's affair.
    return gradients_impl.gradients(list(results), inputs, list(grads), stop_gradients=inputs)


def _composed(op) -> list:
    """The outputs of a BatchNormalizationGrad by its formula, core/nn/batch_norm.h, in ops that have gradients."""
    inputs = iter(op.inputs)
    fixed, *parts = (
        list(itertools.islice(inputs, size)) for size in (6, *(op.get_attr(name) for name in ("G", "B", "M", "F")))
    )
    dy, dmean, dvariance, mean, variance, x = fixed
    gamma, beta, moving, training = parts
    by_mean, by_variance = mean, variance
    is_batch = constant_op.constant(1.0)
    if moving:
        is_batch = math_ops.cast(training[0], x.dtype)
        by_mean = is_batch * mean + (1.0 - is_batch) * moving[0]
        by_variance = is_batch * variance + (1.0 - is_batch) * moving[1]
    axes = list(range(x.shape.rank - 1))
    rows = math_ops.cast(array_ops.size(x) // array_ops.size(mean), x.dtype)
    inverse = math_ops.rsqrt(by_variance + op.get_attr("epsilon"))
    scale = inverse * gamma[0] if gamma else inverse
    dbeta = math_ops.reduce_sum(dy, axes)
    dgamma = math_ops.reduce_sum(dy * (x - by_mean), axes) * inverse
    dm, dv = -scale * dbeta, -0.5 * scale * inverse * dgamma
    dx = scale * dy + (dmean + is_batch * dm + 2.0 * (x - mean) * (dvariance + is_batch * dv)) / rows
    of_moving = [(1.0 - is_batch) * dm, (1.0 - is_batch) * dv] if moving else []
    return [dx, *([dgamma] if gamma else []), *([dbeta] if beta else []), *of_moving]
