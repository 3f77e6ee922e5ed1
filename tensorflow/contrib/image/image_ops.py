"""Projective transforms of images, bipartite matching, connected components.

A transform is 8 numbers [a0, a1, a2, b0, b1, b2, c0, c1]: the output pixel (x, y) is the input at
((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), k = c0 x + c1 y + 1.
"""

import contextlib

import tensorflow as tf
from tensorflow.api_v1.restored import op_counts
from tensorflow.deeprec import library
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_image_ops

_TYPES = (tf.uint8, tf.int32, tf.int64, tf.float16, tf.float32, tf.float64)


def rotate(images, angles, interpolation="NEAREST", name=None):
    """Rotates images counterclockwise about their centers.

    Args:
      images: [batch, rows, columns, channels], or without batch, or without channels too.
      angles: scalar or [batch], radians.
      interpolation: "NEAREST" or "BILINEAR".
      name: name scope.

    Returns:
      Images of the same shape; 0 where the input has no pixel.

    Raises:
      TypeError: `images` is of another type or rank.
    """
    with tf.name_scope(name, "rotate"):
        images = tf.convert_to_tensor(images)
        _check_images(images)
        batched = _with_batch(images)
        height, width = (tf.cast(tf.shape(batched)[axis], tf.float32)[None] for axis in (1, 2))
        transforms = angles_to_projective_transforms(angles, height, width)
        return _reshaped(transform(batched, transforms, interpolation=interpolation), images)


def translate(images, translations, interpolation="NEAREST", name=None):
    """Moves images.

    Args:
      images: as in `rotate`.
      translations: [2] or [batch, 2], (dx, dy).
      interpolation: "NEAREST" or "BILINEAR".
      name: name scope.
    """
    with tf.name_scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation=interpolation)


def angles_to_projective_transforms(angles, image_height, image_width, name=None):
    """Transforms [batch, 8] that rotate about the center.

    Args:
      angles: scalar or [batch], radians.
      image_height: number of rows.
      image_width: number of columns.
      name: name scope.

    Raises:
      TypeError: `angles` has another rank.
    """
    with tf.name_scope(name, "angles_to_projective_transforms"):
        angles = tf.convert_to_tensor(angles, name="angles", dtype=tf.float32)
        angles = _at_least(angles, 0, "Angles should have rank 0 or 1.")
        # 1.15 computed each sine, cosine and difference where it was used; a size took two ops as a tensor, one as a number.
        sizes = sum(3 * (2 if tf.is_tensor(size) else 1) for size in (image_height, image_width))
        with _counted_as(60 + sizes):
            cos, sin = tf.cos(angles), tf.sin(angles)
            last_row, last_column = image_height - 1, image_width - 1
            x_offset = (last_column - (cos * last_column - sin * last_row)) / 2.0
            y_offset = (last_row - (sin * last_column + cos * last_row)) / 2.0
            zeros = tf.zeros_like(angles)
            return tf.stack([cos, -sin, x_offset, sin, cos, y_offset, zeros, zeros], axis=1)


def translations_to_projective_transforms(translations, name=None):
    """Transforms [batch, 8] that move by (dx, dy).

    Args:
      translations: [2] or [batch, 2].
      name: name scope.

    Raises:
      TypeError: `translations` has another rank.
    """
    with tf.name_scope(name, "translations_to_projective_transforms"):
        t = tf.convert_to_tensor(translations, name="translations", dtype=tf.float32)
        t = _at_least(t, 1, "Translations should have rank 1 or 2.")
        # 1.15 made the columns of ones and zeros one by one, each of a shape that it computed.
        with _counted_as(57):
            one, zero = tf.ones_like(t[:, 0]), tf.zeros_like(t[:, 0])
            return tf.stack([one, zero, -t[:, 0], zero, one, -t[:, 1], zero, zero], axis=1)


@contextlib.contextmanager
def _counted_as(number: int):
    """What is built inside counts as so many ops for the default seeds: those that 1.15 built."""
    if tf.executing_eagerly():
        yield
        return
    graph = tf.get_default_graph()
    before = graph.num_operations() + op_counts.missing_ops(graph)
    yield
    built = graph.num_operations() + op_counts.missing_ops(graph) - before
    op_counts.add_missing(graph, number - built)


def _at_least(tensor, rank, message):
    if tensor.shape.ndims is None:
        raise TypeError(f"{message} Got an unknown rank.")
    if tensor.shape.ndims == rank:
        return tensor[None]
    if tensor.shape.ndims == rank + 1:
        return tensor
    raise TypeError(f"{message} Got shape {tensor.shape}.")


def _check_images(images) -> None:
    if images.dtype.base_dtype not in _TYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    if images.shape.ndims is None:
        raise TypeError("image_or_images rank must be statically known")
    if images.shape.ndims not in (2, 3, 4):
        raise TypeError(f"Images should have rank between 2 and 4, got shape {images.shape}.")


def _with_batch(images):
    if images.shape.ndims == 2:
        return images[None, :, :, None]
    return images[None] if images.shape.ndims == 3 else images


def _reshaped(batched, images):
    if images.shape.ndims == 2:
        return batched[0, :, :, 0]
    return batched[0] if images.shape.ndims == 3 else batched


def transform(images, transforms, interpolation="NEAREST", output_shape=None, name=None):
    """Applies transforms; see the top of this module for what the 8 numbers mean.

    Args:
      images: as in `rotate`.
      transforms: [8], or [batch, 8] (or [1, 8]).
      interpolation: "NEAREST" or "BILINEAR".
      output_shape: (rows, columns) of the result, those of `images` by default.
      name: name scope.

    Returns:
      Transformed images; 0 where the input has no pixel. They have a gradient for `images`.

    Raises:
      TypeError: `images` or `transforms` is of another type or rank.
      ValueError: `output_shape` is not of length 2.
    """
    with tf.name_scope(name, "transform"):
        images = tf.convert_to_tensor(images, name="images")
        transforms = tf.convert_to_tensor(transforms, name="transforms", dtype=tf.float32)
        _check_images(images)
        batched = _with_batch(images)
        if output_shape is None:
            output_shape = tf.shape(batched)[1:3]
            static = batched.shape[1:3]
        else:
            output_shape = tf.convert_to_tensor(output_shape, tf.int32, name="output_shape")
            static = tf.TensorShape(tf.get_static_value(output_shape))
        if not output_shape.shape.is_compatible_with([2]):
            raise ValueError(
                f"output_shape must be a 1-D Tensor of 2 elements: height, width, got {output_shape.shape}"
            )
        transforms = _at_least(transforms, 1, "Transforms should have rank 1 or 2.")
        result = gen_image_ops.image_projective_transform_v2(
            batched, output_shape=output_shape, transforms=transforms, interpolation=interpolation.upper()
        )
        if static.ndims == 2:
            result.set_shape([batched.shape[0], static[0], static[1], batched.shape[3]])
        return _reshaped(result, images)


def compose_transforms(*transforms):
    """The transform that does all of them, the last one first.

    Args:
      *transforms: each [8] or [batch, 8].

    Returns:
      [batch, 8].

    Raises:
      ValueError: there is none.
    """
    if not transforms:
        raise ValueError("compose_transforms: at least one transform is needed")
    with tf.name_scope("compose_transforms"):
        product = flat_transforms_to_matrices(transforms[0])
        for more in transforms[1:]:
            product = tf.matmul(product, flat_transforms_to_matrices(more))
        return matrices_to_flat_transforms(product)


def flat_transforms_to_matrices(transforms):
    """Matrices [batch, 3, 3] of transforms [8] or [batch, 8].

    Raises:
      ValueError: another shape.
    """
    with tf.name_scope("flat_transforms_to_matrices"):
        transforms = tf.convert_to_tensor(transforms, name="transforms")
        if transforms.shape.ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        transforms = tf.reshape(transforms, tf.constant([-1, 8]))
        ones = tf.ones([tf.shape(transforms)[0], 1], transforms.dtype)
        return tf.reshape(tf.concat([transforms, ones], axis=1), tf.constant([-1, 3, 3]))


def matrices_to_flat_transforms(transform_matrices):
    """Transforms [batch, 8] of matrices [3, 3] or [batch, 3, 3], scaled so that the last entry is 1.

    Raises:
      ValueError: another rank.
    """
    with tf.name_scope("matrices_to_flat_transforms"):
        matrices = tf.convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        flat = tf.reshape(matrices, tf.constant([-1, 9]))
        flat /= flat[:, 8:9]
        return flat[:, :8]


def _transform_gradient(op, grad):
    """The gradient goes back along the inverse transform."""
    images, transforms = op.inputs[0], op.inputs[1]
    if images.dtype.base_dtype not in _TYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    inverse = matrices_to_flat_transforms(tf.matrix_inverse(flat_transforms_to_matrices(transforms)))
    back = gen_image_ops.image_projective_transform_v2(
        images=grad,
        transforms=inverse,
        output_shape=tf.shape(images)[1:3],
        interpolation=op.get_attr("interpolation"),
    )
    return [back, None, None]


if "ImageProjectiveTransformV2" not in ops.gradient_registry.list():
    ops.RegisterGradient("ImageProjectiveTransformV2")(_transform_gradient)


def bipartite_match(distance_mat, num_valid_rows, top_k=-1, name="bipartite_match"):
    """Matches rows and columns greedily: again and again the pair of least distance.

    Args:
      distance_mat: [rows, columns] float32.
      num_valid_rows: number of the first rows that take part, a scalar or [1]; all if negative.
      top_k: the most pairs; no limit if not positive.
      name: name of the op.

    Returns:
      ([rows] int32 column of each row, [columns] int32 row of each column), -1 for none.
    """
    return library.ops().bipartite_match(_as_float(distance_mat), _as_float(num_valid_rows), top_k, name=name)


def _as_float(value):
    return tf.cast(value, tf.float32) if tf.is_tensor(value) else tf.convert_to_tensor(value, tf.float32)


def connected_components(images):
    """Labels the connected regions (by edges) of equal, non-zero pixels.

    Args:
      images: [rows, columns] or [batch, rows, columns] of numbers, bools or strings ("" is zero).

    Returns:
      int64 of the same shape: ids 1, 2, ... in the order of the regions' first pixels over the batch, 0 for zero.

    Raises:
      TypeError: another rank.
    """
    with tf.name_scope("connected_components"):
        images = tf.convert_to_tensor(images, name="images")
        if images.shape.ndims not in (2, 3):
            raise TypeError(f"images should have rank 2 (HW) or 3 (NHW). Static shape is {images.shape}")
        batched = images[None] if images.shape.ndims == 2 else images
        flat = tf.reshape(library.ops().image_connected_components(batched), [-1])
        # Ids of the op grow with the first pixel, with gaps.
        found, index = tf.unique(flat)
        is_region = tf.cast(tf.not_equal(found, 0), tf.int64)
        consecutive = tf.cumsum(is_region) * is_region
        components = tf.reshape(tf.gather(consecutive, index), tf.shape(batched))
        components.set_shape(batched.shape)
        return components[0] if images.shape.ndims == 2 else components
