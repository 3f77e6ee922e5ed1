"""A loop over time of a function with state and weights."""

import tensorflow as tf
from tensorflow.python.util import nest


def Recurrent(
    theta,
    state0,
    inputs,
    cell_fn,
    cell_grad=None,
    extras=None,
    max_input_length=None,
    use_tpu=False,
    aligned_end=False,
):
    """Computes state[t] = cell_fn(theta, state[t - 1], inputs[t]) for all t.

    Args:
      theta: structure of weights.
      state0: structure of the first state.
      inputs: structure of [time, ...].
      cell_fn: (theta, state, inputs of a step) -> (new state, extras).
      cell_grad: must be None: gradients come from the loop.
      extras: structure of what `cell_fn` returns beside the state; not needed.
      max_input_length: number of steps that count, all by default; states past it repeat the last one.
      use_tpu: must be off.
      aligned_end: whether the steps that count are the last ones, not the first.

    Returns:
      (structure of states [time, ...], final state).

    Raises:
      NotImplementedError: `cell_grad` or `use_tpu`.
    """
    if cell_grad is not None:
        raise NotImplementedError("Recurrent: cell_grad is not supported; gradients come from the loop itself")
    if use_tpu:
        raise NotImplementedError("Recurrent: use_tpu=True needs a TPU, which this build does not support")
    del extras
    flat_inputs = [tf.convert_to_tensor(x) for x in nest.flatten(inputs)]
    flat_state = [tf.convert_to_tensor(s) for s in nest.flatten(state0)]
    steps = tf.shape(flat_inputs[0])[0]
    counted = steps if max_input_length is None else tf.minimum(steps, tf.cast(max_input_length, tf.int32))
    first = steps - counted if aligned_end else 0
    arrays = [tf.TensorArray(s.dtype, size=steps, element_shape=s.shape) for s in flat_state]

    def body(time, state, arrays):
        step = nest.pack_sequence_as(inputs, [x[time] for x in flat_inputs])
        new_state, _ = cell_fn(theta, nest.pack_sequence_as(state0, state), step)
        nest.assert_same_structure(state0, new_state)
        counts = tf.logical_and(time >= first, time < first + counted)
        new_flat = []
        for old, new in zip(state, nest.flatten(new_state)):
            new = tf.cond(counts, lambda new=new: tf.identity(new), lambda old=old: tf.identity(old))
            new.set_shape(old.shape)
            new_flat.append(new)
        return time + 1, new_flat, [a.write(time, s) for a, s in zip(arrays, new_flat)]

    _, final, arrays = tf.while_loop(lambda time, *_: time < steps, body, (0, flat_state, arrays))
    return (
        nest.pack_sequence_as(state0, [a.stack() for a in arrays]),
        nest.pack_sequence_as(state0, final),
    )
