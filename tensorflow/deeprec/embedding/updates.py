"""How an optimizer's step reaches an EmbeddingVariable."""

import functools

from tensorflow.deeprec import library
from tensorflow.deeprec.embedding import occurrences
from tensorflow.deeprec.embedding.variable import EmbeddingVariable
from tensorflow.python.framework import constant_op, dtypes, indexed_slices
from tensorflow.python.ops import array_ops, math_ops
from tensorflow.python.training import optimizer as optimizer_lib
from tensorflow.python.training import training_util

# The optimizer keeps here what `apply_gradients` was given, for as long as it builds its updates.
_GLOBAL_STEP = "_embedding_global_step"

# The method of an optimizer that updates an EmbeddingVariable, given the gradients `[n, dim]` of keys `[n]`.
STEP = "_apply_to_embedding_variable"
# The methods that hold an optimizer's formula for sparse gradients of ordinary variables.
_SPARSE_STEPS = frozenset(
    [
        "_apply_sparse",
        "_apply_sparse_duplicate_indices",
        "_apply_sparse_shared",
        "_resource_apply_sparse",
        "_resource_apply_sparse_duplicate_indices",
    ]
)
_WITH_STEP = "These do: GradientDescent, Adagrad, AdagradDecay, AdagradDecayV2, Adam, AdamAsync, AdamW, Ftrl, Momentum and RMSProp"


class EmbeddingVariableProcessor(optimizer_lib._OptimizableVariable):  # pylint: disable=protected-access
    """What `Optimizer.apply_gradients` asks about an EmbeddingVariable."""

    def __init__(self, variable: EmbeddingVariable):
        self._variable = variable

    def target(self):
        return self._variable

    def update_op(self, optimizer, g):
        variable = self._variable
        if not isinstance(g, indexed_slices.IndexedSlices):
            raise ValueError(
                f"The gradient of EmbeddingVariable {variable.name} must be tf.IndexedSlices (keys and rows), got {g!r}"
            )
        if variable.constraint is not None:
            raise RuntimeError(f"A constraint cannot be used on EmbeddingVariable {variable.name}.")
        check_trains(optimizer, variable)
        return getattr(optimizer, STEP)(variable, g.values, g.indices)


def check_trains(optimizer, variable: EmbeddingVariable) -> None:
    """Checks that the optimizer has a step for EmbeddingVariables, and that it is its own.

    A subclass of, say, AdamOptimizer inherits Adam's step for EmbeddingVariables. If it has a formula of its own for ordinary
    variables, that step is another's.

    Raises:
      NotImplementedError: naming the optimizer and the ones that do.
    """
    classes = type(optimizer).__mro__
    with_step = [i for i, cls in enumerate(classes) if STEP in vars(cls)]
    base = with_step[-1] if with_step else 0
    strangers = [
        cls for i, cls in enumerate(classes[:base]) if i not in with_step and not _SPARSE_STEPS.isdisjoint(vars(cls))
    ]
    if with_step and not strangers:
        return
    own = (
        f" It has {classes[base].__name__}'s step for them, but another formula for other variables "
        f"({strangers[0].__name__}). "
        if strangers
        else " "
    )
    raise NotImplementedError(
        f"{type(optimizer).__name__} does not train EmbeddingVariables (here: {variable.name}).{own}"
        f"{_WITH_STEP}. A class of your own has to define {STEP}(self, var, grad, indices)."
    )


def global_step(optimizer):
    """The step that keys trained now are stamped with, int64 scalar: before its increment; -1 if there is none."""
    step = getattr(optimizer, _GLOBAL_STEP, None)
    if step is None:
        step = training_util.get_global_step()
    if step is None:
        return constant_op.constant(-1, dtypes.int64)
    return math_ops.cast(array_ops.identity(step), dtypes.int64)


def apply(name: str, variable: EmbeddingVariable, indices, inputs: dict, **attributes):
    """Makes the op that applies a step.

    Args:
      name: of the op, without its prefix, as "adagrad".
      variable: to be updated.
      indices: keys, `[n]`, not necessarily unique.
      inputs: the op's inputs by name, but for var, indices and indices_counts; tensors and slots.
      **attributes: of the op.

    Returns:
      The op.
    """
    # A scalar may be a resource variable too, whose value is meant; but AdamAsync's op advances its powers itself.
    by_handle = ("beta1_power", "beta2_power") if name == "adam_async" else ()
    inputs = {
        key: value.handle if isinstance(value, EmbeddingVariable) or key in by_handle else value
        for key, value in inputs.items()
    }
    # Accumulators of sparse gradients hand int32 keys back as int64.
    indices = math_ops.cast(indices, variable.key_dtype)
    name = f"kv_resource_sparse_apply_{name}"
    counts = occurrences.of_gradient(variable, indices)
    if counts is not None:
        name, inputs["indices_counts"] = f"{name}_with_counts", counts
    return getattr(library.ops(), name)(var=variable.handle, indices=indices, **inputs, **attributes)


def _get_processor(released):
    @functools.wraps(released)
    def get_processor(v):
        return EmbeddingVariableProcessor(v) if isinstance(v, EmbeddingVariable) else released(v)

    return get_processor


def _apply_gradients(released):
    @functools.wraps(released)
    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        before = getattr(self, _GLOBAL_STEP, None)
        setattr(self, _GLOBAL_STEP, global_step)
        try:
            return released(self, grads_and_vars, global_step=global_step, name=name)
        finally:
            setattr(self, _GLOBAL_STEP, before)

    return apply_gradients


def install() -> None:
    """Makes all optimizers of the `tf.train` kind hand EmbeddingVariables to their own step for these."""
    optimizer_lib._get_processor = _get_processor(optimizer_lib._get_processor)  # pylint: disable=protected-access
    optimizer_lib.Optimizer.apply_gradients = _apply_gradients(optimizer_lib.Optimizer.apply_gradients)
