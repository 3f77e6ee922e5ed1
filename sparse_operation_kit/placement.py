"""Which rank holds which rows of a table."""

import re

from sparse_operation_kit import communication

DISTRIBUTED = -1


def target_of(mode) -> int:
    """The rank that holds the whole table, or DISTRIBUTED.

    Args:
      mode: None or "distributed"; "localized:k".

    Raises:
      RuntimeError: another mode, no rank k, or before `sok.init()`.
    """
    ranks = communication.num_ranks()
    if mode is None or mode == "distributed":
        return DISTRIBUTED
    found = re.fullmatch(r"localized:(\d+)", mode) if isinstance(mode, str) else None
    if found is None:
        raise RuntimeError(f'mode must be "distributed", "localized:<rank>" or None, got {mode!r}')
    target = int(found.group(1))
    if target >= ranks:
        raise RuntimeError(f"mode is {mode!r}, but there are {ranks} ranks")
    return target


def local_rows(rows: int, target: int) -> int:
    """How many of a table's rows this rank holds."""
    rank, ranks = communication.rank(), communication.num_ranks()
    if target == DISTRIBUTED:
        return rows // ranks + (rank < rows % ranks)
    return rows if rank == target else 0


class Placed:
    """What variables of both kinds say about the ranks that hold them; `_target` is what `target_of` gave."""

    @property
    def target_gpu(self) -> int:
        """The rank that holds the whole table, or -1."""
        return self._target

    @property
    def mode(self) -> str:
        """ "distributed" or "localized:k"."""
        return "distributed" if self._target == DISTRIBUTED else f"localized:{self._target}"

    @property
    def num_gpus(self) -> int:
        """The number of ranks."""
        return communication.num_gpus()

    @property
    def global_gpu_id(self) -> int:
        """The rank."""
        return communication.global_gpu_id()
