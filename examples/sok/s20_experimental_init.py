"""S20: the newer API, in the processes of Horovod; without a launcher in one."""

import horovod.tensorflow as hvd
import tensorflow as tf

from sparse_operation_kit import experiment as sok


def initialize():
    tf.compat.v1.enable_v2_behavior()
    hvd.init()
    # A program for GPUs shows each process its own here; there is none.
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    sok.init()


def main():
    initialize()
    print(f"rank {sok.rank()} of {sok.num_ranks()}")


if __name__ == "__main__":
    main()
