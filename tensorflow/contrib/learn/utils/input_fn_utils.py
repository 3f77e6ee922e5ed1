"""Input functions for serving."""

import collections

from tensorflow.python.framework import dtypes, tensor_shape
from tensorflow.python.ops import array_ops, parsing_ops

InputFnOps = collections.namedtuple("InputFnOps", ["features", "labels", "default_inputs"])
InputFnOps.__doc__ = """What an input function for serving returns.

features: dict of tensors, what the model gets; labels: dict, or None; default_inputs: dict of placeholders, what is fed.
"""


def build_parsing_serving_input_fn(feature_spec, default_batch_size=None):
    """An input function that parses serialized `tf.Example`s.

    Args:
      feature_spec: dict: feature -> `FixedLenFeature` or `VarLenFeature`.
      default_batch_size: size of a batch; None: any.
    """

    def input_fn():
        examples = array_ops.placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        return InputFnOps(parsing_ops.parse_example(examples, feature_spec), None, {"examples": examples})

    return input_fn


def build_default_serving_input_fn(features, default_batch_size=None):
    """An input function with a placeholder for each feature.

    Args:
      features: dict: name -> tensor, whose type and shape are taken.
      default_batch_size: size of a batch; None: any.
    """

    def input_fn():
        placeholders = {}
        for name, tensor in features.items():
            shape = tensor_shape.TensorShape([default_batch_size]).concatenate(tensor.get_shape()[1:])
            placeholders[name] = array_ops.placeholder(dtype=tensor.dtype, shape=shape, name=tensor.op.name)
        return InputFnOps(placeholders, None, placeholders)

    return input_fn
