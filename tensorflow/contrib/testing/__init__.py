"""`tf.contrib.testing`: what tests of summaries need."""

from tensorflow.contrib.testing.fake_summary_writer import FakeSummaryWriter
from tensorflow.contrib.testing.util_test import (
    assert_summary,
    latest_event_file,
    latest_events,
    latest_summaries,
    simple_values_from_events,
    to_summary_proto,
)

__all__ = [
    "FakeSummaryWriter",
    "assert_summary",
    "latest_event_file",
    "latest_events",
    "latest_summaries",
    "simple_values_from_events",
    "to_summary_proto",
]
