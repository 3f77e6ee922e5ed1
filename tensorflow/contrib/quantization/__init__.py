"""`tf.contrib.quantization`: quantized arrays, as `tf.quantization`."""

from tensorflow.python.ops.array_ops import dequantize, quantized_concat
from tensorflow.python.ops.gen_array_ops import quantize_v2

__all__ = ["dequantize", "quantize_v2", "quantized_concat"]
