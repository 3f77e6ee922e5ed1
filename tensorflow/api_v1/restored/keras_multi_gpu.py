"""`multi_gpu_model` on a machine without GPUs."""

from tensorflow.api_v1 import moved_names


def multi_gpu_model(model, gpus, cpu_merge=True, cpu_relocation=False):
    """Replicates a model over GPUs; here there are none, and the model itself is returned, with one warning.

    A model replicated n-fold computes what the model computes, so programs train the same, on the CPU.

    Args:
      model: a tf.keras model.
      gpus: number of GPUs, >= 2, or a list of their ids.
      cpu_merge, cpu_relocation: where 1.15 kept the weights; without effect on one device.

    Raises:
      ValueError: `gpus` below 2.
    """
    count = len(gpus) if isinstance(gpus, (list, tuple)) else gpus
    if count <= 1:
        raise ValueError(f"multi_gpu_model needs gpus >= 2, got {gpus}")
    moved_names.warn_once("multi_gpu_model: this build has no GPU support; the model trains as it is, on the CPU")
    return model
