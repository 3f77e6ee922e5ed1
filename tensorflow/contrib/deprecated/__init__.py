"""`tf.contrib.deprecated`: the summaries from before 1.0. Use `tf.summary`."""

from tensorflow.python.ops.logging_ops import (
    audio_summary,
    histogram_summary,
    image_summary,
    merge_all_summaries,
    merge_summary,
    scalar_summary,
)

__all__ = [
    "audio_summary",
    "histogram_summary",
    "image_summary",
    "merge_all_summaries",
    "merge_summary",
    "scalar_summary",
]
