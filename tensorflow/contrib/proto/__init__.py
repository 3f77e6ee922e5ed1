"""`tf.contrib.proto`: protocol buffers in and out of tensors, as `tf.io.decode_proto` and `tf.io.encode_proto`."""

import tensorflow as tf

decode_proto = tf.io.decode_proto
encode_proto = tf.io.encode_proto

__all__ = ["decode_proto", "encode_proto"]
