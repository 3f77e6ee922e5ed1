"""Which part of a file's row groups or rows a partition reads."""

import numbers


def bounds(count: int, partition_count: int, partition_index: int) -> tuple[int, int]:
    """The range [begin, end) of `count` units that belongs to one of `partition_count` partitions.

    Every unit is in one partition; sizes differ by one at most, and the first partitions have the longer ones.

    Raises:
      TypeError: one of the numbers is no integer.
      ValueError: partition_count is less than 1, or partition_index is not in [0, partition_count).
    """
    check(partition_count, partition_index)
    size, longer = divmod(count, partition_count)
    begin = partition_index * size + min(partition_index, longer)
    return begin, begin + size + (partition_index < longer)


def check(partition_count: int, partition_index: int) -> None:
    """Raises TypeError for numbers that are no integers, ValueError for a partition that is none."""
    for argument, value in (("partition_count", partition_count), ("partition_index", partition_index)):
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise TypeError(f"{argument} must be an integer, got {value!r}")
    if partition_count < 1:
        raise ValueError(f"partition_count must be at least 1, got {partition_count}")
    if not 0 <= partition_index < partition_count:
        raise ValueError(
            f"partition_index must be at least 0 and less than partition_count ({partition_count}), got {partition_index}"
        )
