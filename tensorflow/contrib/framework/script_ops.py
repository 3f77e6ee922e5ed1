"""`tf.contrib.framework.py_func`: `tf.py_func` with nested arguments and results."""

from tensorflow.python.framework import tensor_shape
from tensorflow.python.ops import script_ops
from tensorflow.python.util import nest

__all__ = ["py_func"]


def py_func(func, args=(), kwargs=None, output_types=None, output_shapes=None, stateful=True, name=None):
    """Runs a Python function in the graph.

    Args:
      func: function of NumPy arrays; gets `args` and `kwargs`, returns a structure like `output_types`.
      args: list or tuple of (nested) tensors.
      kwargs: dict of (nested) tensors.
      output_types: nested structure of dtypes, or a function of `args` and `kwargs` that returns it.
      output_shapes: nested structure of shapes, or a function of `args` and `kwargs` that returns it (optional).
      stateful: whether equal inputs may give other results.
      name: name of the op.

    Returns:
      A structure of tensors like `output_types`.

    Raises:
      TypeError: if `args` or `kwargs` is of another type.
    """
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be a list or tuple, got {type(args)}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be a dict, got {type(kwargs)}")
    if callable(output_types) and not hasattr(output_types, "as_numpy_dtype"):
        output_types = output_types(*args, **kwargs)
    if callable(output_shapes):
        output_shapes = output_shapes(*args, **kwargs)
    structure = (args, kwargs)

    def on_arrays(*flat):
        py_args, py_kwargs = nest.pack_sequence_as(structure, flat)
        result = func(*py_args, **py_kwargs)
        nest.assert_shallow_structure(output_types, result)
        return nest.flatten(result)

    values = script_ops.py_func(
        on_arrays, nest.flatten(structure), nest.flatten(output_types), stateful=stateful, name=name
    )
    if output_shapes is not None:
        shapes = nest.map_structure_up_to(output_types, tensor_shape.as_shape, output_shapes)
        for value, shape in zip(values, nest.flatten_up_to(output_types, shapes)):
            value.set_shape(shape)
    return nest.pack_sequence_as(output_types, values)
