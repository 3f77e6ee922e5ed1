"""The ops of factorization by their generated names."""

import tensorflow as tf
from tensorflow.deeprec import library


def masked_matmul(a, b, mask_indices, transpose_a, transpose_b, name=None):
    """Entries of a matrix product, without the others.

    Args:
      a: [m, k] float32, or [k, m] with `transpose_a`.
      b: [k, n] float32, or [n, k] with `transpose_b`.
      mask_indices: [entries, 2] int64, (row, column) in the product.
      transpose_a: bool.
      transpose_b: bool.
      name: name scope.

    Returns:
      [entries], the product at each index. An index out of range is an InvalidArgumentError at run time.
    """
    with tf.name_scope(name, "MaskedMatmul", [a, b, mask_indices]):
        a, b = tf.convert_to_tensor(a), tf.convert_to_tensor(b)
        indices = tf.convert_to_tensor(mask_indices, dtype=tf.int64)

        def rows(matrix, axis, index, transposed):
            # Lookups want the shared dimension last.
            matrix = tf.cond(tf.equal(transposed, axis == 0), lambda: tf.transpose(matrix), lambda: tf.identity(matrix))
            return tf.gather(matrix, index)

        left = rows(a, 0, indices[:, 0], tf.convert_to_tensor(transpose_a))
        right = rows(b, 1, indices[:, 1], tf.convert_to_tensor(transpose_b))
        return tf.reduce_sum(left * right, 1)


def wals_compute_partial_lhs_and_rhs(
    factors, factor_weights, unobserved_weights, input_weights, input_indices, input_values, entry_weights,
    input_block_size, input_is_transpose, name=None,
):  # fmt: skip
    """The parts of the normal equations that come from observed entries; see the op's documentation."""
    return library.ops().wals_compute_partial_lhs_and_rhs(
        factors, factor_weights, unobserved_weights, input_weights, input_indices, input_values, entry_weights,
        input_block_size, input_is_transpose, name=name,
    )  # fmt: skip
