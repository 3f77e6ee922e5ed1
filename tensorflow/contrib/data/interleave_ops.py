"""Mixtures of datasets: core's transformations under contrib's path."""

from tensorflow.data.experimental import (
    choose_from_datasets,
    parallel_interleave,
    sample_from_datasets,
)

__all__ = ["choose_from_datasets", "parallel_interleave", "sample_from_datasets", "sloppy_interleave"]


def sloppy_interleave(map_func, cycle_length, block_length=1):
    """`parallel_interleave` that takes elements as they come, in no fixed order; for `Dataset.apply`.

    Args:
      map_func: function of an element that returns a dataset.
      cycle_length: number of datasets that are read at once.
      block_length: elements that are taken of one in a row.
    """
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)
