"""Changes of hue, saturation and value in the YIQ color space."""

import numpy as np
import tensorflow as tf

# Of the NTSC standard (FCC 1953), to three digits as users know them.
_TO_YIQ = np.array([[0.299, 0.596, 0.211], [0.587, -0.274, -0.523], [0.114, -0.322, 0.312]], np.float32)


def adjust_hsv_in_yiq(image, delta_hue=0, scale_saturation=1, scale_value=1, name=None):
    """Rotates the chroma by `delta_hue` radians, scales it and the whole image.

    Args:
      image: [..., 3] RGB, floats or integers (which are read as fractions of their greatest value).
      delta_hue: radians.
      scale_saturation: factor of the chroma.
      scale_value: factor of all.
      name: name scope.

    Returns:
      An image like `image`.
    """
    with tf.name_scope(name, "adjust_hsv_in_yiq", [image]):
        image = tf.convert_to_tensor(image, name="image")
        as_float = tf.image.convert_image_dtype(image, tf.float32)
        to_rgb = tf.constant(np.linalg.inv(_TO_YIQ))
        cos = tf.cos(tf.cast(delta_hue, tf.float32)) * scale_saturation * scale_value
        sin = tf.sin(tf.cast(delta_hue, tf.float32)) * scale_saturation * scale_value
        value = tf.cast(scale_value, tf.float32)
        zero = tf.zeros_like(cos)
        turn = tf.stack([[value, zero, zero], [zero, cos, sin], [zero, -sin, cos]])
        matrix = tf.matmul(tf.matmul(tf.constant(_TO_YIQ), turn), to_rgb)
        changed = tf.reshape(tf.matmul(tf.reshape(as_float, [-1, 3]), matrix), tf.shape(image))
        changed.set_shape(image.shape)
        return tf.image.convert_image_dtype(changed, image.dtype)


def random_hsv_in_yiq(
    image,
    max_delta_hue=0,
    lower_saturation=1,
    upper_saturation=1,
    lower_value=1,
    upper_value=1,
    seed=None,
):
    """`adjust_hsv_in_yiq` with a hue in -max_delta_hue..max_delta_hue, and a saturation and value between their bounds.

    Raises:
      ValueError: a bound is negative, or a lower one is above the upper one.
    """
    if max_delta_hue < 0:
        raise ValueError(f"max_delta must be non-negative, got {max_delta_hue}")
    for what, lower, upper in (("saturation", lower_saturation, upper_saturation), ("value", lower_value, upper_value)):
        if lower < 0 or lower > upper:
            raise ValueError(f"expected 0 <= lower_{what} <= upper_{what}, got {lower} and {upper}")
    hue = 0 if max_delta_hue == 0 else tf.random_uniform([], -max_delta_hue, max_delta_hue, seed=seed)
    saturation = (
        lower_saturation
        if lower_saturation == upper_saturation
        else tf.random_uniform([], lower_saturation, upper_saturation, seed=seed)
    )
    value = lower_value if lower_value == upper_value else tf.random_uniform([], lower_value, upper_value, seed=seed)
    return adjust_hsv_in_yiq(image, hue, saturation, value)
