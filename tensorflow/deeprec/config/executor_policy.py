"""`tf.ExecutorPolicy`."""

from tensorflow.core.protobuf import config_pb2

ExecutorPolicy = config_pb2.ExecutorPolicy
