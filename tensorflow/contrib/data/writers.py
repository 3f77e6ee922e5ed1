"""Writers of files: core's transformations under contrib's path."""

from tensorflow.data.experimental import (
    TFRecordWriter,
)

__all__ = ["TFRecordWriter"]
