"""S4: MirroredStrategy, with one replica for each logical CPU of this process."""

import common
import tensorflow as tf

REPLICAS = (1, "logical CPUs of this process, one for each replica")


def make_strategy(replicas):
    """A MirroredStrategy; the first with several replicas must be made before TensorFlow runs its first op."""
    if replicas == 1:
        return tf.distribute.MirroredStrategy()
    cpu = tf.config.list_physical_devices("CPU")[0]
    if len(tf.config.get_logical_device_configuration(cpu) or []) != replicas:
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * replicas)
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(replicas)])


def main(argv=None):
    tf.compat.v1.enable_v2_behavior()
    args = common.parse(__doc__, argv, replicas=REPLICAS)
    print("replicas:", make_strategy(args.replicas).num_replicas_in_sync)


if __name__ == "__main__":
    main()
