"""What decoders do with the layer behind the cell."""

import tensorflow as tf
from tensorflow.python.util import nest


def check_output_layer(layer) -> None:
    """Raises TypeError unless `layer` is None or a layer."""
    if layer is not None and not isinstance(layer, (tf.layers.Layer, tf.keras.layers.Layer)):
        raise TypeError(f"output_layer must be a Layer, received: {type(layer)}")


def size_after_layer(size, layer):
    """The cell's output size, or the shapes that `layer` makes of it, without the batch."""
    if layer is None:
        return size
    with_batch = nest.map_structure(lambda s: tf.TensorShape([None]).concatenate(s), size)
    return nest.map_structure(lambda s: tf.TensorShape(s)[1:], layer.compute_output_shape(with_batch))
