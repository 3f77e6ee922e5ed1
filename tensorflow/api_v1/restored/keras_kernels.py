"""Conversion of convolution kernels between Theano and TensorFlow, and weight lists of layers."""

import numpy as np
from tf_keras.src import backend


def convert_kernel(kernel):
    """A convolution kernel with its spatial axes flipped: true convolution to cross correlation, or back.

    Args:
      kernel: array of rank 3 (1-D convolution) to 5, spatial axes first.

    Raises:
      ValueError: another rank.
    """
    kernel = np.asarray(kernel)
    if not 3 <= kernel.ndim <= 5:
        raise ValueError(f"kernel must have rank 3, 4 or 5, got shape {kernel.shape}")
    return np.flip(kernel, axis=tuple(range(kernel.ndim - 2))).copy()


def convert_all_kernels_in_model(model):
    """Flips the kernels of all convolution layers of a model, in place."""
    names = {
        "Conv1D",
        "Conv2D",
        "Conv3D",
        "Convolution1D",
        "Convolution2D",
        "Convolution3D",
        "Conv2DTranspose",
        "Conv3DTranspose",
    }
    backend.batch_set_value(
        [
            (layer.kernel, convert_kernel(backend.get_value(layer.kernel)))
            for layer in model.layers
            if type(layer).__name__ in names
        ]
    )


def gather_trainable_weights(trainable, sub_layers, extra_variables):
    """The weights of sub-layers that train: none if the parent is frozen."""
    if not trainable:
        return []
    weights = [w for layer in sub_layers for w in layer.trainable_weights]
    return weights + [v for v in extra_variables if v.trainable]


def gather_non_trainable_weights(trainable, sub_layers, extra_variables):
    """The weights of sub-layers that do not train: all of them if the parent is frozen."""
    frozen = [w for layer in sub_layers for w in layer.non_trainable_weights]
    extra = [v for v in extra_variables if not v.trainable]
    if trainable:
        return frozen + extra
    trained = [w for layer in sub_layers for w in layer.trainable_weights]
    return trained + frozen + list(extra_variables)
