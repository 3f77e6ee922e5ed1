"""State of iterators in checkpoints: core's transformations under contrib's path."""

from tensorflow.data.experimental import (
    CheckpointInputPipelineHook,
    make_saveable_from_iterator,
)

__all__ = ["CheckpointInputPipelineHook", "make_saveable_from_iterator"]
