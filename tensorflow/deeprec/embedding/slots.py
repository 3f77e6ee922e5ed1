"""Optimizer slots of EmbeddingVariables: columns of the variable's own table."""

import functools

from tensorflow.deeprec.embedding import initial_checkpoints
from tensorflow.deeprec.embedding.variable import EmbeddingVariable
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.ops import array_ops, variable_scope
from tensorflow.python.training import slot_creator


def make_slot(primary: EmbeddingVariable, name: str, initial_row, dim: int) -> EmbeddingVariable:
    """Adds a slot to `primary`.

    Args:
      primary: the variable.
      name: the slot's name below the variable's, as `Adagrad`; made unique.
      initial_row: callable that gives what the slot of a new key holds, `[dim]` or `[rows, dim]`.
      dim: elements of a row of the slot.

    Returns:
      EmbeddingVariable, whose primary is `primary`.
    """
    with variable_scope.variable_scope(None, f"{primary.op.name}/{name}") as scope, ops.name_scope(None):
        slot = EmbeddingVariable(
            # The slash enters the scope again, which has the very name.
            f"{scope.name}/",
            initial_row,
            dim,
            primary.key_dtype,
            primary.dtype,
            primary.config,
            trainable=False,
            primary=primary,
        )
        initial_checkpoints.start_slot(slot, scope.name[len(primary.op.name) + 1 :])
        return slot


def _row_dim(shape, primary: EmbeddingVariable) -> int:
    shape = primary.shape if shape is None else shape
    return shape[-1] if shape.rank else 1


def _slot_of_value(primary, val, name, **unused_kwargs):
    value = ops.convert_to_tensor(val)
    return make_slot(primary, name, lambda: value, _row_dim(value.shape, primary))


def _slot_of_initializer(primary, initializer, shape, dtype, name, **unused_kwargs):
    dim = _row_dim(shape, primary)

    def row():
        value = (
            initializer([dim], dtype=dtype)
            if callable(initializer)
            else ops.convert_to_tensor(initializer, dtype=dtype)
        )
        return array_ops.reshape(value, [-1, dim])

    return make_slot(primary, name, row, dim)


def _slot_of_zeros(primary, name, dtype=None, **unused_kwargs):
    dim = primary.shape[0]
    return make_slot(
        primary, name, lambda: array_ops.zeros([dim], dtypes.as_dtype(dtype or primary.dtype).base_dtype), dim
    )


def install() -> None:
    """Lets `slot_creator`, through which all optimizers make their slots, make these for EmbeddingVariables."""
    for function, ours in (
        ("create_slot", _slot_of_value),
        ("create_slot_with_initializer", _slot_of_initializer),
        ("create_zeros_slot", _slot_of_zeros),
    ):
        setattr(slot_creator, function, _dispatch(getattr(slot_creator, function), ours))


def _dispatch(released, ours):
    @functools.wraps(released)
    def create(primary, *args, **kwargs):
        make = ours if isinstance(primary, EmbeddingVariable) else released
        return make(primary, *args, **kwargs)

    return create
