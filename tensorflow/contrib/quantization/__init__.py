"""`tf.contrib.quantization`: quantized arrays, as `tf.quantization`."""

from tensorflow.api_v1 import signatures
from tensorflow.python.ops import gen_array_ops
from tensorflow.python.ops.array_ops import dequantize, quantized_concat

quantize_v2 = signatures.with_old_arguments(
    gen_array_ops.quantize_v2, "input min_range max_range T mode round_mode name"
)

__all__ = ["dequantize", "quantize_v2", "quantized_concat"]
