"""solvers: solutions against those of NumPy."""

import numpy as np
import pytest
import tensorflow as tf

solvers = tf.contrib.solvers
rng = np.random.default_rng(0)
TALL = rng.normal(size=[8, 5])


def _run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize("preconditioned", [False, True])
def test_conjugate_gradient_solves_a_positive_definite_system(preconditioned, start):
    matrix = TALL.T @ TALL + np.diag([1.0, 2, 3, 4, 50])
    rhs, x = np.random.default_rng(1).normal(size=[2, 5])
    options = {"x": tf.constant(x)} if start else {}
    if preconditioned:
        options["preconditioner"] = solvers.util.create_operator(np.diag(1 / np.diag(matrix)))
    state = _run(
        solvers.linear_equations.conjugate_gradient(solvers.util.create_operator(matrix), rhs, tol=1e-10, **options)
    )
    np.testing.assert_allclose(state.x, np.linalg.solve(matrix, rhs), rtol=1e-6)
    np.testing.assert_allclose(state.r, rhs - matrix @ state.x, atol=1e-8)
    assert 1 <= state.i <= 20


def test_conjugate_gradient_stops_at_max_iter():
    matrix, rhs = np.diag([1.0, 10, 100, 1000]), np.ones(4)
    state = _run(solvers.linear_equations.conjugate_gradient(solvers.util.create_operator(matrix), rhs, max_iter=2))
    assert state.i == 2


def test_cgls_solves_least_squares():
    rhs = np.random.default_rng(2).normal(size=8)
    state = _run(solvers.least_squares.cgls(solvers.util.create_operator(TALL), rhs, tol=1e-12))
    np.testing.assert_allclose(state.x, np.linalg.lstsq(TALL, rhs, rcond=None)[0], rtol=1e-6)
    np.testing.assert_allclose(state.r, rhs - TALL @ state.x, atol=1e-8)


@pytest.mark.parametrize("shape", [(8, 5), (5, 8)])
@pytest.mark.parametrize("orthogonalize", [True, False])
def test_lanczos_bidiagonalizes(shape, orthogonalize):
    matrix = np.random.default_rng(3).normal(size=shape)
    start = np.random.default_rng(4).normal(size=shape[0])
    result = solvers.lanczos.lanczos_bidiag(
        solvers.util.create_operator(matrix), 3, orthogonalize=orthogonalize, starting_vector=start
    )
    u, v, alpha, beta = _run(result)
    below = np.zeros([4, 3])
    below[range(3), range(3)], below[range(1, 4), range(3)] = alpha, beta
    np.testing.assert_allclose(u[:, 0], start / np.linalg.norm(start))
    np.testing.assert_allclose(matrix @ v, u @ below, atol=1e-9)
    np.testing.assert_allclose(matrix.T @ u[:, :-1], v @ below[:-1].T, atol=1e-9)
    np.testing.assert_allclose(u.T @ u, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(v.T @ v, np.eye(3), atol=1e-9)
    for adjoint, left, wanted in ((False, u, u @ below), (True, v, v @ below[:-1].T)):
        got = _run(solvers.lanczos.bidiag_matmul(left, alpha, beta, adjoint_b=adjoint))
        np.testing.assert_allclose(got, wanted, atol=1e-12)


def test_lanczos_stops_at_an_invariant_subspace():
    matrix = np.diag([3.0, 2, 1, 0])
    operator = solvers.util.create_operator(matrix)
    u, v, _, beta = _run(solvers.lanczos.lanczos_bidiag(operator, tf.constant(4), starting_vector=np.eye(4)[0]))
    assert u.shape == (4, 2) and v.shape == (4, 1) and abs(beta[-1]) < 1e-12


def test_lanczos_starts_at_random():
    u = _run(solvers.lanczos.lanczos_bidiag(solvers.util.create_operator(TALL), 2).u)
    np.testing.assert_allclose(u.T @ u, np.eye(3), atol=1e-9)


def test_operators_and_norms():
    x, y = np.random.default_rng(5).normal(size=[2, 5, 1])
    util = solvers.util
    operator, same = util.create_operator(TALL), util.identity_operator(TALL)
    assert list(operator.shape) == [8, 5] and operator.dtype == tf.float64
    got = _run([operator.apply(x), operator.apply_adjoint(TALL @ x), same.apply(tf.constant(x))])
    for value, wanted in zip(got, [TALL @ x, TALL.T @ TALL @ x, x]):
        np.testing.assert_allclose(value, wanted)
    x_t, y_t = tf.constant(x), tf.constant(y)
    got = _run([util.dot(x_t, y_t), util.l2norm(x_t), util.l2norm_squared(x_t), *util.l2normalize(x_t)])
    norm = np.linalg.norm(x)
    for value, wanted in zip(got, [np.sum(x * y), norm, norm**2, x / norm, norm]):
        np.testing.assert_allclose(value, wanted)


def test_gradients_pass_through_the_norm():
    x = tf.constant([3.0, 4.0])
    np.testing.assert_allclose(_run(tf.gradients(solvers.util.l2norm(x), x)[0]), [0.6, 0.8], rtol=1e-6)
