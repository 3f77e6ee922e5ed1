"""Reads summaries back from protos and event files."""

import os

import tensorflow as tf


def to_summary_proto(summary_str):
    """The `Summary` proto of serialized bytes.

    Raises:
      google.protobuf.message.DecodeError: the bytes are no Summary.
    """
    summary = tf.Summary()
    summary.ParseFromString(summary_str)
    return summary


def assert_summary(expected_tags, expected_simple_values, summary_proto):
    """Asserts that a Summary has just these tags and simple values.

    Args:
      expected_tags: list of tags; their order does not matter.
      expected_simple_values: dict from tag to value. A summary whose value is no number is left out of it.
      summary_proto: `Summary`.

    Raises:
      AssertionError: something differs.
    """
    tags = [value.tag for value in summary_proto.value]
    assert set(tags) == set(expected_tags), f"tags are {sorted(set(tags))}, expected {sorted(set(expected_tags))}"
    values = {v.tag: v.simple_value for v in summary_proto.value if v.HasField("simple_value")}
    assert values == expected_simple_values, f"values are {values}, expected {expected_simple_values}"


def latest_event_file(base_dir):
    """Path of the event file in `base_dir` whose name sorts last; None where there is none."""
    files = sorted(tf.gfile.Glob(os.path.join(base_dir, "events.*")))
    return files[-1] if files else None


def latest_events(base_dir):
    """List of the `Event` protos in the newest event file of `base_dir`; empty where there is none."""
    path = latest_event_file(base_dir)
    return [] if path is None else list(tf.train.summary_iterator(path))


def latest_summaries(base_dir):
    """List of those events of the newest event file that hold summaries."""
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


def simple_values_from_events(events, tags):
    """Dict from tag to its last simple value in the events, for those of `tags` that occur."""
    values = {}
    for event in events:
        if event.HasField("summary"):
            for value in event.summary.value:
                if value.tag in tags:
                    values[value.tag] = value.simple_value
    return values
