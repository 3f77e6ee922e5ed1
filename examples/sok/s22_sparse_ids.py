"""S22: keys as SparseTensors: Python's ints are int32 keys."""

import tensorflow as tf


def make():
    """`[2, 3]`: 1, 1 and 3, 4, 5 (hotness 3); `[2, 2]`: 1 and 2, 3 (hotness 2)."""
    indices1 = tf.SparseTensor(
        indices=[[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], values=[1, 1, 3, 4, 5], dense_shape=[2, 3]
    )
    indices2 = tf.SparseTensor(indices=[[0, 0], [1, 0], [1, 1]], values=[1, 2, 3], dense_shape=[2, 2])
    return indices1, indices2


def main():
    tf.compat.v1.enable_v2_behavior()
    for indices in make():
        print(indices)


if __name__ == "__main__":
    main()
