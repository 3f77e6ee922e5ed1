"""Runs one program eagerly, in tf.function and in a session."""

import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.ops import variables

MODES = ("eager", "function", "session")


def run(mode, setup, step, final=None, steps=1):
    """Runs `step(setup())` a number of times.

    Args:
      mode: one of MODES.
      setup: callable() -> anything, makes the variables.
      step: callable(what setup made) -> structure of tensors and ops.
      final: callable(what setup made) -> structure of tensors, after the steps; or None.
      steps: how often.

    Returns:
      `(values of the last step, values of final)`.
    """
    if mode == "session":
        with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
            made = setup()
            fetches = step(made)
            last = final(made) if final else []
            sess.run(tf.compat.v1.global_variables_initializer())
            for _ in range(steps):
                values = sess.run(fetches)
            return values, sess.run(last)
    with context.eager_mode():
        made = setup()
        call = tf.function(lambda: _tensors(step(made))) if mode == "function" else lambda: _tensors(step(made))
        for _ in range(steps):
            values = call()
        return _arrays(values), _arrays(final(made)) if final else []


def _tensors(structure):
    """Without what is no tensor eagerly: ops, and the Nones they are."""
    return tf.nest.map_structure(lambda t: t if _is_value(t) else (), structure)


def _is_value(t):
    return (tf.is_tensor(t) or isinstance(t, tf.IndexedSlices)) and not isinstance(t, variables.Variable)


def _arrays(structure):
    return tf.nest.map_structure(lambda t: t.numpy() if tf.is_tensor(t) else t, structure)


def dense_gradients(loss, variables):
    """Gradients by GradientTape, which works in all modes; `loss` is callable."""
    with tf.GradientTape() as tape:
        value = loss()
    return tape.gradient(value, variables)
