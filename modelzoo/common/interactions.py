"""How the vectors of columns meet."""

import tensorflow as tf


def side_by_side_or_dots(vectors, op: str) -> tf.Tensor:
    """[B, n] of vectors [B, dim]: "cat", all but the first side by side; "dot", the dot product of each pair."""
    if op == "cat":
        return tf.concat(vectors[1:], 1)
    stacked = tf.stack(vectors, 1)
    products = tf.matmul(stacked, stacked, transpose_b=True)
    pairs = [(i, j) for i in range(len(vectors)) for j in range(i)]
    flat = tf.reshape(products, [-1, len(vectors) ** 2])
    return tf.gather(flat, [i * len(vectors) + j for i, j in pairs], axis=1)


def second_order(vectors) -> tf.Tensor:
    """[B, dim] of vectors [B, dim]: in each dimension the sum of the products of all pairs, as ((sum v)^2 - sum v^2) / 2."""
    total, squares = tf.add_n(vectors), tf.add_n([tf.square(v) for v in vectors])
    return 0.5 * (tf.square(total) - squares)
