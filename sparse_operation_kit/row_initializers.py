"""What the rows of new keys start from."""

import dataclasses
from collections.abc import Callable

import tensorflow as tf
from tensorflow.python.ops import variables


@dataclasses.dataclass(frozen=True)
class RowInitializer:
    """`rows(n)` makes `[n, dim]`, and so does `defaults(n)` while a graph's variables are initialized; `text` is the initializer as a
    user wrote it, "" if it was a value."""

    rows: Callable
    defaults: Callable
    text: str


def get(initializer, var_type: str, dim: int, dtype) -> RowInitializer:
    """The initializer of a DynamicVariable; see there.

    Raises:
      ValueError: there is none of that name, or the value is not one row or one element.
    """
    if initializer is None or isinstance(initializer, str):
        text = initializer or ""
        rows = _named(text, var_type, dim, dtype)
        return RowInitializer(rows, rows, text)
    if isinstance(initializer, variables.Variable) or tf.is_tensor(initializer):
        elements = initializer.shape.num_elements()
        if elements not in (1, dim):
            raise ValueError(f"initializer must have 1 or {dim} elements, got shape {initializer.shape}")

        def of(value):
            row = tf.reshape(tf.cast(tf.convert_to_tensor(value), dtype), [1, elements])
            return lambda n: tf.broadcast_to(row, [n, dim])

        def defaults(n):
            if not isinstance(initializer, variables.Variable) or tf.executing_eagerly():
                return of(initializer)(n)
            # The initializers of a graph run in any order.
            ready = tf.compat.v1.is_variable_initialized(initializer)
            return of(tf.cond(ready, initializer.read_value, lambda: initializer.initial_value))(n)

        return RowInitializer(lambda n: of(initializer)(n), defaults, "")
    raise ValueError(f"initializer must be a string, tensor or variable, got {initializer!r}")


def _named(text, var_type, dim, dtype):
    # Drawn in float32: the generators have no form for all dtypes.
    def uniform(low, high):
        return lambda n: tf.cast(tf.random.uniform([n, dim], low, high), dtype)

    def constant(value):
        return lambda n: tf.fill([n, dim], tf.constant(value, dtype))

    if var_type == "hbm":
        named = {
            "": uniform(-0.05, 0.05),
            "random": uniform(-0.05, 0.05),
            "ones": constant(1.0),
            "zeros": constant(0.0),
        }
    else:

        def normal(n):
            return tf.cast(tf.random.normal([n, dim]), dtype)

        named = {"": normal, "random": normal, "normal": normal, "uniform": uniform(0.0, 1.0)}
    if text in named:
        return named[text]
    try:
        return constant(float(text))
    except ValueError:
        names = ", ".join(sorted(repr(name) for name in named if name))
        raise ValueError(
            f'initializer of a "{var_type}" table must be one of {names}, or a number as a string, got {text!r}'
        ) from None
