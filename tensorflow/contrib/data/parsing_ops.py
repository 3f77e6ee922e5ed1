"""Parsing of `tf.Example`s: core's transformations under contrib's path."""

from tensorflow.data.experimental import (
    parse_example_dataset,
)

__all__ = ["parse_example_dataset"]
