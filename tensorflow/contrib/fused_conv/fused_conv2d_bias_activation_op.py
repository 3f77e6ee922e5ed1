"""A convolution, scaled, plus a scaled side input, plus a bias, through an activation."""

import tensorflow as tf


def fused_conv2d_bias_activation(
    conv_input,
    filter,
    bias,
    strides=None,
    padding=None,
    conv_input_scale=1.0,
    side_input_scale=0.0,
    side_input=None,
    activation_mode="Relu",
    data_format=None,
    filter_format=None,
    name=None,
):
    """activation(conv_input_scale * conv(conv_input, filter) + side_input_scale * side_input + bias).

    Args:
      conv_input: [batch, height, width, channels], or [batch, channels, height, width] with "NCHW".
      filter: [height, width, in, out], or [out, in, height, width] with "OIHW".
      bias: [out].
      strides: list of 4, in the order of `data_format`.
      padding: "SAME" or "VALID".
      conv_input_scale: factor of the convolution.
      side_input_scale: factor of the side input.
      side_input: like the result, or None.
      activation_mode: "Relu" or "None".
      data_format: "NHWC" (the default) or "NCHW".
      filter_format: "HWIO" (the default) or "OIHW".
      name: name scope.

    Raises:
      ValueError: another activation or format, or a side input without a scale.
      NotImplementedError: quantized types and formats.
    """
    if activation_mode not in ("Relu", "None"):
        raise ValueError(f"activation_mode must be 'Relu' or 'None', got {activation_mode!r}")
    if data_format == "NCHW_VECT_C" or filter_format == "OIHW_VECT_I":
        raise NotImplementedError("fused_conv2d_bias_activation: int8 formats need a GPU")
    if data_format not in (None, "NHWC", "NCHW") or filter_format not in (None, "HWIO", "OIHW"):
        raise ValueError(f"unknown data_format {data_format!r} or filter_format {filter_format!r}")
    if side_input is not None and side_input_scale == 0.0:
        raise ValueError("side_input needs a side_input_scale other than 0")
    with tf.name_scope(name, "fused_conv2d_bias_activation", [conv_input, filter, bias]):
        conv_input = tf.convert_to_tensor(conv_input)
        filter = tf.convert_to_tensor(filter)
        if filter_format == "OIHW":
            filter = tf.transpose(filter, [2, 3, 1, 0])
        channels_first = data_format == "NCHW"
        strides = list(strides or [1, 1, 1, 1])
        if channels_first:
            # CPU convolutions know channels last only.
            conv_input = tf.transpose(conv_input, [0, 2, 3, 1])
            strides = [strides[0], strides[2], strides[3], strides[1]]
            side_input = None if side_input is None else tf.transpose(side_input, [0, 2, 3, 1])
        result = conv_input_scale * tf.nn.conv2d(conv_input, filter, strides, padding or "SAME")
        if side_input is not None:
            result += side_input_scale * side_input
        result = tf.nn.bias_add(result, bias)
        if activation_mode == "Relu":
            result = tf.nn.relu(result)
        return tf.transpose(result, [0, 3, 1, 2]) if channels_first else result
