"""Conjugate gradients (Hestenes and Stiefel, 1952)."""

import collections

import tensorflow as tf
from tensorflow.contrib.solvers import util

_State = collections.namedtuple("ConjugateGradientState", ["i", "x", "r", "p", "gamma"])


def conjugate_gradient(operator, rhs, preconditioner=None, x=None, tol=1e-4, max_iter=20, name="conjugate_gradient"):
    """Solves `A x = rhs` for a self-adjoint positive definite operator A.

    Stops when the residual's length is at most `tol` times that of `rhs`, or after `max_iter` steps.

    Args:
      operator: A, [n, n], as `util.create_operator` makes it.
      rhs: [n].
      preconditioner: an operator close to the inverse of A; none by default.
      x: [n], where to start; zeros by default.
      tol: relative tolerance.
      max_iter: maximal number of steps.
      name: of the scope.

    Returns:
      A namedtuple: `i` the number of steps, `x` the solution, `r` the residual, `p` the last direction, all [n], and `gamma`,
      r' M r with the preconditioner M.
    """
    with tf.name_scope(name):
        rhs = tf.convert_to_tensor(rhs)[:, tf.newaxis]
        precondition = preconditioner.apply if preconditioner is not None else tf.identity
        if x is None:
            start, residual = tf.zeros_like(rhs), rhs
        else:
            start = tf.convert_to_tensor(x)[:, tf.newaxis]
            residual = rhs - operator.apply(start)
        direction = precondition(residual)
        bound = tf.cast(tol, rhs.dtype) * util.l2norm(rhs)

        def unfinished(state):
            return tf.logical_and(state.i < max_iter, util.l2norm(state.r) > bound)

        def step(state):
            image = operator.apply(state.p)
            length = state.gamma / util.dot(state.p, image)
            r = state.r - length * image
            preconditioned = precondition(r)
            gamma = util.dot(r, preconditioned)
            p = preconditioned + gamma / state.gamma * state.p
            return (_State(state.i + 1, state.x + length * state.p, r, p, gamma),)

        state = _State(tf.constant(0), start, residual, direction, util.dot(residual, direction))
        (state,) = tf.while_loop(unfinished, step, [state])
        return state._replace(**{field: tf.squeeze(getattr(state, field), 1) for field in ("x", "r", "p")})
