"""Groups of elements: core's transformations under contrib's path."""

from tensorflow.data.experimental import (
    Reducer,
    bucket_by_sequence_length,
    group_by_reducer,
    group_by_window,
)

__all__ = ["Reducer", "bucket_by_sequence_length", "group_by_reducer", "group_by_window"]
