"""S15: Horovod in a TF1 program."""

import horovod.tensorflow as hvd
import tensorflow.compat.v1 as tf


def main():
    tf.disable_v2_behavior()
    hvd.init()
    print(f"rank {hvd.rank()} of {hvd.size()}, eager: {tf.executing_eagerly()}")


if __name__ == "__main__":
    main()
