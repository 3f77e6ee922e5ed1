"""The input that a model's flags ask for: text files, the generated set, or Parquet files."""

import argparse

from common import synthetic
from common.cli import StopRequest
from common.parquet_input import ParquetInput
from common.text_format import Format
from common.text_input import TextInput


def make(text_format: Format, generator: synthetic.Generator, args: argparse.Namespace, stop: StopRequest):
    """The common.graph.Input of a format; see TextInput and ParquetInput."""
    if args.parquet_dataset:
        return ParquetInput(text_format, args)
    return TextInput(text_format, generator, args, stop)
