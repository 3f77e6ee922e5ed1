"""`tf.contrib.tensorboard.plugins.projector`: tells TensorBoard's embedding projector what to show.

TensorBoard itself is not needed: the configuration is a text file beside the events.
"""

import os

import tensorflow as tf
from google.protobuf import text_format
from tensorflow.contrib.tensorboard.plugins.projector import projector_config_pb2
from tensorflow.contrib.tensorboard.plugins.projector.projector_config_pb2 import (
    EmbeddingInfo,
    ProjectorConfig,
    SpriteMetadata,
)

__all__ = ["EmbeddingInfo", "ProjectorConfig", "SpriteMetadata", "projector_config_pb2", "visualize_embeddings"]

_FILE_NAME = "projector_config.pbtxt"


def visualize_embeddings(summary_writer, config):
    """Writes `config` to `projector_config.pbtxt` in the folder of the writer.

    Args:
      summary_writer: `tf.summary.FileWriter`.
      config: `ProjectorConfig`.

    Raises:
      ValueError: the writer has no folder.
    """
    logdir = summary_writer.get_logdir()
    if logdir is None:
        raise ValueError("Expected summary_writer to have a logdir, got None")
    tf.gfile.MakeDirs(logdir)
    with tf.gfile.GFile(os.path.join(logdir, _FILE_NAME), "w") as target:
        target.write(text_format.MessageToString(config))
