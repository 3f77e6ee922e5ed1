"""`freezable_variable` of 1.15's Keras backend: a variable that leaves the trainable ones when its layer is frozen."""

from tf_keras.src import backend


def freezable_variable(value, shape=None, name=None):
    """A variable for a layer's weight; `layer.trainable = False` freezes it, as with any weight of a layer.

    Args:
      value: NumPy array or number, the initial value.
      shape: unused beside None; the value has one.
      name: of the variable.
    """
    if shape is not None and tuple(shape) != getattr(value, "shape", ()):
        raise ValueError(f"shape {tuple(shape)} is not that of value, {getattr(value, 'shape', ())}")
    return backend.variable(value, name=name)
