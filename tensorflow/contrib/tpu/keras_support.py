"""Keras models on TPUs: exist for their imports; this build has no TPU."""

_MESSAGE = (
    "this TensorFlow is built for CPUs; train the Keras model as it is, or under tf.contrib.distribute.MirroredStrategy"
)


class TPUDistributionStrategy:
    """Raises RuntimeError when it is made."""

    def __init__(self, tpu_cluster_resolver=None, using_single_core=False):
        raise RuntimeError(f"tf.contrib.tpu.TPUDistributionStrategy needs a TPU: {_MESSAGE}.")


def tpu_model(model, strategy=None):
    """Raises RuntimeError."""
    raise RuntimeError(f"tf.contrib.tpu.keras_to_tpu_model({model!r}) needs a TPU: {_MESSAGE}.")
