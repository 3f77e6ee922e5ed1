"""Functions that read and prepare data, which count the ops of 1.15's: the op seeds count them (`op_seeds`)."""

import functools
import numbers

from tensorflow.api_v1.restored.op_counts import add_missing
from tensorflow.python.eager import context
from tensorflow.python.framework import dtypes, ops, sparse_tensor, tensor_util
from tensorflow.python.ops import gen_parsing_ops, image_ops_impl, parsing_ops


def replacements() -> list[tuple]:
    """Pairs (released function, what takes its place)."""
    table = (
        (image_ops_impl, "crop_to_bounding_box", _crop),
        (image_ops_impl, "per_image_standardization", _standardized),
        (image_ops_impl, "central_crop", _central_crop),
        (image_ops_impl, "decode_image", _decode_image),
    )
    return [(getattr(module, name), make(getattr(module, name))) for module, name, make in table]


def install() -> None:
    image_ops_impl._CheckAtLeast3DImage = _at_least_3d(image_ops_impl._CheckAtLeast3DImage)
    spec = sparse_tensor.SparseTensorSpec
    spec._from_compatible_tensor_list = _sparse_elements(spec._from_compatible_tensor_list)
    parsing_ops._assert_scalar = _assert_scalar(parsing_ops._assert_scalar)
    gen_parsing_ops.parse_example_v2 = _parse_example(gen_parsing_ops.parse_example_v2)
    gen_parsing_ops.parse_sequence_example_v2 = _parse_sequence(gen_parsing_ops.parse_sequence_example_v2)


def _parse_example(released):
    """Each key was a constant of its own; of a single example the keys were attributes."""

    @functools.wraps(released)
    def parse_example_v2(serialized, names, sparse_keys, dense_keys, ragged_keys, *args, **kwargs):
        result = released(serialized, names, sparse_keys, dense_keys, ragged_keys, *args, **kwargs)
        if not context.executing_eagerly():
            count = -4 if serialized.shape.rank == 0 else len(sparse_keys) + len(dense_keys) - 3
            add_missing(ops.get_default_graph(), count)
        return result

    return parse_example_v2


def _parse_sequence(released):
    """As for examples, with the keys of the context and of the lists."""

    @functools.wraps(released)
    def parse_sequence_example_v2(serialized, debug_name, *args, **kwargs):
        result = released(serialized, debug_name, *args, **kwargs)
        if not context.executing_eagerly():
            keys = sum(len(value) for name, value in kwargs.items() if name.endswith("_keys"))
            add_missing(ops.get_default_graph(), keys - 6 if serialized.shape.rank == 0 else -7)
        return result

    return parse_sequence_example_v2


def _assert_scalar(released):
    """An example of unknown rank was not checked."""

    @functools.wraps(released)
    def assert_scalar(value, name):
        if not context.executing_eagerly() and value.shape.rank is None:
            add_missing(ops.get_default_graph(), -7)
        return released(value, name)

    return assert_scalar


def _sparse_elements(released):
    """A sparse element of a dataset kept the shape that was deserialized with it."""

    @functools.wraps(released)
    def from_compatible_tensor_list(self, tensor_list):
        if context.executing_eagerly():
            return released(self, tensor_list)
        graph = ops.get_default_graph()
        before = graph.num_operations()
        result = released(self, tensor_list)
        add_missing(graph, before + 1 - graph.num_operations())
        return result

    return from_compatible_tensor_list


def _at_least_3d(released):
    """All dimensions were checked; the runtime takes the last three, by a slice."""

    @functools.wraps(released)
    def check(image, require_static=True):
        checks = released(image, require_static)
        if checks and not context.executing_eagerly():
            add_missing(ops.get_default_graph(), -4)
        return checks

    return check


def _standardized(released):
    """Images of integers are scaled to 0..1 before, and get their type back after."""

    @functools.wraps(released)
    def per_image_standardization(image):
        image = ops.convert_to_tensor(image, name="image")
        if image.dtype in (dtypes.float16, dtypes.float32):
            if not context.executing_eagerly():
                add_missing(ops.get_default_graph(), 1)
            return released(image)
        scaled = image_ops_impl.convert_image_dtype(image, dtypes.float32)
        return image_ops_impl.convert_image_dtype(released(scaled), image.dtype, saturate=True)

    return per_image_standardization


def _central_crop(released):
    """The fraction was not cast for dimensions that are not static."""

    @functools.wraps(released)
    def central_crop(image, central_fraction):
        image = ops.convert_to_tensor(image, name="image")
        if not context.executing_eagerly() and image.shape.rank in (3, 4) and central_fraction != 1.0:
            add_missing(ops.get_default_graph(), -sum(n is None for n in image.shape.as_list()[-3:-1]))
        return released(image, central_fraction)

    return central_crop


def _crop(released):
    """All of a batch and all channels were -1, where the runtime takes the sizes from the shape."""

    @functools.wraps(released)
    def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
        if not context.executing_eagerly():
            static = all(isinstance(size, numbers.Integral) for size in (target_height, target_width))
            add_missing(ops.get_default_graph(), -12 if static else -8)
        return released(image, offset_height, offset_width, target_height, target_width)

    return crop_to_bounding_box


def _decode_image(released):
    """One op that finds the format, where 1.15 had a condition for each."""

    @functools.wraps(released)
    def decode_image(contents, channels=None, dtype=None, name=None, expand_animations=True):
        args = {} if dtype is None else {"dtype": dtype}
        result = released(contents, channels, name=name, expand_animations=expand_animations, **args)
        if not context.executing_eagerly():
            dtype = dtypes.as_dtype(dtypes.uint8 if dtype is None else dtype)
            # Each of four formats is converted: by an identity, or by three ops; of PNG the decoder makes uint16.
            count = 75 + {dtypes.uint8: 0, dtypes.uint16: 6}.get(dtype, 8)
            count += 0 if expand_animations else 3
            add_missing(ops.get_default_graph(), count + (not tensor_util.is_tf_type(contents)))
        return result

    return decode_image
