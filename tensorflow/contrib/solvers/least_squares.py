"""Conjugate gradients for least squares (Björck, "Numerical Methods for Least Squares Problems", section 7.4)."""

import collections

import tensorflow as tf
from tensorflow.contrib.solvers import util

_State = collections.namedtuple("CGLSState", ["i", "x", "r", "p", "gamma"])


def cgls(operator, rhs, tol=1e-6, max_iter=20, name="cgls"):
    """Finds x with the least `|rhs - A x|`.

    Stops when the length of `A' r` is at most `tol` times that of `A' rhs`, or after `max_iter` steps.

    Args:
      operator: A, [m, n], as `util.create_operator` makes it.
      rhs: [m].
      tol: relative tolerance.
      max_iter: maximal number of steps.
      name: of the scope.

    Returns:
      A namedtuple: `i` the number of steps, `x` [n] the solution, `r` [m] the residual, `p` [n] the last direction, `gamma` the
      squared length of A' r.
    """
    with tf.name_scope(name):
        rhs = tf.convert_to_tensor(rhs)[:, tf.newaxis]
        direction = operator.apply_adjoint(rhs)
        start = util.l2norm_squared(direction)
        bound = tf.square(tf.cast(tol, rhs.dtype)) * start

        def unfinished(state):
            return tf.logical_and(state.i < max_iter, state.gamma > bound)

        def step(state):
            image = operator.apply(state.p)
            length = state.gamma / util.l2norm_squared(image)
            r = state.r - length * image
            gradient = operator.apply_adjoint(r)
            gamma = util.l2norm_squared(gradient)
            p = gradient + gamma / state.gamma * state.p
            return (_State(state.i + 1, state.x + length * state.p, r, p, gamma),)

        state = _State(tf.constant(0), tf.zeros_like(direction), rhs, direction, start)
        (state,) = tf.while_loop(unfinished, step, [state])
        return state._replace(**{field: tf.squeeze(getattr(state, field), 1) for field in ("x", "r", "p")})
