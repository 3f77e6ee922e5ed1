"""Roots of symmetric positive semidefinite matrices by iteration, without an SVD."""

from tensorflow.python.ops import linalg_ops, math_ops, while_loop


def matrix_square_root(mat_a, mat_a_size, iter_count=100, ridge_epsilon=1e-4):
    """mat_a^(1/2) by the coupled Newton-Schulz iteration (Higham, "Stable iterations for the matrix square root", 1997, eq. 2.6).

    Stops when the error begins to grow.

    Args:
      mat_a: symmetric positive semidefinite matrix.
      mat_a_size: its size.
      iter_count: number of iterations at most.
      ridge_epsilon: added to the diagonal.
    """
    identity = linalg_ops.eye(math_ops.cast(mat_a_size, "int32"))
    mat_a = mat_a + ridge_epsilon * identity
    norm = math_ops.sqrt(math_ops.reduce_sum(mat_a * mat_a))

    def body(i, y, unused_before, z, error, unused_error_before):
        correction = 0.5 * (3.0 * identity - math_ops.matmul(z, y))
        new_y, new_z = math_ops.matmul(y, correction), math_ops.matmul(correction, z)
        root = new_y * math_ops.sqrt(norm)
        residual = mat_a - math_ops.matmul(root, root)
        new_error = math_ops.sqrt(math_ops.reduce_sum(residual * residual)) / norm
        return i + 1, new_y, y, new_z, new_error, error

    start = mat_a / norm
    _, _, before, _, _, _ = while_loop.while_loop(
        lambda i, y, before, z, error, error_before: math_ops.logical_and(i < iter_count, error < error_before),
        body,
        [0, start, start, identity, norm, norm + 1.0],
    )
    return before * math_ops.sqrt(norm)


def _power(matrix, exponent):
    """matrix^exponent for a positive integer, by squaring."""
    exponent = round(exponent)
    result = None
    while exponent > 0:
        if exponent % 2:
            result = matrix if result is None else math_ops.matmul(matrix, result)
        exponent //= 2
        if exponent:
            matrix = math_ops.matmul(matrix, matrix)
    return result


def matrix_inverse_pth_root(mat_g, mat_g_size, alpha, iter_count=100, epsilon=1e-6, ridge_epsilon=1e-6):
    """mat_g^alpha with alpha = -1/p, by the Schur-Newton iteration (Guo and Higham, SIAM J. Matrix Anal. Appl. 28(3), 2006, eq. 3.2).

    Args:
      mat_g: symmetric positive semidefinite matrix.
      mat_g_size: its size.
      alpha: -1/p with a positive integer p.
      iter_count: number of iterations at most.
      epsilon: largest element of the error at which the iteration stops.
      ridge_epsilon: added to the diagonal.

    Raises:
      ValueError: if -1/alpha is no positive integer.
    """
    if alpha >= 0 or abs(-1.0 / alpha - round(-1.0 / alpha)) > 1e-6:
        raise ValueError(f"alpha must be -1/p with a positive integer p, got {alpha}")
    if mat_g_size == 1:
        return math_ops.pow(mat_g + ridge_epsilon, alpha)
    identity = linalg_ops.eye(math_ops.cast(mat_g_size, "int32"))
    damped = mat_g + ridge_epsilon * identity
    z = (1 - 1 / alpha) / (2 * linalg_ops.norm(damped))

    def body(i, m, x):
        factor = (1 - alpha) * identity + alpha * m
        return i + 1, math_ops.matmul(_power(factor, -1.0 / alpha), m), math_ops.matmul(x, factor)

    _, _, root = while_loop.while_loop(
        lambda i, m, x: math_ops.logical_and(i < iter_count, math_ops.reduce_max(math_ops.abs(m - identity)) > epsilon),
        body,
        [0, damped * z, identity * math_ops.pow(z, -alpha)],
    )
    return root
